//! What is queued outlives the engine, its runtime and its process, and is shared by those who use the file at once.

use std::{path::Path, time::Duration};

use ingrain::{
    AddRequest, BackgroundOptions, CallId, Claim, Claimed, Clock, InMemoryStore, ManualClock, MemoryEngine, MemoryId,
    Message, QueuedAdd, QueuedState, Scope, SqliteStore, VectorStore,
};

use super::{Told, flushed, queueing, turns};
use crate::{
    processes::{Second, given},
    worlds::{self, World, t0},
};

async fn open(path: &Path) -> MemoryEngine {
    let store = SqliteStore::open(path).await.unwrap();
    worlds::engine(store, ingrain::testing::GivenVectors::new(32), ManualClock::at(t0())).await.unwrap()
}

#[tokio::test]
async fn what_is_queued_survives_a_restart() {
    let world = World::in_file(ingrain::testing::GivenVectors::new(32)).await;
    let ada = Scope::user("ada");
    let engine = queueing(&world).await;
    for number in 0..4 {
        engine.add_later(&ada, format!("Thing {number}.")).await.unwrap();
    }
    let queued = engine.queued_adds(&ada).await.unwrap();
    drop(engine);
    let watching = open(&world.path()).await;
    // Nobody asks it to: it was built on a queue that is not empty.
    super::until(async || watching.queued_adds(&ada).await.unwrap().is_empty()).await;
    assert_eq!(flushed(&watching).await, 4);
    assert_eq!(turns(&watching, &ada).await, ["Thing 0.", "Thing 1.", "Thing 2.", "Thing 3."]);
    assert!(queued.iter().all(|add| add.state == QueuedState::Waiting));
}

#[test]
fn an_add_is_taken_up_when_its_runtime_ended_amid_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (told, ada) = (Told::new(), Scope::user("ada"));
    let first = runtime();
    let engine = first.block_on(async {
        let store = SqliteStore::open(&path).await.unwrap();
        let builder = MemoryEngine::builder().store(store).embedder(ingrain::testing::GivenVectors::new(32));
        let engine = builder.extractor(told.clone()).clock(ManualClock::at(t0())).build().await.unwrap();
        engine.add_later(&ada, "ada held").await.unwrap();
        engine.add_later(&ada, "ada 2").await.unwrap();
        told.has_begun("ada held").await;
        engine
    });
    drop(first);
    // The same engine on another runtime, and then another engine.
    runtime().block_on(async {
        assert_eq!(engine.queued_adds(&ada).await.unwrap()[0].state, QueuedState::Running);
        told.let_go(1);
        assert_eq!(flushed(&engine).await, 2);
        assert_eq!(turns(&engine, &ada).await, ["ada held", "ada 2"]);
        engine.add_later(&ada, "ada held 3").await.unwrap();
        told.has_begun("ada held 3").await;
    });
    runtime().block_on(async {
        let again = open(&path).await;
        assert_eq!(flushed(&again).await, 1);
        assert_eq!(turns(&again, &ada).await, ["ada held", "ada 2", "ada held 3"]);
    });
}

/// A worker's clock stood years ahead, and its process ended amid an add: once it is put right, nobody waits for years.
#[tokio::test]
async fn a_flush_does_not_wait_for_a_clock_that_was_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (ada, clock) = (Scope::user("ada"), ManualClock::at(t0()));
    let store = SqliteStore::open(&path).await.unwrap();
    let queue = store.companions().queue.unwrap();
    let ahead = t0() + chrono::Duration::days(9 * 365);
    for text in ["One.", "Two."] {
        let request = serde_json::to_string(&AddRequest::new([Message::user(text)])).unwrap();
        queue.push(&QueuedAdd::new(CallId::new(ahead), ada.clone(), request, ahead), 10).await.unwrap();
    }
    let claim = Claim::new(ahead, Duration::from_secs(30), MemoryId::new(ahead));
    assert!(matches!(queue.claim(&claim).await.unwrap(), Claimed::Add(_)));
    let engine = worlds::engine(store, ingrain::testing::GivenVectors::new(32), clock.clone()).await.unwrap();
    assert_eq!(flushed(&engine).await, 2);
    assert_eq!(turns(&engine, &ada).await, ["One.", "Two."]);
    assert!(clock.now() < t0() + chrono::Duration::hours(1), "it slept until {}", clock.now());
}

/// Their clocks run ahead of each other, so each takes the other's adds for left behind, all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engines_that_take_each_others_adds_make_each_once() {
    let memory = InMemoryStore::new();
    let mut engines = Vec::new();
    for _ in 0..3 {
        let builder = MemoryEngine::builder().store(memory.clone()).embedder(ingrain::testing::GivenVectors::new(32));
        let told = Told::new();
        told.fail_next(1);
        let options = BackgroundOptions::new().interruptions(u32::MAX);
        let builder = builder.clock(ManualClock::at(t0())).extractor(told).background(options);
        let engine = builder.build().await.unwrap();
        engines.push(engine);
    }
    for number in 0..30 {
        for (place, engine) in engines.iter().enumerate() {
            engine.add_later(&Scope::user(format!("u{place}")), format!("u{place} shared {number}")).await.unwrap();
        }
    }
    for engine in &engines {
        flushed(engine).await;
    }
    for (place, engine) in engines.iter().enumerate() {
        let there = turns(engine, &Scope::user(format!("u{place}"))).await;
        let expected: Vec<String> = (0..30).map(|number| format!("u{place} shared {number}")).collect();
        assert_eq!(there, expected);
    }
}

const EACH: usize = 25;

async fn queue_many(engine: &MemoryEngine, who: &str) {
    for number in 0..EACH {
        engine.add_later(&Scope::user("walker"), format!("The {who} says {number}.")).await.unwrap();
    }
}

#[tokio::test]
async fn two_processes_share_a_queue() {
    if let Some((path, clock)) = given() {
        let store = SqliteStore::open(&path).await.unwrap();
        let builder = MemoryEngine::builder().store(store).embedder(ingrain::testing::GivenVectors::new(32));
        let builder = if clock == "system" { builder } else { builder.clock(ManualClock::at(t0())) };
        let engine = builder.build().await.unwrap();
        queue_many(&engine, "second").await;
        engine.flush().await.unwrap();
        return;
    }
    for clock in ["system", "ahead"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let store = SqliteStore::open(&path).await.unwrap();
        let builder = MemoryEngine::builder().store(store).embedder(ingrain::testing::GivenVectors::new(32));
        let builder = builder.background(BackgroundOptions::new().lease(Duration::from_secs(5)));
        let builder = if clock == "system" { builder } else { builder.clock(ManualClock::at(t0())) };
        let engine = builder.build().await.unwrap();
        let second = Second::running("later::surviving::two_processes_share_a_queue", &path, clock);
        queue_many(&engine, "first").await;
        engine.flush().await.unwrap();
        tokio::task::spawn_blocking(move || second.succeeded()).await.unwrap();
        engine.flush().await.unwrap();
        let walker = Scope::user("walker");
        let there = engine.list(&walker, ingrain::ListRequest::new().limit(1_000)).await.unwrap().items;
        for who in ["first", "second"] {
            let mut said: Vec<_> = there.iter().filter(|memory| memory.text.contains(who)).collect();
            said.sort_by_key(|memory| memory.ordinal);
            let said: Vec<&str> = said.iter().map(|memory| memory.text.as_str()).collect();
            let expected: Vec<String> = (0..EACH).map(|number| format!("The {who} says {number}.")).collect();
            assert_eq!(said, expected, "{clock}");
        }
    }
}
