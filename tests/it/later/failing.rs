//! A failure is waited out, or seen; and it holds up nobody it should not.

use std::time::Duration;

use ingrain::{BackgroundOptions, Claim, Claimed, Clock, ErrorKind, MemoryId, QueuedState, Scope, VectorStore};

use super::{Outcomes, StandingClock, Told, engine, flushed, queueing, turns, until};
use crate::worlds::{World, t0};

#[tokio::test]
async fn an_outage_is_waited_out_in_order() {
    for world in World::all().await {
        let (told, clock, outcomes) = (Told::new(), StandingClock::at(t0()), Outcomes::default());
        let builder = world.builder().extractor(told.clone()).clock(clock.clone());
        let engine = builder.on_background_add(outcomes.observer()).build().await.unwrap();
        let (ada, bob) = (Scope::user("ada"), Scope::user("bob"));
        told.fail_next(1);
        let id = engine.add_later(&ada, "ada 1").await.unwrap().id;
        let first = async || engine.queued_adds(&ada).await.unwrap().remove(0);
        until(async || first().await.failure.is_some()).await;
        engine.add_later(&ada, "ada 2").await.unwrap();
        engine.add_later(&bob, "bob 1").await.unwrap();
        until(async || engine.queued_adds(&bob).await.unwrap().is_empty()).await;

        let waiting = first().await;
        assert_eq!((waiting.id, waiting.state, waiting.attempts), (id, QueuedState::Waiting, 1), "{}", world.name);
        let failure = waiting.failure.unwrap();
        assert_eq!(failure.kind, ErrorKind::ProviderUnreachable);
        assert!(failure.message.contains("told to be down") && failure.at == t0(), "{failure:?}");
        let wait = (waiting.due_at - t0()).to_std().unwrap();
        assert!(wait >= Duration::from_secs(1) && wait <= Duration::from_secs(2), "{wait:?}");
        assert_eq!(told.began(), ["ada 1", "bob 1"], "what comes later waits, too");
        clock.advance(wait - Duration::from_millis(1));
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(told.began().len(), 2, "not before its time");

        told.fail_next(1);
        clock.advance(Duration::from_millis(1));
        until(async || first().await.failures == 2).await;
        let wait = (first().await.due_at - clock.0.now()).to_std().unwrap();
        assert!(wait >= Duration::from_secs(4) && wait <= Duration::from_secs(8), "waits grow: {wait:?}");
        clock.advance(wait);
        assert_eq!(flushed(&engine).await, 3);
        assert_eq!(turns(&engine, &ada).await, ["ada 1", "ada 2"]);
        let told: Vec<_> = outcomes.all().into_iter().filter(|(told, _)| *told == id).collect();
        assert_eq!(told, [(id, None)], "failures that pass are no outcome");
    }
}

#[tokio::test]
async fn the_provider_says_how_long_to_wait() {
    let world = World::in_memory().await;
    let (told, clock) = (Told::new(), StandingClock::at(t0()));
    let engine = world.builder().extractor(told.clone()).clock(clock.clone()).build().await.unwrap();
    let ada = Scope::user("ada");
    told.fail_next(1);
    told.asks_to_wait(Duration::from_secs(100));
    engine.add_later(&ada, "ada 1").await.unwrap();
    until(async || engine.queued_adds(&ada).await.unwrap()[0].failures == 1).await;
    assert_eq!(engine.queued_adds(&ada).await.unwrap()[0].due_at, t0() + chrono::Duration::seconds(100));
    clock.advance(Duration::from_secs(100));
    assert_eq!(flushed(&engine).await, 1);
}

