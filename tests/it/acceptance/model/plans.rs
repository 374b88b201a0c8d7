//! What plans do, sound ones and harmful ones.

use ingrain::{EventKind, Filter, ListRequest, MemoryKind, Message, Scope, SkipReason, testing::ScriptedLlm};
use serde_json::json;

use super::{actions, asked, asking, facts, said};
use crate::worlds::{World, texts, time};

#[tokio::test]
async fn unknown_ids_and_events_are_rejected_and_the_rest_is_done() {
    for world in World::all().await {
        let pavel = Scope::user("pavel");
        let m1 = world.add(&pavel, "Работает в библиотеке").await;
        let m2 = world.add(&pavel, "Пьёт чай без сахара").await;
        world.clock.advance(std::time::Duration::from_secs(1));
        let message = "Я ушёл из библиотеки и теперь преподаю химию. И ещё завёл собаку.";
        let new = ["Преподаёт химию", "Завёл собаку"];
        let handle = handle_of(&world, &pavel, message, &new, &m1.text).await;
        let text = "Раньше работал в библиотеке, теперь преподаёт химию";
        let plan = actions(&[
            json!({"event": "update", "id": handle, "text": text}),
            json!({"event": "UPDATE", "id": "12", "text": "Любит кофе"}),
            json!({"event": "Add", "text": "Завёл собаку"}),
            json!({"event": "DELETE", "id": "99"}),
            json!({"event": "UPSERT", "id": (1 - handle).to_string(), "text": "x"}),
        ]);
        let llm = ScriptedLlm::new().reply(facts(&new)).reply(plan);
        let report = asking(&world, &llm).await.add(&pavel, message).await.unwrap();
        let now = world.list(&pavel).await;
        assert_eq!(texts(&now), [text, "Пьёт чай без сахара", "Завёл собаку"], "{}: {report:?}", world.name);
        assert_eq!((now[0].id, &now[1]), (m1.id, &m2));
        assert_eq!(report.rejected.len(), 3, "{:?}", report.rejected);
        for (reason, named) in report.rejected.iter().zip(["unknown id 12", "unknown id 99", "unknown event UPSERT"]) {
            assert!(reason.contains(named), "{reason}");
        }
    }
}

/// The number under which a memory is shown, which its similarity decides: seen in the request of a run without effect.
async fn handle_of(world: &World, scope: &Scope, message: &str, new: &[&str], text: &str) -> usize {
    let llm = ScriptedLlm::new().reply(facts(new)).reply(actions(&[]));
    let request = ingrain::AddRequest::from(message).dry_run(true);
    asking(world, &llm).await.add(scope, request).await.unwrap();
    let request = said(&llm.requests()[1]);
    let line =
        request.lines().find(|line| line.starts_with("{\"memory\":") && line.contains(text)).unwrap_or_else(|| {
            let lines: Vec<&str> = request.lines().filter(|line| line.contains(text)).collect();
            panic!("{lines:?}")
        });
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    usize::try_from(value["memory"].as_u64().unwrap()).unwrap()
}

#[tokio::test]
async fn ids_are_never_shown() {
    for world in World::all().await {
        let pavel = Scope::user("pavel");
        let memory = world.add(&pavel, "Drinks tea without sugar").await;
        let llm = ScriptedLlm::new().reply(facts(&["Drinks coffee"])).reply(actions(&[]));
        asking(&world, &llm).await.add(&pavel, "Coffee for me").await.unwrap();
        assert_eq!(asked(&llm), (1, 1));
        for request in llm.requests() {
            assert!(!said(&request).contains(&memory.id.to_string()), "{}", world.name);
        }
        assert!(said(&llm.requests()[1]).contains(&memory.text));
    }
}

#[tokio::test]
async fn a_contradiction_answered_with_a_delete_keeps_the_new_fact() {
    for world in World::all().await {
        let mateo = Scope::user("mateo");
        let m1 = world.add(&mateo, "Le encanta el café solo").await;
        let new = ["No soporta el café solo", "Bebe mate"];
        let llm = ScriptedLlm::new().reply(facts(&new)).reply(actions(&[json!({"event": "DELETE", "memory": 0})]));
        let engine = asking(&world, &llm).await;
        let report = engine.add(&mateo, "Ya no soporto el café solo, ahora sólo bebo mate.").await.unwrap();
        assert_eq!(texts(&world.list(&mateo).await), new, "{}", world.name);
        assert_eq!((report.deleted.len(), report.deleted[0].id), (1, m1.id));
        let hits = engine.search(&mateo, "el café solo").await.unwrap();
        assert!(!hits.is_empty() && hits.iter().all(|hit| hit.memory.id != m1.id));
        let history = engine.history(&mateo, m1.id).await.unwrap();
        assert_eq!(history.iter().map(|event| event.kind).collect::<Vec<_>>(), [EventKind::Add, EventKind::Delete]);
        assert_eq!(history[1].old_text.as_deref(), Some("Le encanta el café solo"));
    }
}

