//! `AddMode::Agentic` through the engine: what is stored, what is told, and what is not half done.

use ingrain::{
    AddMode, AddReport, AddRequest, ErrorKind, EventKind, Memory, MemoryEngine, Redactor, Scope, Stage,
    testing::ScriptedLlm,
};
use serde_json::json;

use super::{add, calls, delete, model, results};
use crate::worlds::{World, texts};

fn facts(texts: &[&str]) -> String {
    json!({ "facts": texts }).to_string()
}

fn agentic(text: &str) -> AddRequest {
    AddRequest::from(text).mode(AddMode::Agentic)
}

async fn asking(world: &World, llm: &ScriptedLlm) -> MemoryEngine {
    world.builder().llm(llm.clone()).build().await.unwrap()
}

/// "I like coffee", later "I prefer tea after all, and I also like football": by rules, by a model asked once, and by one
/// with tools.
#[tokio::test]
async fn tea_after_all_in_every_mode() {
    let new = ["Prefers tea to coffee", "Likes football"];
    let asked = || ScriptedLlm::new().reply(facts(&["Likes coffee"])).reply(facts(&new));
    let plan = json!({"actions": [{"event": "SUPERSEDE", "fact": 0, "memory": 0}, {"event": "ADD", "fact": 1}]});
    let talked = || model().reply(facts(&["Likes coffee"])).reply(facts(&new));
    let done = calls("Tea takes the place of coffee; football is new.", &[delete(0, 0), add(1)]);
    for world in World::all().await {
        for (mode, llm) in [
            (AddMode::Infer, None),
            (AddMode::Infer, Some(asked().reply(plan.to_string()))),
            (AddMode::Agentic, Some(talked().respond(done.clone()))),
        ] {
            let about = format!("{}, {mode:?}, model: {}", world.name, llm.is_some());
            let ivan = Scope::user(&about);
            let engine = match &llm {
                Some(llm) => asking(&world, llm).await,
                None => world.engine.clone(),
            };
            let say = |text: &str| AddRequest::from(text).mode(mode);
            engine.add(&ivan, say("I like coffee")).await.unwrap();
            world.clock.advance(std::time::Duration::from_secs(86_400));
            let mut report = engine.add(&ivan, say("I prefer tea after all, and I also like football")).await.unwrap();
            if llm.is_none() {
                // To the rules tea is no reason against coffee: they wait until it is said.
                assert_eq!(texts(&world.list(&ivan).await), ["Likes coffee", "Prefers tea", "Likes football"]);
                report = engine.add(&ivan, say("I don't like coffee anymore.")).await.unwrap();
            }
            let current = world.list(&ivan).await;
            let says = |word: &str| current.iter().any(|memory| memory.text.contains(word));
            assert!(says("tea") && says("football") && !says("Likes coffee"), "{about}: {:?}", texts(&current));
            let [coffee] = report.superseded.as_slice() else { panic!("{about}: {report:?}") };
            assert_eq!(coffee.text, "Likes coffee");
            let successor = current.iter().find(|memory| Some(memory.id) == coffee.superseded_by).unwrap();
            assert_eq!(coffee.invalid_at, Some(successor.valid_at), "{about}");
            let kinds: Vec<EventKind> =
                engine.history(&ivan, coffee.id).await.unwrap().iter().map(|event| event.kind).collect();
            assert_eq!(kinds, [EventKind::Add, EventKind::Supersede], "{about}");
            let account = (mode == AddMode::Agentic).then_some("Tea takes the place of coffee; football is new.");
            assert_eq!((report.account.as_deref(), report.rejected.len()), (account, 0), "{about}");
        }
    }
}

#[tokio::test]
async fn without_a_model_it_is_refused_at_the_door() {
    for world in World::all().await {
        let gil = Scope::user("gil");
        for message in ["I live in Porto.", "", "  "] {
            let error = world.engine.add(&gil, agentic(message)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(error.to_string().contains("AddMode::Agentic") && error.to_string().contains("model"), "{error}");
        }
        assert_eq!(world.everything(&gil).await, [], "{}", world.name);
        // The scope is looked at first, as ever.
        let nobody = world.engine.add(&Scope::user(" "), agentic("Hi")).await.unwrap_err();
        assert_eq!(nobody.kind(), ErrorKind::InvalidArgument);
    }
}

#[tokio::test]
async fn where_there_is_nothing_to_decide_no_step_is_made() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        let llm = model().reply(facts(&["Keeps bees"])).reply(facts(&["keeps  BEES."])).reply(facts(&[]));
        let engine = asking(&world, &llm).await;
        let first = engine.add(&ada, agentic("I keep bees")).await.unwrap();
        let again = engine.add(&ada, agentic("I keep bees!")).await.unwrap();
        let nothing = engine.add(&ada, agentic("Hello")).await.unwrap();
        let calls: Vec<u32> = [&first, &again, &nothing].map(|report| report.model_calls).into();
        assert_eq!((calls, llm.requests().len()), (vec![1, 1, 1], 3), "{}", world.name);
        assert_eq!(again.skipped[0].known, Some(first.added[0].id));
        assert_eq!((again.reason(), nothing.reason()), (Some("already known"), Some("no facts")));
    }
}

