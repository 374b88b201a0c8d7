//! The loaders, on small made-up files and damaged ones.

use std::{fs, path::Path};

use ingrain::{
    ErrorKind, Result, Role,
    evaluate::{Conversation, Dataset, Update, beam, locomo, longmemeval},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::worlds::time;

fn folder(files: &[(&str, &Value)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, json) in files {
        write(folder.path(), name, &json.to_string());
    }
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The error is an invalid argument that names the file and says this, on one line.
fn refused(outcome: Result<Dataset>, file: &str, what: &str) {
    let error = outcome.expect_err(what);
    let line = error.to_string();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{line}");
    assert!(line.contains(file) && line.contains(what) && !line.contains('\n'), "{line:?} does not say {what:?}");
}

fn texts(conversation: &Conversation) -> Vec<&str> {
    conversation.turns.iter().map(|turn| turn.text.as_str()).collect()
}

fn locomo_sessions() -> Value {
    json!({
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            { "speaker": "Ada", "dia_id": "D1:1", "text": "I keep bees." },
            { "speaker": "Bo", "dia_id": "D1:2", "text": "  " },
            { "speaker": "Bo", "dia_id": "D1:3", "text": "Look!", "blip_caption": "a blue hive" },
        ],
        "session_1_observation": {
            "Ada": [["Ada keeps bees.", "D1:1"]],
            "Bo": [["Bo painted the hive blue.", "D1:3"], ["Bo said nothing.", "D1:2"]],
        },
        // A session may be missing, and what comes after it counts all the same.
        "session_2_date_time": "9:00 am on 20 May, 2023",
        "session_3_date_time": "12:05 am on 1 June, 2023",
        "session_3": [{ "speaker": "Ada", "dia_id": "D3:1", "text": "I sold the bees." }],
        "session_3_observation": { "Ada": [["Ada gave up bees.", ["D3:1", "D1:1"]]] },
    })
}

fn locomo_questions() -> Value {
    json!([
        { "question": "What does Ada keep?", "answer": "bees", "evidence": ["D3:01; D1:1", "D1:1", "D9:9"], "category": 1 },
        { "question": "What colour?", "answer": "blue", "evidence": ["D1:3"], "category": 4 },
        { "question": "A new kind?", "evidence": ["D1:3"], "category": 9 },
        { "question": "Unknown?", "evidence": [], "category": 5 },
        { "question": "Said by a blank turn?", "evidence": ["D1:2"], "category": 4 },
    ])
}

#[test]
fn locomo_in_both_layouts() {
    let mut alone = locomo_sessions();
    alone["qa"] = locomo_questions();
    let original = json!([
        { "sample_id": "conv-1", "conversation": locomo_sessions(), "qa": locomo_questions() },
        { "conversation": locomo_sessions(), "qa": [] },
    ]);
    let folder = folder(&[("7.json", &alone), ("10.json", &original), ("notes.txt", &json!(1))]);
    let dataset = locomo::load(&[folder.path()]).unwrap();
    let names: Vec<&str> = dataset.conversations.iter().map(|conversation| conversation.name.as_str()).collect();
    assert_eq!(names, ["7", "conv-1", "10-2"], "files in the order of their numbers");
    assert_eq!((dataset.turns(), dataset.questions(), dataset.facts()), (9, 6, 9));
    let left_out = "2 evidence ids that name no turn, 3 facts that are blank, or whose turns are not there, 2 questions \
        whose evidence is not there, 2 questions without evidence, 3 turns that are blank, or neither the user's nor \
        the assistant's";
    assert_eq!(dataset.left_out.to_string(), left_out);
    let first = &dataset.conversations[0];
    assert_eq!(texts(first), ["I keep bees.", "Look! [shares a picture: a blue hive]", "I sold the bees."]);
    assert_eq!((&first.turns, &first.facts), (&dataset.conversations[1].turns, &dataset.conversations[1].facts));
    let facts: Vec<_> = first.facts.iter().map(|fact| (&*fact.text, fact.speaker.as_deref(), &*fact.turns)).collect();
    let (ada, bo) = (Some("Ada"), Some("Bo"));
    let expected: [(&str, Option<&str>, &[usize]); 3] =
        [("Ada keeps bees.", ada, &[0]), ("Bo painted the hive blue.", bo, &[1]), ("Ada gave up bees.", ada, &[0, 2])];
    assert_eq!(facts, expected);
    let bo = &first.turns[1];
    assert_eq!((bo.session.as_str(), bo.id.as_str(), bo.role), ("1", "D1:3", Role::User));
    assert_eq!((bo.speaker.as_deref(), bo.at), (Some("Bo"), Some(time("2023-05-08T13:57:00Z"))));
    assert_eq!(first.turns[2].at, Some(time("2023-06-01T00:05:00Z")));
    let asked: Vec<_> = first.questions.iter().map(|question| (&*question.category, &*question.evidence)).collect();
    assert_eq!(asked, [("multi-hop", &[0, 2][..]), ("single-hop", &[1][..]), ("9", &[1][..])]);
}

#[test]
fn one_name_is_one_conversation() {
    let mut alone = locomo_sessions();
    alone["qa"] = json!([]);
    let folder = folder(&[("a/1.json", &alone), ("b/1.json", &alone)]);
    let dataset = locomo::load(&[folder.path().join("a"), folder.path().join("b/1.json")]).unwrap();
    let names: Vec<&str> = dataset.conversations.iter().map(|conversation| conversation.name.as_str()).collect();
    assert_eq!(names, ["1", "1#2"]);
}

#[test]
fn damaged_locomo() {
    let good = |change: &dyn Fn(&mut Value)| {
        let mut json = locomo_sessions();
        json["qa"] = locomo_questions();
        change(&mut json);
        json
    };
    let cases: [(Value, &str); 15] = [
        (json!({ "qa": [] }), "no LoCoMo conversation"),
        (json!([]), "an empty list"),
        (json!([good(&|_| ()), 3]), "conversation 2: no LoCoMo conversation"),
        (good(&|json| json["session_3_date_time"] = json!("soon")), "session 3 has no readable date"),
        (good(&|json| json["session_3"] = json!(null)), "session 3 is no list"),
        (good(&|json| json["session_3"][0]["dia_id"] = json!("D3")), "session 3, turn 1: `dia_id` is no D<session>"),
        (
            good(&|json| json["session_3"][0]["dia_id"] = json!("D1:1")),
            "session 3, turn 1: its `dia_id` is there twice",
        ),
        (good(&|json| json["session_3_observation"] = json!([])), "the observations of session 3: no object"),
        (good(&|json| json["session_3_observation"]["Ada"] = json!(["x"])), "session 3: an entry is no pair"),
        (good(&|json| json["qa"][0]["evidence"] = json!({ "D1:1": 1 })), "question 1: neither a `dia_id` nor a list"),
        (good(&|json| json["qa"][0]["evidence"] = json!([1])), "question 1: a `dia_id` in a list is no text"),
        (good(&|json| json["session_1"] = json!("x")), "session 1 is no list"),
        (good(&|json| json["session_1"][1] = json!({ "dia_id": "D1:2" })), "session 1, turn 2: `text` is missing"),
        (good(&|json| json["qa"] = json!(null)), "no list `qa`"),
        (good(&|json| json["qa"][1]["category"] = json!("x")), "question 2: `category`"),
    ];
    for (json, what) in &cases {
        let folder = folder(&[("1.json", json)]);
        refused(locomo::load(&[folder.path()]), "1.json", what);
    }
    let folder = tempfile::tempdir().unwrap();
    refused(locomo::load(&[folder.path()]), &folder.path().display().to_string(), "no JSON file");
    refused(locomo::load(&[folder.path().join("no.json")]), "no.json", "cannot be read");
    refused(locomo::load::<&Path>(&[]), "", "at least one file");
    write(folder.path(), "cut.json", "{\"session_1\": [\n{\"secret");
    refused(locomo::load(&[folder.path()]), "cut.json", "no JSON, at line 2 column");
}

fn beam_chat() -> Value {
    json!([
        { "batch_number": 1, "turns": [[
            { "id": 0, "role": "user", "content": "My deadline is in May. ->-> 1,1", "time_anchor": "March-15-2024" },
            { "id": 1, "role": "assistant", "content": "Noted.\n\nAnything else?" },
        ], [{ "id": 2, "role": "user", "content": "Use a ->-> arrow in the text,\nplease, and not at its end" }]] },
        { "batch_number": 2, "turns": [[
            { "id": 4, "role": "user", "content": "The deadline moved to June.\n->-> 2,N/A", "time_anchor": "April-05-2024" },
        ]] },
    ])
}

fn beam_questions() -> Value {
    json!({
        "knowledge_update": [
            { "question": "When is the deadline?", "source_chat_ids": { "original_info": [0], "updated_info": ["4"] } },
            { "question": "Half known?", "source_chat_ids": { "original_info": [0], "updated_info": [] } },
        ],
        "event_ordering": [{ "question": "In which order?", "source_chat_ids": [[4], "chat_id: 2", { "a": [0, 0] }, 77] }],
        "preference_following": [{ "question": "No evidence?", "source_chat_ids": [] }, { "question": "Nor here?" }],
        "abstention": [{ "question": "What was never said?", "source_chat_ids": [1] }],
    })
}

#[test]
fn beam_chats() {
    let (chat, questions) = (beam_chat(), beam_questions());
    // As in the data set's repository, and with the questions beside the chat.
    let nested = "9/probing_questions/probing_questions.json";
    let folder = folder(&[
        ("10/chat.json", &chat),
        ("10/probing_questions.json", &questions),
        ("9/chat.json", &chat),
        (nested, &questions),
        ("other/x.json", &chat),
    ]);
    let dataset = beam::load(&[folder.path()]).unwrap();
    let names: Vec<&str> = dataset.conversations.iter().map(|conversation| conversation.name.as_str()).collect();
    assert_eq!(names, ["9", "10"]);
    assert_eq!((dataset.turns(), dataset.questions()), (8, 6));
    let left_out = "2 evidence ids that name no turn, 2 questions without an answer, 4 questions without evidence, \
        2 updates whose old or new answer is not there";
    assert_eq!(dataset.left_out.to_string(), left_out);
    let chat = &dataset.conversations[0];
    assert_eq!(texts(chat)[0], "My deadline is in May.");
    assert_eq!(texts(chat)[2], "Use a ->-> arrow in the text,\nplease, and not at its end");
    assert_eq!(texts(chat)[3], "The deadline moved to June.");
    assert_eq!((chat.turns[1].role, &*chat.turns[1].session), (Role::Assistant, "1"));
    assert_eq!((&*chat.turns[3].id, &*chat.turns[3].session), ("4", "2"));
    assert_eq!(chat.turns[2].at, Some(time("2024-03-15T00:01:00Z")));
    assert_eq!(chat.turns[3].at, Some(time("2024-04-05T00:00:00Z")));
    let [order, update, half] = &chat.questions[..] else { panic!("{:?}", chat.questions) };
    assert_eq!((&*order.category, &*order.evidence, &order.update), ("event_ordering", &[0, 2, 3][..], &None));
    assert_eq!((&*update.evidence, &update.update), (&[0, 3][..], &Update::new(vec![0], vec![3])));
    assert_eq!((&*half.evidence, &half.update), (&[0][..], &None));
    assert_eq!(beam::load(&[folder.path().join("10")]).unwrap().conversations[0], dataset.conversations[1]);
}

#[test]
fn damaged_beam() {
    let questions = beam_questions();
    let message = |id: u64| json!({ "id": id, "role": "user", "content": "x" });
    let chats: [(Value, &str); 5] = [
        (json!([]), "no message"),
        (json!({ "turns": [] }), "another form"),
        (json!([{ "turns": [[message(1), message(1)]] }]), "two messages have the id 1"),
        (json!([{ "turns": [[{ "id": 1, "role": "robot", "content": "x" }]] }]), "another form"),
        (
            json!([{ "turns": [[{ "id": 1, "role": "user", "content": "x", "time_anchor": "soon" }]] }]),
            "the time anchor of message 1",
        ),
    ];
    for (chat, what) in &chats {
        let folder = folder(&[("1/chat.json", chat), ("1/probing_questions.json", &questions)]);
        refused(beam::load(&[folder.path()]), "chat.json", what);
    }
    let asked: [(Value, &str); 3] = [
        (json!([1]), "another form"),
        (json!({ "x": [{ "question": 3 }] }), "another form"),
        (json!({ "x": [{ "question": " ", "source_chat_ids": [0] }] }), "x, question 1: `question` is blank"),
    ];
    for (asked, what) in &asked {
        let folder = folder(&[("1/chat.json", &beam_chat()), ("1/probing_questions.json", asked)]);
        refused(beam::load(&[folder.path()]), "probing_questions.json", what);
    }
    let lonely = folder(&[("1/chat.json", &beam_chat()), ("2/x.json", &questions)]);
    refused(beam::load(&[lonely.path()]), "probing_questions.json", "cannot be read");
    refused(beam::load(&[lonely.path().join("2")]), "2", "no chat.json");
    refused(beam::load(&[lonely.path().join("3")]), "3", "no such folder");
    refused(beam::load::<&Path>(&[]), "", "at least one folder");
}

fn instance(id: &str, marked: bool) -> Value {
    json!({
        "question_id": id, "question_type": "single-session-user", "question": "Where are the bees?", "answer": 3,
        "question_date": "2023/06/01 (Thu) 09:30",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21"],
        "haystack_session_ids": ["s1", "s2"],
        "haystack_sessions": [
            [{ "role": "user", "content": "Good morning" }, { "role": "assistant", "content": "" }],
            [
                { "role": "user", "content": "The bees are on the roof", "has_answer": marked },
                { "role": "assistant", "content": "How nice", "has_answer": false },
            ],
        ],
        "answer_session_ids": ["s2"],
    })
}

#[test]
fn longmemeval_instances() {
    let mut lost = instance("lost", false);
    lost["answer_session_ids"] = json!(["s3"]);
    let list = json!([instance("a", true), instance("b", false), instance("c_abs", true), lost]);
    let folder = folder(&[("s.json", &list)]);
    let dataset = longmemeval::load(&[folder.path()]).unwrap();
    assert_eq!((dataset.conversations.len(), dataset.questions()), (2, 2));
    let left_out = "1 answering sessions that are not there, 1 questions whose evidence is not there, 1 questions without an answer, 3 turns that are blank, or \
        neither the user's nor the assistant's";
    assert_eq!(dataset.left_out.to_string(), left_out);
    let [marked, unmarked] = &dataset.conversations[..] else { panic!("{dataset:?}") };
    assert_eq!((&*marked.name, texts(marked)), ("a", vec!["Good morning", "The bees are on the roof", "How nice"]));
    assert_eq!(marked.questions[0].evidence, [1]);
    assert_eq!(unmarked.questions[0].evidence, [1, 2], "all turns of the session");
    assert_eq!(marked.questions[0].asked_at, Some(time("2023-06-01T09:30:00Z")));
    assert_eq!((&*marked.turns[2].id, marked.turns[2].at), ("s2_2", Some(time("2023-05-21T00:00:30Z"))));
}

#[test]
fn damaged_longmemeval() {
    let changed = |field: &str, value: Value| {
        let mut instance = instance("a", true);
        instance[field] = value;
        json!([instance])
    };
    for (json, what) in [
        (json!([]), "an empty list"),
        (json!({}), "another form"),
        (changed("haystack_dates", json!(["2023/05/20"])), "instance 1: the lists of sessions"),
        (changed("haystack_dates", json!(["2023/05/20", "soon"])), "`haystack_dates` is no readable date"),
        (changed("question_date", json!("soon")), "`question_date` is no readable date"),
        (changed("question", json!("")), "`question` is blank"),
        (changed("haystack_sessions", json!([[{ "role": "user" }], []])), "another form"),
    ] {
        let folder = folder(&[("s.json", &json)]);
        refused(longmemeval::load(&[folder.path()]), "s.json", what);
    }
}
