//! Whatever call of the store fails, no add is lost and none is made twice.

use ingrain::{BackgroundOptions, ErrorKind, MemoryEngine, Scope};

use super::{Outcomes, flushed, turns};
use crate::worlds::World;

/// Queues two adds, one of the store's calls failing; says whether it did fail.
async fn one_failing_call(world: &World, number: u32, lost: bool) -> bool {
    let outcomes = Outcomes::default();
    let builder = world.builder().background(BackgroundOptions::new().workers(1));
    let engine: MemoryEngine = builder.on_background_add(outcomes.observer()).build().await.unwrap();
    let scope = Scope::user(format!("ada {number} {lost}"));
    if lost {
        world.store.lose_answer_after(number);
    } else {
        world.store.fail_call_after(number);
    }
    let mut certain = Vec::new();
    let mut doubtful = Vec::new();
    for text in ["I live in Lisbon.", "I live in Porto."] {
        match engine.add_later(&scope, text).await {
            Ok(add) => certain.push((add.id, text)),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
                if lost {
                    doubtful.push(text);
                }
            }
        }
    }
    let done = flushed(&engine).await;
    let failed = !world.store.is_failure_to_come();
    world.store.start();
    let place = format!("{}, call {number}, lost: {lost}", world.name);
    let mut there = turns(&engine, &scope).await;
    there.retain(|text| !doubtful.contains(&text.as_str()));
    assert_eq!(there, certain.iter().map(|(_, text)| *text).collect::<Vec<_>>(), "{place}");
    let mut told: Vec<_> = outcomes.all();
    assert!(done as usize == told.len() && done as usize >= certain.len(), "{place}: {done}, {told:?}");
    told.retain(|(id, _)| certain.iter().any(|(other, _)| other == id));
    assert_eq!(told, certain.iter().map(|(id, _)| (*id, None)).collect::<Vec<_>>(), "each is told once: {place}");
    if certain.len() == 2 {
        let facts = world.list(&scope).await;
        assert_eq!(facts.iter().map(|fact| fact.text.as_str()).collect::<Vec<_>>(), ["Lives in Porto"], "{place}");
    }
    for memory in world.everything(&scope).await {
        let events = engine.history(&scope, memory.id).await.unwrap();
        assert!(events.len() == 1 || memory.superseded_by.is_some(), "{place}: {events:?}");
    }
    failed
}

#[tokio::test(start_paused = true)]
async fn no_failing_call_loses_an_add_or_makes_it_twice() {
    for world in World::all().await {
        for lost in [false, true] {
            let mut number = 0;
            while one_failing_call(&world, number, lost).await {
                number += 1;
            }
            assert!(number > 15, "the calls of two adds: {number}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_outage_of_the_store_is_told_and_waited_out() {
    for world in World::all().await {
        let ada = Scope::user("ada");
        world.engine.add_later(&ada, "Hello.").await.unwrap();
        world.store.stop();
        let error = world.engine.flush().await.expect_err("the store is down");
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
        let error = world.engine.add_later(&ada, "Bye.").await.expect_err("the store is down");
        assert_eq!((error.kind(), error.backend()), (ErrorKind::StoreUnavailable, Some(world.name)));
        tokio::time::sleep(std::time::Duration::from_secs(600)).await;
        world.store.start();
        flushed(&world.engine).await;
        assert_eq!(turns(&world.engine, &ada).await, ["Hello."], "{}", world.name);
    }
}