#[tokio::test]
async fn what_keeps_failing_is_given_up_and_may_be_retried() {
    for world in World::all().await {
        let (told, outcomes) = (Told::new(), Outcomes::default());
        let builder = world.builder().extractor(told.clone()).background(BackgroundOptions::new().attempts(3));
        let engine = builder.on_background_add(outcomes.observer()).build().await.unwrap();
        let ada = Scope::user("ada");
        told.fail_next(3);
        let first = engine.add_later(&ada, "ada 1").await.unwrap().id;
        let second = engine.add_later(&ada, "ada 2").await.unwrap().id;
        let report = engine.flush().await.unwrap();
        assert_eq!((report.done, report.failed.len()), (1, 1), "{}", world.name);
        let failed = &report.failed[0];
        assert_eq!((failed.id, failed.state, failed.failures), (first, QueuedState::Failed, 3));
        assert_eq!(engine.queued_adds(&ada).await.unwrap(), report.failed);
        assert_eq!(told.began(), ["ada 1", "ada 1", "ada 1", "ada 2"]);
        assert_eq!(outcomes.all(), [(first, Some(ErrorKind::ProviderUnreachable)), (second, None)]);

        let unknown = engine.retry_add(&Scope::user("bob"), first).await.expect_err("it is ada's");
        assert_eq!(unknown.kind(), ErrorKind::NotFound);
        engine.retry_add(&ada, first).await.unwrap();
        assert_eq!(flushed(&engine).await, 1);
        assert_eq!(turns(&engine, &ada).await, ["ada 2", "ada 1"]);
        assert_eq!(outcomes.all().last(), Some(&(first, None)));
        let gone = engine.retry_add(&ada, first).await.expect_err("it is carried out");
        assert_eq!(gone.kind(), ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn poison_and_panics_are_seen_and_hold_nobody_up() {
    for world in World::all().await {
        let (told, outcomes) = (Told::new(), Outcomes::default());
        let observer = outcomes.observer();
        let builder = world.builder().extractor(told.clone()).on_background_add(move |add, result| {
            observer(add, result);
            assert!(!add.request.contains("harmless"), "an observer may panic");
        });
        let (engine, ada) = (builder.build().await.unwrap(), Scope::user("ada"));
        let mut ids = Vec::new();
        for text in ["ada poison", "ada panic", "ada harmless", "ada 4"] {
            ids.push(engine.add_later(&ada, text).await.unwrap().id);
        }
        let report = engine.flush().await.unwrap();
        assert_eq!(turns(&engine, &ada).await, ["ada harmless", "ada 4"], "{}", world.name);
        let failures: Vec<_> = report.failed.iter().map(|add| (add.id, add.failures)).collect();
        assert_eq!(failures, [(ids[0], 1), (ids[1], 1)], "neither is tried again");
        let [refused, panicked] = [0, 1].map(|number| report.failed[number].failure.clone().unwrap());
        assert_eq!(refused.kind, ErrorKind::ProviderRefused);
        assert!(refused.message.contains("told to refuse") && refused.message.contains("extract"), "{refused:?}");
        assert!(panicked.kind == ErrorKind::Internal && !panicked.message.contains("ada"), "{panicked:?}");
        assert_eq!(outcomes.all().iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids);

        told.accept_poison();
        engine.retry_add(&ada, ids[0]).await.unwrap();
        engine.discard_add(&ada, ids[1]).await.unwrap();
        assert_eq!(engine.discard_add(&ada, ids[1]).await.expect_err("gone").kind(), ErrorKind::NotFound);
        assert_eq!(flushed(&engine).await, 1);
        assert_eq!(turns(&engine, &ada).await, ["ada harmless", "ada 4", "ada poison"]);
    }
}

#[tokio::test]
async fn what_ends_its_process_every_time_is_given_up() {
    for world in World::all().await {
        let (told, ada) = (Told::new(), Scope::user("ada"));
        let id = queueing(&world).await.add_later(&ada, "ada 1").await.unwrap().id;
        let queue = world.store.companions().queue.unwrap();
        for minute in 0..4 {
            let now = t0() + chrono::Duration::minutes(minute);
            let claim = Claim::new(now, Duration::from_secs(30), MemoryId::new(now));
            assert!(matches!(queue.claim(&claim).await, Ok(Claimed::Add(_))));
        }
        world.clock.advance(Duration::from_secs(3_600));
        let engine = engine(&world, &told, BackgroundOptions::new().interruptions(3)).await;
        let failed = engine.flush().await.unwrap().failed.remove(0);
        assert_eq!((failed.id, failed.interruptions), (id, 4), "{}", world.name);
        assert_eq!(failed.failure.unwrap().kind, ErrorKind::Internal);
        assert!(told.began().is_empty());
        engine.retry_add(&ada, id).await.unwrap();
        assert_eq!(flushed(&engine).await, 1);
        assert_eq!(turns(&engine, &ada).await, ["ada 1"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_deleted_does_not_come_back_from_the_queue() {
    for world in World::all().await {
        let told = Told::new();
        let engine = engine(&world, &told, BackgroundOptions::new().workers(3)).await;
        let (ada, bob) = (Scope::user("ada"), Scope::user("bob"));
        for text in ["ada poison", "ada held", "ada 3"] {
            engine.add_later(&ada.clone().with_session("s"), text).await.unwrap();
        }
        let discarded = engine.add_later(&bob, "bob held").await.unwrap().id;
        engine.add_later(&bob, "bob 2").await.unwrap();
        told.has_begun("ada held").await;
        told.has_begun("bob held").await;
        engine.delete_all(&ada).await.unwrap();
        engine.discard_add(&bob, discarded).await.unwrap();
        assert_eq!(engine.queued_adds(&ada).await.unwrap(), []);
        told.let_go(2);
        flushed(&engine).await;
        assert!(world.everything(&ada).await.is_empty(), "{}", world.name);
        assert_eq!(turns(&engine, &bob).await, ["bob 2"], "{}", world.name);
        engine.add_later(&ada, "ada again").await.unwrap();
        flushed(&engine).await;
        assert_eq!(turns(&engine, &ada).await, ["ada again"]);
    }
}

#[tokio::test]
async fn workers_end_with_the_last_engine() {
    for world in World::all().await {
        let told = Told::new();
        let first = engine(&world, &told, BackgroundOptions::new()).await;
        let (second, ada) = (first.clone(), Scope::user("ada"));
        first.add_later(&ada, "ada 1").await.unwrap();
        flushed(&first).await;
        drop(first);
        second.add_later(&ada, "ada held").await.unwrap();
        second.add_later(&ada, "ada 3").await.unwrap();
        told.has_begun("ada held").await;
        drop(second);
        told.let_go(1);
        until(async || !told.is_shared()).await;
        assert_eq!(turns(&world.engine, &ada).await, ["ada 1", "ada held"], "{}: it ends what it is at", world.name);
        let later = engine(&world, &told, BackgroundOptions::new()).await;
        assert_eq!(flushed(&later).await, 1);
        assert_eq!(turns(&later, &ada).await, ["ada 1", "ada held", "ada 3"]);
    }
}
