//! Answers in every wrapping, shape and state, and answers that are none.

use ingrain::{ErrorKind, Scope, Stage, testing::ScriptedLlm};
use serde_json::json;

use super::{actions, asked, asking, cut, facts, said};
use crate::worlds::{World, texts};

#[tokio::test]
async fn json_in_a_fence_between_two_sentences() {
    for world in World::all().await {
        let lucia = Scope::user("lucia");
        let known = ["Vive en Valencia desde enero", "No puede comer marisco"];
        let first = format!("Claro, estos son los datos:\n```json\n{}\n```\n¿Algo más?", facts(&known));
        let add = |fact: usize| json!({"event": "ADD", "fact": fact, "memory": null, "text": null});
        let second = format!("```\n{}\n```", actions(&[add(0), add(1)]));
        let llm = ScriptedLlm::new().reply(first).reply(second);
        let engine = asking(&world, &llm).await;
        let report = engine.add(&lucia, "Me mudé a Valencia en enero y no puedo comer marisco.").await.unwrap();
        assert_eq!(texts(&world.list(&lucia).await), known, "{}", world.name);
        assert_eq!((texts(&report.added), report.reason()), (known.into(), None));
        for memory in world.everything(&lucia).await {
            assert!(!["Claro", "¿Algo más?", "```"].iter().any(|chatter| memory.text.contains(chatter)));
        }
        assert_eq!(asked(&llm), (1, 0), "nothing is known, so nobody is asked what to do to it");
        assert_eq!(report.model_calls, 1);
    }
}

#[tokio::test]
async fn thoughts_hold_decoys() {
    for world in World::all().await {
        let xiaojing = Scope::user("xiaojing");
        let known = ["名字叫小静", "养了一只叫豆豆的猫"];
        let reply = format!("<think>格式大概是 {} ，先想一想 {{不是JSON</think>\n{}", facts(&["示例"]), facts(&known));
        let llm = ScriptedLlm::new().reply(reply);
        asking(&world, &llm).await.add(&xiaojing, "我叫小静，养了一只叫豆豆的猫。").await.unwrap();
        assert_eq!(texts(&world.list(&xiaojing).await), known, "{}", world.name);
        assert!(world.everything(&xiaojing).await.iter().all(|memory| !memory.text.contains("示例")));
        assert_eq!(asked(&llm), (1, 0));
    }
}

#[tokio::test]
async fn a_cut_off_answer_is_asked_for_again() {
    for world in World::all().await {
        let jonas = Scope::user("jonas");
        let known = ["Arbeitet seit 2019 als Imker in Freiburg", "Fährt ein gelbes Lastenrad"];
        let whole = facts(&known);
        let end = whole.find("lbes").unwrap();
        assert!(whole[..end].ends_with("Fährt ein ge"));
        let llm = ScriptedLlm::new().respond(cut(&whole[..end])).reply(&whole);
        let message = "Ich arbeite seit 2019 als Imker in Freiburg und fahre ein gelbes Lastenrad.";
        let report = asking(&world, &llm).await.add(&jonas, message).await.unwrap();
        assert_eq!(texts(&world.list(&jonas).await), known, "{}", world.name);
        assert_eq!((asked(&llm), report.model_calls), ((2, 0), 2));
        let rooms: Vec<u32> = llm.requests().iter().filter_map(|request| request.max_output_tokens).collect();
        assert!(rooms.len() == 2 && rooms[0] < rooms[1], "{rooms:?}");
    }
}

