//! What goes in comes out in order, from within bounds.

use std::{
    borrow::Cow,
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Duration,
};

use ingrain::{
    AddMode, AddRequest, BackgroundOptions, Clock, ErrorKind, Filter, InMemoryStore, ListRequest, MemoryEngine,
    Message, QueuedState, Redactor, Scope, testing::FaultyStore,
};
use serde_json::json;

use super::{Outcomes, Told, engine, flushed, queueing, turns};
use crate::worlds::{World, object, t0, texts};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adds_of_each_user_are_carried_out_in_order_and_all_are_told_once() {
    for world in World::all().await {
        let (told, outcomes) = (Told::new(), Outcomes::default());
        let builder = world.builder().extractor(told.clone()).background(BackgroundOptions::new().workers(4));
        let engine = builder.on_background_add(outcomes.observer()).build().await.unwrap();
        told.fail_next(4);
        let mut queued = Vec::new();
        for number in 0..5 {
            for user in 0..12 {
                let scope = Scope::user(format!("u{user}")).with_session(format!("{}", number % 2));
                let add = engine.add_later(&scope, format!("u{user} says {number}")).await.unwrap();
                assert_eq!((add.state, add.failures), (QueuedState::Waiting, 0));
                queued.push(add.id);
            }
        }
        let report = engine.flush().await.unwrap();
        assert_eq!((report.done, report.failed.len()), (60, 0), "{}", world.name);
        for user in 0..12 {
            let scope = Scope::user(format!("u{user}"));
            let memories = engine.list(&scope, ListRequest::new()).await.unwrap().items;
            let expected: Vec<String> = (0..5).map(|number| format!("u{user} says {number}")).collect();
            assert_eq!(texts(&memories), expected, "{}", world.name);
            assert!(engine.queued_adds(&scope).await.unwrap().is_empty());
            for memory in memories {
                let call = engine.history(&scope, memory.id).await.unwrap()[0].stamp.call;
                assert!(queued.contains(&call), "the history names the queued add");
            }
        }
        let mut told: Vec<_> = outcomes.all().into_iter().map(|(id, failed)| (id, failed.is_some())).collect();
        told.sort_unstable();
        queued.sort_unstable();
        assert_eq!(told, queued.into_iter().map(|id| (id, false)).collect::<Vec<_>>());
        assert_eq!(engine.flush().await.unwrap().done, 0, "a flush tells what came since the last");
    }
}

#[tokio::test]
async fn facts_are_read_and_held_against_each_other_in_order() {
    for world in World::all().await {
        let ines = Scope::user("ines");
        for (session, text) in [("a", "I live in Berlin."), ("b", "I live in Madrid."), ("a", "I live in Rome.")] {
            world.engine.add_later(&ines.clone().with_session(session), text).await.unwrap();
        }
        assert_eq!(flushed(&world.engine).await, 3);
        assert_eq!(texts(&world.list(&ines).await), ["Lives in Rome"], "{}", world.name);
        assert_eq!(turns(&world.engine, &ines).await.len(), 3);
    }
}

#[tokio::test]
async fn what_was_said_counts_from_when_it_was_queued() {
    for world in World::all().await {
        let noor = Scope::user("noor");
        let given = "2024-05-05T05:05:05Z".parse().unwrap();
        let messages = [Message::user("I moved to Lisbon yesterday."), Message::user("Hello.").at(given)];
        queueing(&world).await.add_later(&noor, messages).await.unwrap();
        world.clock.advance(Duration::from_secs(10 * 86_400));
        let later = world.clock.now();
        assert_eq!(flushed(&world.engine).await, 1);
        let request = ListRequest::new().filter(Filter::eq("kind", "episode"));
        let memories = world.engine.list(&noor, request).await.unwrap().items;
        let times: Vec<_> = memories.iter().map(|memory| (memory.observed_at, memory.created_at >= later)).collect();
        assert_eq!(times, [(t0(), true), (given, true)], "{}", world.name);
        let fact = world.list(&noor).await.remove(0);
        assert_eq!(fact.valid_at, "2025-02-09T00:00:00Z".parse::<ingrain::Timestamp>().unwrap());
    }
}

#[derive(Debug)]
struct NoKeys;

impl Redactor for NoKeys {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.contains("sk-1234") { text.replace("sk-1234", "[key]").into() } else { text.into() }
    }
}

