//! What an add may cost, and what it would do.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use ingrain::{AddRequest, ChatRequest, ChatResponse, LlmFn, Scope, Stage, Usage, testing::ScriptedLlm};
use serde_json::json;

use super::{actions, asking, facts, said};
use crate::worlds::{World, texts};

fn costing(text: &str) -> ChatResponse {
    ChatResponse::text(text).with_usage(Usage::new(300, 50))
}

#[tokio::test]
async fn calls_and_tokens_are_reported() {
    for world in World::all().await {
        let gil = Scope::user("gil");
        world.add(&gil, "Lives by a lake").await;
        let llm = ScriptedLlm::new()
            .respond(costing("What?"))
            .respond(costing(&facts(&["Owns a kayak"])))
            .respond(costing(&actions(&[json!({"event": "ADD", "fact": 0})])));
        let report = asking(&world, &llm).await.add(&gil, "I have a kayak").await.unwrap();
        assert_eq!((report.model_calls, report.usage), (3, Usage::new(900, 150)), "{}", world.name);
        assert_eq!(report.fallbacks, []);
    }
}

#[tokio::test]
async fn beyond_the_budget_the_rules_take_over() {
    for world in World::all().await {
        let message = "I live in Porto. I'm allergic to nuts.";
        let by_rules = ["Lives in Porto", "Is allergic to nuts"];
        let said = |request: AddRequest| (Scope::user(format!("{request:?}")), request);

        let (none, request) = said(AddRequest::from(message).max_model_calls(0));
        let llm = ScriptedLlm::new();
        let report = asking(&world, &llm).await.add(&none, request).await.unwrap();
        assert_eq!(
            (texts(&report.added), &*report.fallbacks),
            (by_rules.into(), &[Stage::Extract, Stage::Reconcile][..1])
        );
        assert_eq!((llm.requests().len(), report.model_calls), (0, 0), "{}", world.name);

        // The second call is one too many: the model's facts, the rules' plan.
        let (one, request) = said(AddRequest::from(message).max_model_calls(1));
        world.add(&one, "Likes the sea").await;
        let llm = ScriptedLlm::new().respond(costing(&facts(&["Lives in Porto"])));
        let report = asking(&world, &llm).await.add(&one, request).await.unwrap();
        assert_eq!((texts(&report.added), &*report.fallbacks), (vec!["Lives in Porto"], &[Stage::Reconcile][..]));
        assert_eq!((report.model_calls, report.usage), (1, Usage::new(300, 50)));

        // So is the repetition: what it cost is told all the same.
        let (useless, request) = said(AddRequest::from(message).max_model_calls(1).dry_run(false).language("English"));
        let llm = ScriptedLlm::new().respond(costing("What?"));
        let report = asking(&world, &llm).await.add(&useless, request).await.unwrap();
        assert_eq!((texts(&report.added), report.fallbacks[0]), (by_rules.into(), Stage::Extract));
        assert_eq!((report.model_calls, report.usage), (1, Usage::new(300, 50)));

        let (tokens, request) = said(AddRequest::from(message).max_tokens(20));
        let llm = ScriptedLlm::new();
        let report = asking(&world, &llm).await.add(&tokens, request).await.unwrap();
        assert_eq!((texts(&report.added), llm.requests().len()), (by_rules.into(), 0));
    }
}

#[tokio::test]
async fn a_dry_run_tells_the_plan_and_writes_nothing() {
    for world in World::all().await {
        let ivan = Scope::user("ivan");
        let coffee = world.add(&ivan, "Likes coffee").await;
        let before = world.everything(&ivan).await;
        let script = || {
            let supersede = json!({"event": "SUPERSEDE", "fact": 0, "memory": 0});
            ScriptedLlm::new().reply(facts(&["Prefers tea to coffee"])).reply(actions(&[supersede]))
        };
        let request = AddRequest::from("Tea after all");
        let plan = asking(&world, &script()).await.add(&ivan, request.clone().dry_run(true)).await.unwrap();
        assert!(plan.dry_run && plan.model_calls == 2);
        assert_eq!((texts(&plan.added), plan.superseded[0].id), (vec!["Prefers tea to coffee"], coffee.id));
        assert_eq!(world.everything(&ivan).await, before, "{}", world.name);
        let done = asking(&world, &script()).await.add(&ivan, request).await.unwrap();
        assert!(!done.dry_run && done.added[0].id != plan.added[0].id);
        assert_eq!((texts(&done.added), texts(&done.superseded)), (texts(&plan.added), texts(&plan.superseded)));
        assert_eq!(texts(&world.list(&ivan).await), ["Prefers tea to coffee"]);
    }
}

#[tokio::test]
async fn a_model_is_not_asked_for_as_long_as_others_write() {
    for world in World::all().await {
        let otto = Scope::user("otto");
        world.add(&otto, "Keeps bees").await;
        let others = world.engine.clone();
        let asked = Arc::new(AtomicUsize::new(0));
        let llm = LlmFn::new("busy", {
            let (asked, otto) = (Arc::clone(&asked), otto.clone());
            move |request: ChatRequest| {
                let (asked, others, otto) = (Arc::clone(&asked), others.clone(), otto.clone());
                async move {
                    if said(&request).contains("\"facts\":[{") {
                        return Ok(ChatResponse::text(facts(&["Keeps bees and hens"])));
                    }
                    // Whoever asks what to do finds that somebody has written meanwhile.
                    let number = asked.fetch_add(1, Ordering::SeqCst);
                    others.add_raw(&otto, [format!("Keeps bees in hive {number}")]).await?;
                    Ok(ChatResponse::text(actions(&[json!({"event": "ADD", "fact": 0})])))
                }
            }
        });
        let engine = world.builder().llm(llm).build().await.unwrap();
        let report = engine.add(&otto, "I keep bees and hens.").await.unwrap();
        assert_eq!((asked.load(Ordering::SeqCst), report.model_calls), (3, 4), "{}", world.name);
        assert_eq!(report.fallbacks, [Stage::Reconcile]);
        assert!(texts(&world.list(&otto).await).contains(&"Keeps bees and hens"));
    }
}