#[tokio::test]
async fn a_plan_without_end_counts_as_far_as_it_came() {
    for world in World::all().await {
        let jonas = Scope::user("jonas");
        let known = world.add(&jonas, "Lives in Freiburg").await;
        let step = json!({"event": "SUPERSEDE", "fact": 0, "memory": 0, "text": null}).to_string();
        // The same step over and over, until there is no more room.
        let endless = format!("{{\"actions\":[{}", format!("{step},").repeat(50));
        let llm = ScriptedLlm::new().reply(facts(&["Lives in Basel", "Keeps bees"]));
        let llm = llm.respond(cut(&endless)).respond(cut(&endless[..endless.len() - 9]));
        let report = asking(&world, &llm).await.add(&jonas, "I live in Basel now, with my bees.").await.unwrap();
        assert_eq!(texts(&world.list(&jonas).await), ["Lives in Basel", "Keeps bees"], "{}", world.name);
        assert_eq!((report.superseded.len(), report.superseded[0].id), (1, known.id));
        assert_eq!((asked(&llm), &*report.rejected), ((1, 2), &[][..]));
    }
    for world in World::all().await {
        // Nothing whole came before the cut.
        let jonas = Scope::user("jonas");
        world.add(&jonas, "Lives in Freiburg").await;
        let llm = ScriptedLlm::new().reply(facts(&["Lives in Basel"]));
        let llm = llm.respond(cut("{\"actions\":[{\"event\":\"SU")).respond(cut("{\"actions\":[{\"event\":\"SU"));
        let error = asking(&world, &llm).await.add(&jonas, "I live in Basel now.").await.unwrap_err();
        assert_eq!((error.kind(), error.stage()), (ErrorKind::UnusableModelOutput, Some(Stage::Reconcile)));
        assert_eq!(texts(&world.everything(&jonas).await), ["Lives in Freiburg"], "{}", world.name);
    }
}

#[tokio::test]
async fn a_validity_never_ends_before_it_begins() {
    for world in World::all().await {
        let lena = Scope::user("lena");
        let fact = |text: &str, since: Option<&str>, until: Option<&str>| {
            json!({
                "text": text, "kind": "fact", "categories": [], "importance": 0.5, "since": since, "until": until,
                "message": 0, "quote": "",
            })
        };
        let past = json!({"facts": [fact("Lived in Lisbon", None, Some("2020"))]});
        let visa = json!({"facts": [fact("Has a visa", Some("2024-01-01"), Some("2030-01-01"))]});
        let renewed = json!({"facts": [fact("Has a visa for Japan", Some("2031-01-01"), None)]});
        let update = json!({"event": "UPDATE", "fact": 0, "memory": 0, "text": "Has a visa for Japan"});
        let add = json!({"event": "ADD", "fact": 0, "memory": null, "text": null});
        let llm = ScriptedLlm::new().reply(past.to_string()).reply(visa.to_string()).reply(actions(&[add]));
        let llm = llm.reply(renewed.to_string()).reply(actions(&[update]));
        let engine = asking(&world, &llm).await;
        for message in ["I lived in Lisbon until 2020.", "I have a visa until 2030.", "I'll have a visa for Japan."] {
            engine.add(&lena, message).await.unwrap();
        }
        let known = world.everything(&lena).await;
        for memory in &known {
            assert!(memory.invalid_at.is_none_or(|end| memory.valid_at <= end), "{}: {memory:?}", world.name);
        }
        assert!(known.iter().any(|memory| memory.text == "Lived in Lisbon" && memory.invalid_at.is_some()));
        assert!(texts(&world.list(&lena).await).contains(&"Has a visa for Japan"), "{:?}", texts(&known));
    }
}

#[tokio::test]
async fn a_long_memory_is_shown_in_part() {
    for world in World::all().await {
        let lena = Scope::user("lena");
        world.add(&lena, &format!("Bees {}end", "ü".repeat(50_000))).await;
        let llm = ScriptedLlm::new().reply(facts(&["Keeps bees"]));
        let llm = llm.reply(actions(&[json!({"event": "ADD", "fact": 0, "memory": null, "text": null})]));
        asking(&world, &llm).await.add(&lena, "I keep bees.").await.unwrap();
        let sent = said(&llm.requests()[1]);
        assert!(sent.contains("Bees üü") && !sent.contains("üend") && sent.chars().count() < 8_000, "{}", world.name);
    }
}