#[tokio::test]
async fn what_is_queued_is_checked_and_has_no_secrets() {
    for world in World::all().await {
        let engine = world.builder().redactor(NoKeys).background(BackgroundOptions::new().workers(0));
        let (engine, noor) = (engine.build().await.unwrap(), Scope::user("noor"));
        let deep = (0..100).fold(json!(1), |inner, _| json!({ "x": inner }));
        for (scope, request) in [
            (&Scope::user(" "), AddRequest::from("x")),
            (&noor, Message::user("x").with_metadata(object(deep)).into()),
            (&noor, AddRequest::from("x").dry_run(true)),
        ] {
            let error = engine.add_later(scope, request).await.expect_err("refused at the door");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        }
        let agentic = engine.add_later(&noor, AddRequest::from("x").mode(AddMode::Agentic)).await;
        assert_eq!(agentic.expect_err("it has no model").kind(), ErrorKind::Configuration);
        assert_eq!(engine.queued_adds(&noor).await.unwrap(), []);

        let metadata = object(json!({"env": {"key": "sk-1234"}}));
        let said = AddRequest::new([Message::user("It is sk-1234.").with_metadata(metadata)]).language("Spanish");
        let add = engine.add_later(&noor, said.clone()).await.unwrap();
        assert_eq!(engine.queued_adds(&noor).await.unwrap(), std::slice::from_ref(&add));
        assert!(!add.request.contains("1234"), "{}", add.request);
        let kept = add.to_request().unwrap();
        assert_eq!((kept.language, kept.messages[0].text.as_str()), (said.language, "It is [key]."));
        assert_eq!(kept.messages[0].at, Some(t0()));
    }
}

#[tokio::test]
async fn a_full_queue_refuses_until_there_is_room() {
    for world in World::all().await {
        let told = Told::new();
        let engine = engine(&world, &told, BackgroundOptions::new().capacity(3).workers(1)).await;
        let noor = Scope::user("noor");
        for number in 0..3 {
            engine.add_later(&noor, format!("noor held {number}")).await.unwrap();
        }
        told.has_begun("noor held 0").await;
        let error = engine.add_later(&noor, "noor 3").await.expect_err("the queue is full");
        assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::QueueFull, true), "{error}");
        assert!(error.stage().is_some() && error.backend() == Some(world.name), "{error}");
        told.let_go(3);
        assert_eq!(flushed(&engine).await, 3);
        engine.add_later(&noor, "noor 3").await.unwrap();
        flushed(&engine).await;
        let expected: Vec<String> =
            (0..3).map(|number| format!("noor held {number}")).chain(["noor 3".to_owned()]).collect();
        assert_eq!(turns(&engine, &noor).await, expected, "{}", world.name);
    }
}

#[tokio::test]
async fn a_dropped_call_has_queued_or_not() {
    for world in World::all().await {
        for polls in 0..6 {
            let scope = Scope::user(format!("dropped after {polls}"));
            {
                let mut call = pin!(world.engine.add_later(&scope, "One thing."));
                let mut polled = 0;
                poll_fn(|context| {
                    if polled == polls {
                        return Poll::Ready(());
                    }
                    polled += 1;
                    call.as_mut().poll(context).map(drop)
                })
                .await;
            }
            world.engine.add_later(&scope, "Another thing.").await.unwrap();
            flushed(&world.engine).await;
            let there = turns(&world.engine, &scope).await;
            let (both, one) = (["One thing.", "Another thing."], ["Another thing."]);
            assert!(there == one || (there == both && polls > 0), "{}, {polls} polls: {there:?}", world.name);
        }
    }
}

#[tokio::test]
async fn without_a_queue_or_a_runtime_it_is_said_so() {
    let embedder = || ingrain::HashingEmbedder::new(64);
    let alone = FaultyStore::new(InMemoryStore::new()).without_companions();
    let engine = MemoryEngine::builder().store(alone).embedder(embedder()).build().await.unwrap();
    let noor = Scope::user("noor");
    let refused = [engine.add_later(&noor, "x").await.map(drop), engine.flush().await.map(drop)];
    for result in refused.into_iter().chain([engine.queued_adds(&noor).await.map(drop)]) {
        let error = result.expect_err("there is no queue");
        assert_eq!((error.kind(), error.backend()), (ErrorKind::Unsupported, Some("in_memory")), "{error}");
    }
    engine.delete_all(&noor).await.unwrap();

    let borrowed = ingrain::VectorStore::companions(&InMemoryStore::new()).queue.unwrap();
    let alone = FaultyStore::new(InMemoryStore::new()).without_companions();
    let engine = MemoryEngine::builder().store(alone).queue(borrowed).embedder(embedder()).build().await.unwrap();
    engine.add_later(&noor, "Hello.").await.unwrap();
    assert_eq!(flushed(&engine).await, 1);

    let elsewhere = std::thread::spawn(move || {
        let noor = Scope::user("noor");
        let call: Pin<&mut _> = pin!(engine.add_later(&noor, "x"));
        let Poll::Ready(result) = call.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("there is nothing to wait for")
        };
        result.expect_err("there is no runtime").kind()
    });
    assert_eq!(elsewhere.join().unwrap(), ErrorKind::Configuration);
    let wrong = MemoryEngine::builder().embedder(embedder()).background(BackgroundOptions::new().capacity(0));
    assert_eq!(wrong.build().await.expect_err("no room").kind(), ErrorKind::Configuration);
}
