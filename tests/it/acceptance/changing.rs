//! Updates, history, times and texts.

use std::time::Duration;

use ingrain::{ErrorKind, EventKind, Filter, ListRequest, MemoryUpdate, NewMemory, Scope};
use serde_json::json;

use crate::worlds::{World, object, t0, texts, time};

#[tokio::test]
async fn an_update_keeps_what_it_does_not_mention() {
    for world in World::all().await {
        let nora = Scope::user("nora").with_agent("concierge");
        let metadata = json!({"category": "travel", "priority": 3, "tags": ["vip", "eu"], "source": "chat"});
        let new = NewMemory::new("Prefers aisle seats").metadata(object(metadata.clone()));
        let before = world.engine.add_raw(&nora, [new]).await.unwrap().remove(0);
        world.add(&nora, "Collects old maps of night trains").await;
        world.clock.advance(Duration::from_secs(3_600));
        let text = "Prefers window seats on night trains";
        let after = world.engine.update(&nora, before.id, MemoryUpdate::new().text(text)).await.unwrap();
        assert_eq!((after.text.as_str(), after.id, &after.scope), (text, before.id, &nora));
        assert_eq!(json!(after.metadata), metadata);
        assert_eq!((after.created_at, after.updated_at), (t0(), time("2025-02-10T09:00:00Z")));
        assert_eq!(world.engine.get(&nora, before.id).await.unwrap(), after, "{}", world.name);
        let hits = world.engine.search(&nora, "window seats on night trains").await.unwrap();
        assert_eq!(hits[0].memory.id, before.id);

        world.clock.advance(Duration::from_secs(3_600));
        let embedded = world.embedder.requests();
        let priority = MemoryUpdate::new().metadata(object(json!({"priority": 5})));
        let last = world.engine.update(&nora, before.id, priority).await.unwrap();
        let expected = json!({"category": "travel", "priority": 5, "tags": ["vip", "eu"], "source": "chat"});
        assert_eq!((last.text.as_str(), json!(last.metadata)), (text, expected));
        assert_eq!(world.embedder.requests(), embedded, "only a new text is embedded");
        let history = world.engine.history(&nora, before.id).await.unwrap();
        let kinds: Vec<EventKind> = history.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [EventKind::Add, EventKind::Update, EventKind::Update]);
        let hits = world.engine.search(&nora, "window seats on night trains").await.unwrap();
        assert_eq!((hits[0].memory.id, json!(hits[0].memory.metadata["priority"])), (before.id, json!(5)));
    }
}

#[tokio::test]
async fn an_update_can_take_things_away_and_change_nothing() {
    for world in World::all().await {
        let nora = Scope::user("nora");
        let new = NewMemory::new("x")
            .metadata(object(json!({"a": 1, "b": {"c": 2}})))
            .expires_at(time("2026-01-01T00:00:00Z"));
        let before = world.engine.add_raw(&nora, [new]).await.unwrap().remove(0);
        let update = MemoryUpdate::new().metadata(object(json!({"a": null, "d": false}))).expires_at(None);
        let update = update.pinned(true).importance(1.0).categories(["travel"]);
        let after = world.engine.update(&nora, before.id, update).await.unwrap();
        assert_eq!(json!(after.metadata), json!({"b": {"c": 2}, "d": false}));
        assert_eq!((after.expires_at, after.pinned, after.importance), (None, true, 1.0));
        assert_eq!(after.categories, ["travel"]);
        world.clock.advance(Duration::from_secs(60));
        for nothing in [MemoryUpdate::new(), MemoryUpdate::new().text("x").pinned(true)] {
            assert_eq!(world.engine.update(&nora, before.id, nothing).await.unwrap(), after);
        }
        assert_eq!(world.engine.history(&nora, before.id).await.unwrap().len(), 2, "no event for no change");
        for bad in [
            MemoryUpdate::new().text("  "),
            MemoryUpdate::new().importance(1.5),
            MemoryUpdate::new().importance(f32::NAN),
        ] {
            let error = world.engine.update(&nora, before.id, bad).await.expect_err("a bad value");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
        assert_eq!(world.engine.get(&nora, before.id).await.unwrap(), after);
    }
}

#[tokio::test]
async fn updates_at_once_all_count() {
    for world in World::all().await {
        let nora = Scope::user("nora");
        let memory = world.add(&nora, "counted").await;
        let tasks: Vec<_> = (0..6)
            .map(|task| {
                let (engine, scope) = (world.engine.clone(), nora.clone());
                let update = MemoryUpdate::new().metadata(object(json!({format!("key{task}"): task})));
                tokio::spawn(async move { engine.update(&scope, memory.id, update).await })
            })
            .collect();
        let mut done = 0;
        for task in tasks {
            done += usize::from(task.await.unwrap().is_ok());
        }
        let last = world.engine.get(&nora, memory.id).await.unwrap();
        assert_eq!((done, last.metadata.len(), last.revision), (6, 6, 7), "{}", world.name);
        assert_eq!(world.engine.history(&nora, memory.id).await.unwrap().len(), 7);
    }
}

#[tokio::test]
async fn times_have_one_form_everywhere() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        world.clock.set(time("2025-07-25T02:00:00Z"));
        let id = world.add(&ada, "Plays the oud").await.id;
        world.clock.set(time("2025-07-25T02:00:05Z"));
        world.engine.update(&ada, id, MemoryUpdate::new().text("Plays the oud and the ney")).await.unwrap();
        let got = world.engine.get(&ada, id).await.unwrap();
        let listed = world.list(&ada).await.remove(0);
        let found = world.engine.search(&ada, "oud").await.unwrap().remove(0).memory;
        for memory in [&got, &listed, &found] {
            let json = json!(memory);
            assert_eq!(json["created_at"], "2025-07-25T02:00:00Z");
            assert_eq!(json["updated_at"], "2025-07-25T02:00:05Z");
        }
        let history = json!(world.engine.history(&ada, id).await.unwrap());
        assert_eq!(history[0]["stamp"]["at"], "2025-07-25T02:00:00Z");
        assert_eq!(history[1]["stamp"]["at"], "2025-07-25T02:00:05Z");
        let counted = async |filter: Filter| world.engine.count(&ada, Some(&filter)).await.unwrap();
        assert_eq!(counted(Filter::gte("created_at", "2025-07-25T00:00:00Z")).await, 1);
        assert_eq!(counted(Filter::lt("created_at", "2025-07-25T00:00:00Z")).await, 0);
        assert_eq!(counted(Filter::lt("created_at", "2025-07-24T20:00:00-07:00")).await, 1, "zones are understood");
    }
}

