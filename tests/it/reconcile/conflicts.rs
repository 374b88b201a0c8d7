//! A hundred changes of twenty things, in mixed order: what is current, what was, and what happened.

use std::collections::BTreeMap;

use ingrain::{EventKind, ListRequest, Message, Scope, SearchRequest, Timestamp, testing::ScriptedLlm};
use serde_json::json;

use super::asking;
use crate::worlds::{World, t0, texts};

const SLOTS: usize = 20;
const CHANGES: usize = 5;

/// Words without a letter run in common, so that no value passes for another.
const THINGS: [&str; SLOTS] = [
    "breakfast",
    "holiday",
    "doctor",
    "garden",
    "bicycle",
    "newspaper",
    "dentist",
    "hairdresser",
    "perfume",
    "umbrella",
    "violin",
    "kitchen",
    "laptop",
    "wallpaper",
    "blanket",
    "toothpaste",
    "sandwich",
    "marathon",
    "aquarium",
    "lighthouse",
];
const VALUES: [&str; CHANGES] = ["crimson", "turquoise", "lavender", "ochre", "magenta"];

fn statement(slot: usize, change: usize) -> String {
    format!("Favourite {} is {}", THINGS[slot], VALUES[change])
}

fn day(number: usize) -> Timestamp {
    t0() + chrono::Duration::days(i64::try_from(number).unwrap())
}

/// The slot of each day: every slot five times, never in one order. 37 and 100 have no factor in common.
fn mixed() -> Vec<(usize, usize)> {
    let mut changes: BTreeMap<usize, usize> = BTreeMap::new();
    let slots = (0..SLOTS * CHANGES).map(|number| (number * 37) % (SLOTS * CHANGES) % SLOTS);
    slots
        .map(|slot| {
            let change = changes.entry(slot).or_default();
            *change += 1;
            (slot, *change - 1)
        })
        .collect()
}

/// The number under which the model sees the memory.
fn handle(material: &str, text: &str) -> Option<u64> {
    material.lines().filter(|line| line.starts_with("{\"memory\":")).find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        (line["text"] == text).then(|| line["memory"].as_u64().unwrap())
    })
}

#[tokio::test]
async fn after_a_hundred_changes_only_the_last_hold() {
    for world in World::all().await {
        let scope = Scope::user("mixed");
        for (number, (slot, change)) in mixed().into_iter().enumerate() {
            world.clock.set(day(number));
            let facts = json!({"facts": [statement(slot, change)]}).to_string();
            let message = || Message::user("Another one").at(day(number));
            let mut llm = ScriptedLlm::new().reply(&facts);
            if number > 0 {
                // What the model is shown, it would be shown again.
                let looking = ScriptedLlm::new().reply(&facts).reply("{\"actions\": []}");
                let request = ingrain::AddRequest::new([message()]).dry_run(true);
                asking(&world, looking.clone()).await.add(&scope, request).await.unwrap();
                let material = looking.requests().pop().unwrap().messages.pop().unwrap().text;
                let old = change.checked_sub(1).map(|before| statement(slot, before));
                let memory = old.map(|old| handle(&material, &old).unwrap_or_else(|| panic!("{old} is not shown")));
                let event = if memory.is_some() { "SUPERSEDE" } else { "ADD" };
                let plan = json!({"actions": [{"event": event, "fact": 0, "memory": memory}]});
                llm = llm.reply(plan.to_string());
            }
            let report = asking(&world, llm).await.add(&scope, message()).await.unwrap();
            assert_eq!((report.added.len(), report.superseded.len()), (1, usize::from(change > 0)), "{report:?}");
        }
        current_values_are_found(&world, &scope).await;
        every_day_is_as_it_was(&world, &scope).await;
        nothing_is_forgotten(&world, &scope).await;
    }
}

async fn current_values_are_found(world: &World, scope: &Scope) {
    let mut last: Vec<String> = (0..SLOTS).map(|slot| statement(slot, CHANGES - 1)).collect();
    let current = world.list(scope).await;
    let mut found = texts(&current);
    found.sort_unstable();
    last.sort_unstable();
    assert_eq!(found, last, "{}", world.name);
    for (slot, thing) in THINGS.iter().enumerate() {
        let request = SearchRequest::new(format!("Which {thing} is the favourite?"))
            .filter(!ingrain::Filter::eq("kind", "episode"));
        let hits = world.engine.search(scope, request).await.unwrap();
        assert_eq!(hits[0].memory.text, statement(slot, CHANGES - 1), "{}", world.name);
        assert!(hits.iter().all(|hit| last.contains(&hit.memory.text)), "{thing}");
    }
}

async fn every_day_is_as_it_was(world: &World, scope: &Scope) {
    let mut held: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, (slot, change)) in mixed().into_iter().enumerate() {
        held.insert(slot, change);
        let request = ListRequest::new().limit(100).as_of(day(number) + chrono::Duration::hours(1));
        let then = world.engine.list(scope, request.filter(!ingrain::Filter::eq("kind", "episode"))).await.unwrap();
        let mut found = texts(&then.items);
        found.sort_unstable();
        let mut expected: Vec<String> = held.iter().map(|(slot, change)| statement(*slot, *change)).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}, day {number}", world.name);
    }
}

async fn nothing_is_forgotten(world: &World, scope: &Scope) {
    let everything = world.everything(scope).await;
    let facts: Vec<_> = everything.iter().filter(|memory| memory.kind.is_semantic()).collect();
    assert_eq!(facts.len(), SLOTS * CHANGES);
    for memory in facts {
        let history = world.engine.history(scope, memory.id).await.unwrap();
        let kinds: Vec<EventKind> = history.iter().map(|event| event.kind).collect();
        let ended = memory.invalid_at.is_some();
        let expected = if ended { vec![EventKind::Add, EventKind::Supersede] } else { vec![EventKind::Add] };
        assert_eq!(kinds, expected, "{}: {}", world.name, memory.text);
        let successor = memory.superseded_by.and_then(|id| everything.iter().find(|other| other.id == id));
        assert_eq!(successor.map(|successor| Some(successor.valid_at)), ended.then_some(memory.invalid_at));
        assert!(successor.is_none_or(|next| next.text.split(" is ").next() == memory.text.split(" is ").next()));
    }
}
