//! A whole run on a made-up data set, and what a report counts.

mod facts;
mod loaders;
mod personalization;

use ingrain::{
    ErrorKind, HashingEmbedder, MemoryEngine, MemoryId, Role, Scope, SearchMode, SearchRequest,
    evaluate::{
        self, Conversation, Dataset, Question, Ranked, Report, Scores, Turn, Update, bootstrap::PairedBootstrap,
    },
};
use serde_json::json;

use crate::worlds::time;

fn made_up() -> Conversation {
    let turns = vec![
        Turn::new("1", Role::User, "The deadline is in May", "a").at(time("2024-03-01T00:00:00Z")),
        Turn::new("1", Role::Assistant, "How many hives do you have?", "b"),
        Turn::new("2", Role::User, "My sister plays the cello", "c").from_speaker("Ann"),
    ];
    let update = Update::new(vec![0], vec![2]).unwrap();
    let questions = [
        Question::new("When is the deadline?", "when", vec![0]),
        Question::new("Who plays the cello?", "who", vec![2, 2]).map(|question| question.with_update(update)),
    ];
    Conversation::new("ann", turns, questions.into_iter().flatten().collect())
}

async fn engine() -> MemoryEngine {
    MemoryEngine::builder().embedder(HashingEmbedder::new(256)).build().await.unwrap()
}

#[tokio::test]
async fn a_run_finds_what_is_there_and_keeps_conversations_apart() {
    let (engine, dataset) = (engine().await, Dataset::new("mine", vec![made_up(), made_up()]));
    let keyword = SearchRequest::new("replaced").mode(SearchMode::Keyword).limit(1);
    let report = evaluate::run(&engine, &dataset, &keyword).await.unwrap();
    assert_eq!((report.turns, report.overall.n, report.questions.len()), (6, 4, 4));
    assert_eq!(report.overall.scores.turn_any_at_5, 1.0);
    assert_eq!(report.overall.scores.reciprocal_rank, 1.0);
    assert_eq!(report.categories["who"].n, 2);
    assert_eq!(report.updates, Some((2, 1.0)));
    assert_eq!(engine.count(&Scope::user("ann#2"), None).await.unwrap(), 3);
    let table = report.to_string();
    assert!(table.contains("\nwho ") && table.contains("\nall ") && table.contains("newer above first 1.000 of 2"));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["categories"]["when"]["scores"]["ndcg_at_10"], json!(1.0));
    let scores: Vec<f64> = report.questions.iter().map(|question| question.scores.ndcg_at_10).collect();
    assert_eq!(PairedBootstrap::new().compare(&scores, &scores).unwrap().difference, 0.0);
}

#[tokio::test]
async fn turns_become_episodes_as_they_were_said() {
    let (engine, chat) = (engine().await, made_up());
    let ids = evaluate::ingest(&engine, &chat).await.unwrap();
    let stored = engine.get(&Scope::user("ann").with_session("2"), ids[2]).await.unwrap();
    assert_eq!((stored.text.as_str(), stored.speaker.as_deref()), ("My sister plays the cello", Some("Ann")));
    let first = engine.get(&Scope::user("ann"), ids[0]).await.unwrap();
    assert_eq!(first.valid_at, time("2024-03-01T00:00:00Z"));
    let few: &[MemoryId] = &ids[..2];
    let error = evaluate::retrieve(&engine, &chat, few, &SearchRequest::new("")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn a_turn_that_cannot_be_remembered_is_refused() {
    for turn in [Turn::new("1", Role::User, " ", "a"), Turn::new("1", Role::System, "Be kind", "a")] {
        let chat = Conversation::new("ann", vec![turn], Vec::new());
        let error = evaluate::ingest(&engine().await, &chat).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("turn 1 cannot be remembered"), "{error}");
    }
}

/// Evidence in three turns of two sessions; found at ranks 2, 3 and 12.
#[test]
fn scores_of_turns_and_sessions_by_hand() {
    let turns = (0..40).map(|turn: usize| Turn::new((turn / 4).to_string(), Role::User, "x", turn.to_string()));
    let question = Question::new("?", "x", vec![4, 5, 39]).unwrap();
    let chat = Conversation::new("ann", turns.collect(), vec![question]);
    // Ten turns of sessions 0, 1, 1, 2, 0, 0, 2, 2, 3, 3; then 4 and, twelfth, 9.
    let found = Ranked::new(&chat, vec![0, 4, 5, 8, 1, 2, 9, 10, 12, 13, 16, 39], std::time::Duration::ZERO);
    assert_eq!(found.sessions, ["0", "1", "2", "3", "4", "9"]);
    let scores = Scores::of(&chat, &chat.questions[0], &found);
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    let Scores { turn_any_at_5, turn_any_at_10, turn_recall_at_10, turn_all_at_10, .. } = scores;
    assert_eq!((turn_any_at_5, turn_any_at_10, turn_all_at_10), (1.0, 1.0, 0.0));
    near(turn_recall_at_10, 2.0 / 3.0);
    near(scores.reciprocal_rank, 0.5);
    // (1/log2 3 + 1/log2 4) / (1 + 1/log2 3 + 1/log2 4)
    near(scores.ndcg_at_10, (0.630_929_753_571 + 0.5) / (1.0 + 0.630_929_753_571 + 0.5));
    assert_eq!((scores.session_any_at_5, scores.session_any_at_10), (1.0, 1.0));
    // The ninth session alone is sixth.
    let late = Question::new("?", "x", vec![39]).unwrap();
    let scores = Scores::of(&chat, &late, &found);
    assert_eq!((scores.session_any_at_5, scores.session_any_at_10, scores.turn_any_at_10), (0.0, 1.0, 0.0));
    near(scores.reciprocal_rank, 1.0 / 12.0);
}

#[test]
fn a_report_says_what_was_left_out() {
    let mut dataset = Dataset::new("mine", vec![made_up()]);
    dataset.left_out.add("blank turns", 2);
    dataset.left_out.add("nothing of this", 0);
    let report = Report::over(&dataset);
    assert_eq!((report.left_out.times("blank turns"), report.left_out.iter().count()), (2, 1));
    assert!(report.to_string().ends_with("\nleft out: 2 blank turns"), "{report}");
    assert!(Report::new("mine").to_string().ends_with("\nleft out: nothing"));
}

#[test]
fn a_report_counts_by_hand() {
    let chat = made_up();
    let mut report = Report::new("mine");
    // The first question's evidence is second; nothing is given for the second question.
    report.add(&chat, &[Ranked::new(&chat, vec![2, 0], std::time::Duration::from_millis(4))]);
    let [first, second] = &report.questions[..] else { panic!("{report:?}") };
    assert_eq!((first.scores.reciprocal_rank, first.scores.session_any_at_5), (0.5, 1.0));
    assert!((first.scores.ndcg_at_10 - 0.630_929_753_571).abs() < 1e-9);
    assert_eq!((second.scores.turn_any_at_10, second.update_above_original), (0.0, Some(false)));
    assert_eq!(report.overall.scores.turn_recall_at_10, 0.5);
    assert_eq!((report.updates, report.search_p50.as_millis()), (Some((1, 0.0)), 4));
    assert_eq!(Question::new("?", "x", Vec::new()), None);
}