/// The zone of the machine plays no part: the same test again, in a process that lives in Los Angeles.
#[test]
fn the_zone_of_the_machine_plays_no_part() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "acceptance::changing::times_have_one_form_everywhere"])
        .env("TZ", "America/Los_Angeles")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn history_tells_the_whole_story() {
    for world in World::all().await {
        let ken = Scope::user("ken");
        let id = world.add(&ken, "Lives in Lyon").await.id;
        world.clock.advance(Duration::from_secs(10));
        world.engine.update(&ken, id, MemoryUpdate::new().text("Lives in Nantes")).await.unwrap();
        world.clock.advance(Duration::from_secs(10));
        world.engine.delete(&ken, id).await.unwrap();
        let history = world.engine.history(&ken, id).await.unwrap();
        let told: Vec<_> = history
            .iter()
            .map(|event| (event.kind, event.old_text.as_deref(), event.new_text.as_deref(), event.stamp.at))
            .collect();
        let expected = [
            (EventKind::Add, None, Some("Lives in Lyon"), t0()),
            (EventKind::Update, Some("Lives in Lyon"), Some("Lives in Nantes"), time("2025-02-10T08:00:10Z")),
            (EventKind::Delete, Some("Lives in Nantes"), None, time("2025-02-10T08:00:20Z")),
        ];
        assert_eq!(told, expected, "{}", world.name);
        let error = world.engine.get(&ken, id).await.expect_err("it was removed");
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(world.engine.delete(&ken, id).await.expect_err("again").kind(), ErrorKind::NotFound);
        assert_eq!(world.engine.history(&ken, id).await.unwrap().len(), 3);
    }
}

#[tokio::test]
async fn texts_pass_through_untouched() {
    let odd = [
        "👨‍👩‍👧‍👦🇧🇷 cafe\u{301}".to_owned(),
        format!("{}休息", "x".repeat(98)),
        format!("{}\u{200c}می\u{200c}خواهم", "x".repeat(97)),
        r#"{name} {{x}} %s $1 \n {"a":1}"#.to_owned(),
        "شكراً\u{200f}".to_owned(),
        "  blanks \r\n around\t".to_owned(),
    ];
    for world in World::all().await {
        let (raw, said) = (Scope::user("raw"), Scope::user("said"));
        let memories = world.engine.add_raw(&raw, odd.iter().map(String::as_str)).await.unwrap();
        for (memory, text) in memories.iter().zip(&odd) {
            assert_eq!(&world.engine.get(&raw, memory.id).await.unwrap().text, text, "{}", world.name);
        }
        assert_eq!(texts(&world.list(&raw).await), odd);
        for text in &odd {
            let report = world.engine.add(&said, text.as_str()).await.unwrap();
            let episode = world.engine.get(&said, report.episodes[0]).await.unwrap();
            assert_eq!(&episode.text, text, "{}", world.name);
        }
    }
}

#[tokio::test]
async fn what_is_over_is_shown_when_asked_for() {
    for world in World::all().await {
        let ken = Scope::user("ken");
        let past = NewMemory::new("Lived in Lyon")
            .valid_from(time("2020-01-01T00:00:00Z"))
            .valid_until(time("2023-01-01T00:00:00Z"));
        let present = NewMemory::new("Lives in Nantes").valid_from(time("2023-01-01T00:00:00Z"));
        let brief = NewMemory::new("Has a cold").expires_at(time("2025-02-11T00:00:00Z"));
        world.engine.add_raw(&ken, [past, present, brief]).await.unwrap();
        let listed = async |request: ListRequest| world.engine.list(&ken, request).await.unwrap().items;
        assert_eq!(texts(&listed(ListRequest::new()).await), ["Lives in Nantes", "Has a cold"]);
        world.clock.set(time("2025-02-11T00:00:00Z"));
        assert_eq!(texts(&listed(ListRequest::new()).await), ["Lives in Nantes"]);
        assert_eq!(texts(&listed(ListRequest::new().as_of(time("2021-06-01T00:00:00Z"))).await), ["Lived in Lyon"]);
        assert_eq!(listed(ListRequest::new().include_invalid()).await.len(), 3);
        let ask = ingrain::SearchRequest::new("lyon nantes");
        let now = world.engine.search(&ken, ask.clone()).await.unwrap();
        assert!(now.iter().all(|hit| hit.memory.text != "Lived in Lyon"));
        let then = world.engine.search(&ken, ask.as_of(time("2021-06-01T00:00:00Z"))).await.unwrap();
        assert_eq!(then[0].memory.text, "Lived in Lyon");
    }
}
