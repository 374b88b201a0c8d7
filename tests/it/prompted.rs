//! The parts that are made of a model, by themselves.

mod relations;

use ingrain::{
    ErrorKind, ExtractRequest, Extractor, Llm, LlmCapabilities, Message, ResponseFormat, Scope, SummarizeRequest,
    Summarizer, ToolCall,
    prompted::{PromptedExtractor, PromptedSummarizer},
    testing::ScriptedLlm,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::worlds::{World, texts, time};

fn summary(text: &str) -> String {
    json!({ "summary": text }).to_string()
}

#[tokio::test]
async fn a_summary_covers_what_was_and_what_is_new() {
    let llm = ScriptedLlm::new().reply(format!("<think>short</think>```json\n{}\n```", summary(" Plans Porto. ")));
    let turns = [
        Message::system("You are a travel agent"),
        Message::user("Any hotels? </message-1>").at(time("2023-05-04T10:00:00Z")),
        Message::assistant("").with_tool_call(ToolCall::new("t1", "find", "{\"city\": \"Porto\"}")),
        Message::tool("t1", "Two hotels"),
    ];
    let mut request = SummarizeRequest::new(&turns, 80).extending("The user likes the sea. <message-2>");
    request.language = Some("German");
    let made = PromptedSummarizer::new(llm.clone()).instructions("Mention hotels.").summarize(&request).await.unwrap();
    assert_eq!((made.text.as_str(), made.model_calls), ("Plans Porto.", 1));
    let asked = &llm.requests()[0].messages;
    for told in ["at most 80 words", "in German", "`message-3`", "Mention hotels."] {
        assert!(asked[0].text.contains(told), "{told}: {}", asked[0].text);
    }
    for data in
        ["The user likes the sea.", "Any hotels?", "said=\"2023-05-04, Thursday", "calls find with", "Two hotels"]
    {
        assert!(asked[1].text.contains(data) && !asked[0].text.contains(data), "{data}: {}", asked[1].text);
    }
    assert!(!asked[1].text.contains("travel agent"));
}

#[tokio::test]
async fn a_summary_is_never_blank_nor_a_refusal() {
    let turns = [Message::user("Hello")];
    for answer in ["I cannot do that.", "{\"summary\": \"  \"}", "{\"text\": 1}"] {
        let llm = ScriptedLlm::new().reply(answer).reply(answer);
        let error = PromptedSummarizer::new(llm).summarize(&SummarizeRequest::new(&turns, 80)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnusableModelOutput, "{answer}");
    }
    for nothing in [&[][..], &[Message::system("You are a pirate")]] {
        let llm = ScriptedLlm::new().reply(summary("x"));
        let request = SummarizeRequest::new(nothing, 80);
        let error = PromptedSummarizer::new(llm.clone()).summarize(&request).await.unwrap_err();
        assert_eq!((error.kind(), llm.requests().len()), (ErrorKind::InvalidArgument, 0));
    }
}

/// What one part learned of the server, the others of the same engine know.
#[tokio::test]
async fn a_refused_form_is_refused_once() {
    let world = World::in_memory().await;
    let gil = Scope::user("gil");
    world.add(&gil, "Lives by a lake").await;
    let mut able = LlmCapabilities::default();
    (able.json_schema, able.json_mode) = (true, true);
    let llm = ScriptedLlm::new()
        .with_capabilities(able)
        .fail(ErrorKind::Unsupported)
        .reply("{\"facts\": [\"Owns a kayak\"]}")
        .reply("{\"actions\": []}");
    assert_eq!(llm.capabilities(), able);
    let engine = ingrain::MemoryEngine::builder().store(world.store.clone()).embedder(world.embedder.clone());
    let report = engine.llm(llm.clone()).build().await.unwrap().add(&gil, "A kayak").await.unwrap();
    assert_eq!((report.model_calls, texts(&report.added)), (3, vec!["Owns a kayak"]));
    let forms: Vec<ResponseFormat> = llm.requests().into_iter().map(|request| request.response_format).collect();
    assert!(matches!(&forms[..], [ResponseFormat::Schema { .. }, ResponseFormat::Json, ResponseFormat::Json]));
}

/// The example of an answer that the model was shown.
fn example(llm: &ScriptedLlm) -> String {
    let instructions = llm.requests()[0].messages[0].text.clone();
    instructions.lines().find_map(|line| Some(line.split_once(": {")?.1)).map(|rest| format!("{{{rest}")).unwrap()
}

/// Small models give back what they were shown: that is asked for again, and never remembered.
#[tokio::test]
async fn what_stood_in_the_prompt_is_no_answer() {
    let now = time("2025-02-10T08:00:00Z");
    let messages = [Message::user("Hello there, how are things?")];
    let request = ExtractRequest::new(&messages, now);
    let looking = ScriptedLlm::new().reply("{\"facts\": []}");
    PromptedExtractor::new(looking.clone()).extract(&request).await.unwrap();
    let (shown, example) = (looking.requests()[0].messages[1].text.clone(), example(&looking));
    assert!(example.contains("\"quote\"") && shown.contains("<message-1"));
    let schema = schema_of(&looking);
    for echo in [
        example.clone(),
        schema.to_string(),
        schema["properties"].to_string(),
        json!({"facts": [schema["properties"]["facts"]["items"]]}).to_string(),
        json!({"facts": ["Lives in Tromsø", "prefers night trains to flights."]}).to_string(),
        json!({ "facts": [shown] }).to_string(),
        json!({"facts": [{"text": "string", "kind": "fact", "quote": "string"}]}).to_string(),
        shown.clone(),
    ] {
        let llm = ScriptedLlm::new().reply(&echo).reply(json!({"facts": ["Is in good spirits"]}).to_string());
        let found = PromptedExtractor::new(llm.clone()).extract(&request).await.unwrap();
        let texts: Vec<&str> = found.facts.iter().map(|fact| fact.text.as_str()).collect();
        assert_eq!((texts, found.model_calls), (vec!["Is in good spirits"], 2), "{echo}");
        let llm = ScriptedLlm::new().reply(&echo).reply(&echo);
        let error = PromptedExtractor::new(llm).extract(&request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnusableModelOutput, "{echo}");
    }
    // What was said is a fact, though the prompt has it too; and a piece of the prompt beside a fact is left out.
    let messages = [Message::user("I prefer trains. And I moved to Tromsø!"), Message::assistant("Noted.")];
    let answer = json!({"facts": [
        "Prefers night trains to flights", "Lives in Lisbon <message-1", {"text": "Moved to Tromsø in May 2023", "quote": "moved to Tromsø", "message": 0},
    ]});
    let llm = ScriptedLlm::new().reply(answer.to_string());
    let found = PromptedExtractor::new(llm).extract(&ExtractRequest::new(&messages, now)).await.unwrap();
    let texts: Vec<&str> = found.facts.iter().map(|fact| fact.text.as_str()).collect();
    assert_eq!(
        (texts, found.ignored.len()),
        (vec!["Prefers night trains to flights", "Moved to Tromsø in May 2023"], 1)
    );

    let turns = [Message::user("Hello there, how are things?")];
    let looking = ScriptedLlm::new().reply(summary("Greets."));
    PromptedSummarizer::new(looking.clone()).summarize(&SummarizeRequest::new(&turns, 80)).await.unwrap();
    let example = self::example(&looking);
    let shown = looking.requests()[0].messages[1].text.clone();
    for echo in [example.clone(), summary(&shown), summary("string"), summary("The account."), summary("...")] {
        let llm = ScriptedLlm::new().reply(&echo).reply(summary("The user greets."));
        let made = PromptedSummarizer::new(llm).summarize(&SummarizeRequest::new(&turns, 80)).await.unwrap();
        assert_eq!((made.text.as_str(), made.model_calls), ("The user greets.", 2), "{echo}");
    }
    let porto = [Message::user("Two hotels in Tromsø, please, for May")];
    let llm = ScriptedLlm::new().reply(example);
    PromptedSummarizer::new(llm).summarize(&SummarizeRequest::new(&porto, 80)).await.unwrap();
}

/// The schema of the answer, as a model without any form is shown it.
fn schema_of(llm: &ScriptedLlm) -> Value {
    let request = &llm.requests()[0];
    match &request.response_format {
        ResponseFormat::Schema { schema, .. } => schema.clone(),
        _ => {
            let text = &request.messages[0].text;
            serde_json::from_str(text.split_once("JSON schema:\n").unwrap().1.trim()).unwrap()
        }
    }
}

/// Times that cannot be cost the time and not the fact, and what happened on one day is remembered after it.
#[tokio::test]
async fn nonsense_about_times_hides_no_fact() {
    let world = World::in_memory().await;
    let ada = Scope::user("ada");
    let fact = |text: &str, since: &str, until: &str| json!({"text": text, "since": since, "until": until, "message": 0, "quote": "", "kind": "fact"});
    let answer = json!({"facts": [
        fact("Adopted a dog", "2023-05-01", "2023-05-01"),
        fact("Went to a concert", "2025-02-10", "2025-02-10"),
        fact("Plays chess", "2024", "2019"),
        fact("Has a garden", "5", "never"),
        fact("Collects stamps", "0001-01-01", "9999-12-31"),
        fact("Lived in Berlin", "2018", "2020"),
        fact("Drove a taxi", "", "2016"),
    ]});
    let llm = ScriptedLlm::new().reply(answer.to_string());
    let engine = ingrain::MemoryEngine::builder().store(world.store.clone()).embedder(world.embedder.clone());
    let engine = engine.clock(world.clock.clone()).llm(llm).build().await.unwrap();
    let report = engine.add(&ada, "All about me").await.unwrap();
    assert_eq!((report.added.len(), report.ignored.len()), (7, 0), "{report:?}");
    let current = world.list(&ada).await;
    assert_eq!(
        texts(&current),
        ["Adopted a dog", "Went to a concert", "Plays chess", "Has a garden", "Collects stamps"]
    );
    assert!(report.added.iter().all(|memory| memory.invalid_at.is_none_or(|end| end > memory.valid_at)), "{report:?}");
    // What held to the end of a year held in it.
    for (then, expected) in [("2020-11-01T00:00:00Z", "Lived in Berlin"), ("2016-11-01T00:00:00Z", "Drove a taxi")] {
        let then = ingrain::ListRequest::new().as_of(time(then));
        let found = engine.list(&ada, then).await.unwrap().items;
        assert!(texts(&found).contains(&expected), "{:?}", texts(&found));
    }
}

/// Categories are few, short and each named once, whatever the model gives.
#[tokio::test]
async fn categories_are_bounded() {
    let messages = [Message::user("I like tea")];
    let many: Vec<String> = (0..500).map(|number| format!("c{number}")).chain(["x".repeat(1 << 20)]).collect();
    let answer = json!({"facts": [{"text": "Likes tea", "categories": many}]}).to_string();
    let request = ExtractRequest::new(&messages, time("2025-02-10T08:00:00Z"));
    let found = PromptedExtractor::new(ScriptedLlm::new().reply(answer)).extract(&request).await.unwrap();
    assert!((1..=16).contains(&found.facts[0].categories.len()));
    let answer = json!({"facts": [{"text": "Likes tea", "categories": ["food", "Drink", "FOOD"]}]}).to_string();
    let extractor = PromptedExtractor::new(ScriptedLlm::new().reply(answer)).categories(["food", "drink"]);
    assert_eq!(extractor.extract(&request).await.unwrap().facts[0].categories, ["food", "drink"]);
}

/// Megabytes of facts with quotes are held against long messages in bounded time: a thousand of them, and the rest is told.
#[tokio::test]
async fn an_answer_of_megabytes_is_read_in_bounds() {
    let messages: Vec<Message> =
        (0..20).map(|number| Message::user(format!("{number} {}", "bees and boats ".repeat(400)))).collect();
    let fact = |number: usize| json!({"text": format!("Fact {number}"), "quote": format!("never said {number}")});
    let answer = json!({"facts": (0..60_000).map(fact).collect::<Vec<_>>()}).to_string();
    let request = ExtractRequest::new(&messages, time("2025-02-10T08:00:00Z"));
    let found = PromptedExtractor::new(ScriptedLlm::new().reply(answer)).extract(&request).await.unwrap();
    assert_eq!((found.facts.len(), found.ignored.len()), (1_000, 1));
}

fn step() -> impl Strategy<Value = Value> {
    let event = prop_oneof![
        Just("ADD"),
        Just("update"),
        Just("DELETE"),
        Just("Supersede"),
        Just("NONE"),
        Just("noop"),
        Just("UPSERT"),
    ];
    let number = prop_oneof![
        (0..5_u64).prop_map(Value::from),
        (0..5_u64).prop_map(|number| Value::from(format!("«{number}»"))),
        Just(Value::Null),
        Just(json!(-1)),
        Just(json!({})),
    ];
    let text = prop_oneof![
        Just(Value::Null),
        Just(json!("Owns a green kayak")),
        Just(json!("Keeps bees in Ghent")),
        Just(json!("Keeps 9 bees")),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    let whole = (event, number.clone(), number, text)
        .prop_map(|(event, fact, memory, text)| json!({"event": event, "fact": fact, "memory": memory, "text": text}));
    prop_oneof![9 => whole, 1 => Just(json!(7))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever is planned, each new fact is said by something that holds, and each memory has one history.
    #[test]
    fn no_plan_loses_a_fact(plan in proptest::collection::vec(step(), 0..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::in_memory().await;
            let ada = Scope::user("ada");
            let known = world.engine.add_raw(&ada, ["Owns a kayak", "Keeps bees in Porto", "Likes olives"]).await.unwrap();
            let facts = ["Owns a green kayak", "Does not like olives", "Has a parrot"];
            let llm = ScriptedLlm::new()
                .reply(json!({ "facts": facts }).to_string())
                .reply(json!({ "actions": plan }).to_string());
            let engine = ingrain::MemoryEngine::builder().store(world.store.clone()).embedder(world.embedder.clone());
            let engine = engine.clock(world.clock.clone()).llm(llm).build().await.unwrap();
            let report = engine.add(&ada, "Hello").await.unwrap();
            let current = world.list(&ada).await;
            for fact in facts {
                let told = current.iter().any(|memory| memory.text == fact);
                let taken_in = report.updated.iter().any(|memory| current.contains(memory) && shares(&memory.text, fact));
                let skipped = report.skipped.iter().filter(|skipped| skipped.text == fact);
                let mut leaned_on = skipped.filter_map(|skipped| skipped.known);
                let skipped = leaned_on.any(|id| current.iter().any(|memory| memory.id == id));
                assert!(told || taken_in || skipped, "{fact}: {:?}, {report:?}", texts(&current));
            }
            for memory in &known {
                let history = engine.history(&ada, memory.id).await.unwrap();
                assert!(history.len() <= 2, "changed once at most: {history:?}");
            }
            assert!(current.iter().all(|memory| !memory.text.contains('9')), "a number nobody said");
        });
    }
}

fn shares(text: &str, fact: &str) -> bool {
    ingrain::score::relatedness::share_words(text, fact)
}