#[tokio::test]
async fn items_come_in_other_shapes() {
    for world in World::all().await {
        let rita = Scope::user("rita");
        let reply = json!({"facts": [
            "Prefers aisle seats", {"fact": "Speaks Portuguese"}, {"text": "Has two sisters"}, "", "   ", null, 42,
            ["nested"], "prefers aisle seats ",
        ]});
        let llm = ScriptedLlm::new().reply(reply.to_string()).reply(actions(&[]));
        let embedded = world.embedder.requests();
        let report = asking(&world, &llm).await.add(&rita, "Hello there").await.unwrap();
        assert_eq!(texts(&world.list(&rita).await), ["Prefers aisle seats", "Speaks Portuguese", "Has two sisters"]);
        let reasons: Vec<&str> = report.ignored.iter().map(|ignored| ignored.reason.as_str()).collect();
        assert_eq!(reasons.len(), 3, "{reasons:?}");
        for (reason, what) in reasons.iter().zip(["null", "number", "list"]) {
            assert!(reason.contains(what), "{reasons:?}");
        }
        assert!(report.model_calls <= 2 && world.embedder.requests() - embedded <= 2, "{}", world.name);
    }
}

#[tokio::test]
async fn nothing_found_refused_and_unreachable_are_three_things() {
    for world in World::all().await {
        let noor = Scope::user("noor");
        let llm = ScriptedLlm::new().reply(facts(&[]));
        let report = asking(&world, &llm).await.add(&noor, "Hola").await.unwrap();
        assert_eq!((report.added.len(), report.reason()), (0, Some("no facts")), "{}", world.name);
        let before = world.everything(&noor).await;
        assert_eq!(texts(&before), ["Hola"], "the turn itself");

        let refusal = "I'm sorry, I can't help with that.";
        let refusing = || ScriptedLlm::new().reply(refusal).reply(refusal).reply(refusal);
        let failing = |kind| ScriptedLlm::new().fail(kind).reply(facts(&["Owns a kayak"]));
        for (llm, kind, requests) in [
            (refusing(), ErrorKind::UnusableModelOutput, 2),
            (failing(ErrorKind::ProviderUnreachable), ErrorKind::ProviderUnreachable, 1),
            (failing(ErrorKind::RateLimited), ErrorKind::RateLimited, 1),
            (failing(ErrorKind::ProviderRefused), ErrorKind::ProviderRefused, 1),
        ] {
            let error = asking(&world, &llm).await.add(&noor, "Hola").await.expect_err("no answer");
            assert_eq!((error.kind(), error.stage()), (kind, Some(Stage::Extract)), "{error}");
            assert_eq!(llm.requests().len(), requests, "{kind}");
            assert!(!error.to_string().is_empty() && !format!("{error:?}").contains("sorry"));
            assert_eq!(world.everything(&noor).await, before, "{kind}");
        }
    }
}

/// The second call fails: the facts of the first are not stored either, and the same add works later, once.
#[tokio::test]
async fn a_failure_of_the_second_call_leaves_no_trace() {
    for world in World::all().await {
        let gil = Scope::user("gil");
        world.add(&gil, "Lives by a lake").await;
        world.clock.advance(std::time::Duration::from_secs(1));
        let before = world.everything(&gil).await;
        let llm = ScriptedLlm::new().reply(facts(&["Owns a kayak"])).fail(ErrorKind::RateLimited);
        let llm = llm.reply(facts(&["Owns a kayak"])).reply(actions(&[]));
        let engine = asking(&world, &llm).await;
        let error = engine.add(&gil, "I have a kayak").await.expect_err("the limit");
        assert_eq!((error.kind(), error.stage()), (ErrorKind::RateLimited, Some(Stage::Reconcile)), "{error}");
        assert_eq!(world.everything(&gil).await, before, "{}", world.name);
        engine.add(&gil, "I have a kayak").await.unwrap();
        assert_eq!(texts(&world.list(&gil).await), ["Lives by a lake", "Owns a kayak"]);
    }
}

#[tokio::test]
async fn a_failed_store_is_not_the_models_fault() {
    for world in World::all().await {
        let uma = Scope::user("uma");
        let reply = || facts(&["Keeps bees"]);
        let llm = ScriptedLlm::new().reply(reply()).reply(reply());
        let engine = asking(&world, &llm).await;
        world.store.fail_next_writes(1);
        let error = engine.add(&uma, "My bees swarm").await.expect_err("the write was told to fail");
        assert_eq!((error.kind(), error.stage()), (ErrorKind::StoreUnavailable, Some(Stage::Store)));
        assert_eq!(world.everything(&uma).await, [], "{}", world.name);
        engine.add(&uma, "My bees swarm").await.unwrap();
        assert_eq!(texts(&world.list(&uma).await), ["Keeps bees"]);
    }
}