/// What the engine's check has against a step is told while it can still be mended.
#[tokio::test]
async fn a_plan_is_mended_before_it_is_carried_out() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        world.add(&ada, "Owns a kayak").await;
        world.clock.advance(std::time::Duration::from_secs(60));
        let update = |text: &str| ("update_memory", json!({"memory": 0, "fact": 0, "text": text}));
        let llm = model()
            .reply(facts(&["Owns a red kayak", "Paddles on Sundays"]))
            .respond(calls("", &[update("Owns 2 red kayaks"), add(1), add(1), delete(0, 1)]))
            .respond(calls("Better.", &[update("Owns a red kayak"), delete(0, None)]))
            .reply("The kayak is red.");
        let report = asking(&world, &llm).await.add(&ada, agentic("My kayak is red")).await.unwrap();
        let requests = llm.requests();
        let told: Vec<&str> = results(&requests[3]).into_iter().map(|(_, text)| text).collect();
        assert_eq!(
            told,
            [
                "Not done: an update with a number that nobody said.",
                "Noted: fact 1 is stored.",
                "Not done: a second action on one fact.",
                "Noted: fact 1 takes the place of memory 0. Not decided yet: fact 0.",
                "Not done: a second action on one memory.",
                "Not done: a second action on one memory. Not decided yet: fact 0.",
            ],
            "{}",
            world.name
        );
        let held = ["Owns a red kayak", "Paddles on Sundays"];
        assert_eq!(texts(&world.list(&ada).await), held);
        assert_eq!(texts(&report.superseded), ["Owns a kayak"]);
        assert_eq!((report.rejected.len(), report.account.as_deref()), (4, Some("The kayak is red.")));
        assert_eq!(report.model_calls, 4, "one for the facts, three steps");
    }
}

#[tokio::test]
async fn a_failure_leaves_nothing_half_written() {
    for world in World::all().await {
        let gil = Scope::user("gil");
        world.add(&gil, "Likes coffee").await;
        world.clock.advance(std::time::Duration::from_secs(60));
        let before = world.everything(&gil).await;
        let read = || model().reply(facts(&["Prefers tea to coffee", "Likes football"]));
        let step = || calls("", &[delete(0, 0)]);
        let scripts = [
            (read().respond(step()).fail(ErrorKind::RateLimited), ErrorKind::RateLimited),
            (
                read().respond(step()).respond(calls("", &[add(1)])).fail(ErrorKind::ProviderUnreachable),
                ErrorKind::ProviderUnreachable,
            ),
            (read().reply("I'm sorry.").reply(""), ErrorKind::UnusableModelOutput),
        ];
        for (llm, kind) in scripts {
            let error = asking(&world, &llm).await.add(&gil, agentic("Tea after all")).await.unwrap_err();
            assert_eq!((error.kind(), error.stage()), (kind, Some(Stage::Reconcile)), "{}", world.name);
            assert_eq!(world.everything(&gil).await, before);
        }
        world.store.fail_next_writes(1);
        let whole = || read().respond(calls("Done.", &[delete(0, 0), add(1)]));
        let error = asking(&world, &whole()).await.add(&gil, agentic("Tea after all")).await.unwrap_err();
        assert_eq!(error.stage(), Some(Stage::Store));
        assert_eq!(world.everything(&gil).await, before);
        let dry = agentic("Tea after all").dry_run(true);
        let plan = asking(&world, &whole()).await.add(&gil, dry).await.unwrap();
        assert_eq!((plan.added.len(), plan.superseded.len(), plan.account.as_deref()), (2, 1, Some("Done.")));
        assert_eq!(world.everything(&gil).await, before);
    }
}

#[tokio::test]
async fn a_budget_ends_the_steps_and_loses_nothing() {
    for world in World::all().await {
        let read = || model().reply(facts(&["Prefers tea to coffee", "Likes football"]));
        let run = async |calls: u32, llm: ScriptedLlm| -> (Vec<Memory>, AddReport) {
            let scope = Scope::user(format!("{calls}"));
            world.add(&scope, "Likes coffee").await;
            world.clock.advance(std::time::Duration::from_secs(60));
            let request = agentic("I prefer tea. I like football.").max_model_calls(calls);
            let report = asking(&world, &llm).await.add(&scope, request).await.unwrap();
            (world.list(&scope).await, report)
        };
        let (current, report) = run(2, read().respond(calls("", &[delete(0, 0)]))).await;
        assert_eq!(texts(&current), ["Prefers tea to coffee", "Likes football"], "{}", world.name);
        assert_eq!((report.model_calls, &*report.fallbacks, report.rejected.len()), (2, &[][..], 1));

        let (current, report) = run(1, read()).await;
        assert_eq!(texts(&current), ["Likes coffee", "Prefers tea to coffee", "Likes football"]);
        assert_eq!((report.model_calls, &*report.fallbacks, report.account), (1, &[Stage::Reconcile][..], None));
    }
}

#[derive(Debug)]
struct Starred;

impl Redactor for Starred {
    fn redact<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        if text.contains("4711") { text.replace("4711", "***").into() } else { text.into() }
    }
}

#[tokio::test]
async fn no_secret_gets_into_the_account() {
    let world = World::in_memory().await;
    let gil = Scope::user("gil");
    world.add(&gil, "Has a locker").await;
    let llm = model().reply(facts(&["The locker is at the pool"])).respond(calls("The code is 4711.", &[add(0)]));
    let engine = world.builder().llm(llm).redactor(Starred).build().await.unwrap();
    let report = engine.add(&gil, agentic("My locker is at the pool")).await.unwrap();
    assert_eq!(report.account.as_deref(), Some("The code is ***."));
}
