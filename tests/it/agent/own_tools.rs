//! Tools of the application's own.

use ingrain::{
    AddRequest, Error, ErrorKind, Saving, Scope, StopReason, ToolDefinition, ToolFn, ToolOutcome, testing::ScriptedLlm,
};
use serde_json::{Value, json};

use super::{agent, call, calls, log, logged, mia, model, noting, text_parameter};
use crate::worlds::World;

fn plain(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "Does something.", json!({"type": "object", "properties": {}}))
}

#[tokio::test]
async fn they_are_offered_and_called_for_the_user() {
    let world = World::in_memory().await;
    let llm = model().respond(call("whose", r#"{"user": "bob"}"#)).reply("Yours.");
    let whose =
        ToolFn::new(
            plain("whose"),
            |scope: Scope, _| async move { Ok(scope.user_id().unwrap_or_default().to_owned()) },
        );
    let agent = agent(&world, &llm).persona("You are a tutor.").tool(whose).build().unwrap();
    let reply = agent.respond(&mia(), "Whose turn is it?").await.unwrap();
    assert_eq!(reply.steps[0].calls[0].result, "mia");
    let request = &llm.requests()[0];
    assert_eq!(request.tools.last().map(|tool| tool.name.as_str()), Some("whose"));
    assert!(request.tools.iter().any(|tool| tool.name == "search_memory"));
    assert!(
        request.messages[0].text.starts_with("You are a tutor.\n") && request.messages[0].text.contains("2025-02-10")
    );
}

#[tokio::test]
async fn their_failures_are_told_and_their_results_are_cut() {
    let world = World::in_memory().await;
    let llm = model()
        .respond(calls(&[("a", "fails", "{}"), ("b", "talks", "{}"), ("c", "is_silent", "")]))
        .reply("It rains.");
    let fails = ToolFn::new(plain("fails"), |_, _| async { Err(Error::new(ErrorKind::NotFound, "no such town")) });
    let talks = ToolFn::new(plain("talks"), |_, _| async { Ok("🌧é".repeat(100)) });
    let is_silent = ToolFn::new(plain("is_silent"), |_, _| async { Ok(" ".to_owned()) });
    let builder = agent(&world, &llm).tool(fails).tool(talks).tool(is_silent).max_result_chars(99);
    let reply = builder.build().unwrap().respond(&mia(), "How is the weather?").await.unwrap();
    assert_eq!((reply.answer.as_str(), reply.stop), ("It rains.", StopReason::Answered));
    let [fails, talks, is_silent] = reply.steps[0].calls.as_slice() else { panic!("{reply:?}") };
    assert_eq!(fails.outcome, ToolOutcome::Failed);
    assert!(fails.result.contains("`fails` failed") && fails.result.contains("no such town"), "{}", fails.result);
    let shown = talks.result.strip_suffix(" … (cut)").unwrap();
    assert!("🌧é".repeat(100).starts_with(shown) && shown.chars().count() == 99);
    assert_eq!((is_silent.result.as_str(), is_silent.outcome), ("Done.", ToolOutcome::Done));
}

#[tokio::test]
async fn what_may_be_repeated_is_carried_out_again() {
    let world = World::in_memory().await;
    let (dice, log) = (log(), log());
    let roll = {
        let dice = dice.clone();
        ToolFn::new(plain("roll"), move |_, _| {
            dice.lock().unwrap().push(String::new());
            async { Ok("4".to_owned()) }
        })
    };
    let twice = || calls(&[("a", "roll", "{}"), ("b", "note", r#"{"text":"A"}"#), ("c", "note", r#"{"text": "a"}"#)]);
    let llm = model().respond(twice()).respond(twice()).reply("Done.");
    let builder = agent(&world, &llm).tool(roll.repeatable()).tool(noting("note", text_parameter(), &log));
    let reply = builder.build().unwrap().respond(&mia(), "Roll twice.").await.unwrap();
    assert_eq!((dice.lock().unwrap().len(), reply.stop), (2, StopReason::Answered));
    assert_eq!(logged(&log), [r#"note{"text":"A"}"#, r#"note{"text":"a"}"#], "case counts in what is not ours");
}

#[tokio::test]
async fn what_was_changed_is_looked_up_anew() {
    for world in World::all().await {
        let look = || call("search_memory", r#"{"query": "tea"}"#);
        let llm = model()
            .respond(look())
            .respond(call("add_memory", r#"{"text": "Likes green tea"}"#))
            .respond(look())
            .respond(call("add_memory", r#"{"text": "Likes green tea"}"#))
            .reply("Noted.");
        let reply = agent(&world, &llm).build().unwrap().respond(&mia(), "I like green tea.").await.unwrap();
        let outcomes: Vec<ToolOutcome> = reply.calls().map(|used| used.outcome).collect();
        use ToolOutcome::{Done, Repeated};
        assert_eq!(outcomes, [Done, Done, Done, Repeated], "{}: {:?}", world.name, reply.steps);
        assert!(reply.steps[2].calls[0].result.contains("Likes green tea"));
        assert_eq!(reply.changed.len(), 1);
    }
}

#[tokio::test]
async fn all_that_is_wrong_is_told_at_once() {
    let world = World::in_memory().await;
    let log = log();
    let tool = |name: &str| noting(name, Value::Object(serde_json::Map::new()), &log);
    let llm = ScriptedLlm::new();
    let builder = agent(&world, &llm).tool(tool("search_memory")).tool(tool("my tool")).tool(tool("")).max_steps(99);
    let builder = builder.temperature(f32::NAN).max_output_tokens(0).context(ingrain::TokenBudget::new(9).blocks(2.0));
    let error =
        builder.saved_as(AddRequest::default().dry_run(true)).plain(true).saving(Saving::ByModel).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    let told = error.to_string();
    for part in [
        "two tools `search_memory`",
        "`my tool`",
        "``",
        "32 steps",
        "temperature",
        "limits",
        "blocks' share",
        "dry run",
        "ByModel",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