#[tokio::test]
async fn an_exact_repeat_changes_nothing() {
    for world in World::all().await {
        let salma = Scope::user("salma");
        let text = "تعمل ممرضة في مستشفى الأطفال";
        let m1 = world.add(&salma, text).await;
        world.clock.advance(std::time::Duration::from_secs(60));
        let delete = actions(&[json!({"event": "DELETE", "memory": 0})]);
        for stated in [text.to_owned(), format!("  {text}  ")] {
            let llm = ScriptedLlm::new().reply(facts(&[&stated])).reply(&delete);
            let engine = asking(&world, &llm).await;
            let report = engine.add(&salma, text).await.unwrap();
            assert_eq!(world.list(&salma).await, std::slice::from_ref(&m1), "{}", world.name);
            assert_eq!(engine.history(&salma, m1.id).await.unwrap().len(), 1);
            assert_eq!((report.skipped[0].known, report.skipped[0].reason), (Some(m1.id), SkipReason::Known));
            assert_eq!((report.reason(), asked(&llm)), (Some("already known"), (1, 0)));
        }
    }
}

/// The tutorial's dialogue: what was preferred ends, what is beside it stays.
#[tokio::test]
async fn tea_after_all() {
    for world in World::all().await {
        let ivan = Scope::user("ivan");
        let llm = ScriptedLlm::new()
            .reply(facts(&["Likes coffee"]))
            .reply(facts(&["Prefers tea to coffee", "Likes football"]))
            .reply(actions(&[
                json!({"event": "SUPERSEDE", "fact": 0, "memory": 0, "text": null}),
                json!({"event": "ADD", "fact": 1, "memory": null, "text": null}),
            ]));
        let engine = asking(&world, &llm).await;
        engine.add(&ivan, "I like coffee").await.unwrap();
        world.clock.advance(std::time::Duration::from_secs(86_400));
        let report = engine.add(&ivan, "I prefer tea after all. I also like football.").await.unwrap();
        assert_eq!(texts(&world.list(&ivan).await), ["Prefers tea to coffee", "Likes football"], "{}", world.name);
        assert_eq!(texts(&report.superseded), ["Likes coffee"]);
        let coffee = &report.superseded[0];
        assert_eq!(coffee.superseded_by, Some(report.added[0].id));
        let kinds: Vec<EventKind> =
            engine.history(&ivan, coffee.id).await.unwrap().iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [EventKind::Add, EventKind::Supersede]);
        let then = ListRequest::new()
            .as_of(time("2025-02-10T20:00:00Z"))
            .filter(!Filter::eq("kind", MemoryKind::Episode.as_str()));
        assert_eq!(texts(&engine.list(&ivan, then).await.unwrap().items), ["Likes coffee"]);
    }
}

/// What an old chat says, brought in late, was withdrawn when it was said.
#[tokio::test]
async fn a_withdrawal_counts_from_when_it_was_said() {
    for world in World::all().await {
        for (name, delete) in [
            ("alone", json!({"event": "DELETE", "memory": 0})),
            ("by fact", json!({"event": "delete", "memory": "«0»", "fact": "0"})),
        ] {
            let mateo = Scope::user(name);
            let llm = ScriptedLlm::new()
                .reply(facts(&["Owns a yellow bicycle"]))
                .reply(facts(&["Has sold the bicycle"]))
                .reply(actions(&[delete]));
            let engine = asking(&world, &llm).await;
            let at = |day: &str| time(&format!("{day}T12:00:00Z"));
            engine.add(&mateo, Message::user("I own a bicycle").at(at("2023-01-01"))).await.unwrap();
            let report = engine.add(&mateo, Message::user("I sold it").at(at("2023-05-01"))).await.unwrap();
            let ended = report.deleted.iter().chain(&report.superseded).next().unwrap();
            assert_eq!(ended.invalid_at, Some(at("2023-05-01")), "{}", world.name);
            assert_eq!(ended.superseded_by, (name == "by fact").then(|| report.added[0].id));
            assert_eq!(texts(&world.list(&mateo).await), ["Has sold the bicycle"]);
        }
    }
}
