//! Whatever breaks it off: the old embedder is in use, nothing is lost, and the next run goes on.

use std::{
    pin::pin,
    task::{Context, Poll},
};

use ingrain::{Embedder, Error, ErrorKind, Reembed, ReembedReport, Result, Stage, testing::GivenVectors};

use super::{Meanwhile, ada, first, is_of, numbered, second, third};
use crate::worlds::World;

const COUNT: usize = 11;
const BATCH: usize = 2;
const BATCHES: usize = COUNT.div_ceil(BATCH);

async fn run(world: &World, embedder: impl Embedder) -> Result<ReembedReport> {
    Reembed::new(world.store.clone(), embedder).batch(BATCH).run().await
}

/// Fails at the request of this number.
fn failing(embedder: GivenVectors, at: usize) -> impl Embedder {
    Meanwhile::new(embedder, move |request| async move {
        if request == at { Err(Error::new(ErrorKind::ProviderUnreachable, "told to fail")) } else { Ok(()) }
    })
}

#[tokio::test]
async fn an_embedder_that_fails_at_any_batch_is_taken_up_where_it_failed() {
    for at in 0..BATCHES {
        for world in World::all_with(first).await {
            world.engine.add_raw(&ada(), numbered(COUNT)).await.unwrap();
            let before = world.everything(&ada()).await;
            let counted = second();
            let error = run(&world, failing(counted.clone(), at)).await.expect_err("told to fail");
            assert_eq!((error.kind(), error.stage()), (ErrorKind::ProviderUnreachable, Some(Stage::Embed)), "{error}");
            is_of(&world, &ada(), &first(), &before).await;
            assert_eq!(counted.inputs() as usize, at * BATCH);
            let report = run(&world, counted.clone()).await.unwrap();
            assert_eq!((report.resumed as usize, report.embedded as usize), (at * BATCH, COUNT - at * BATCH));
            assert_eq!(counted.inputs() as usize, COUNT, "no text was sent twice");
            is_of(&world, &ada(), &second(), &before).await;
        }
    }
}

#[tokio::test]
async fn an_embedder_that_fails_at_every_batch_gets_there() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(COUNT)).await.unwrap();
        let before = world.everything(&ada()).await;
        let counted = second();
        let mut failures = 0;
        while let Err(error) = run(&world, failing(counted.clone(), 1)).await {
            assert_eq!(error.kind(), ErrorKind::ProviderUnreachable);
            failures += 1;
        }
        assert_eq!((failures, counted.inputs() as usize), (BATCHES - 1, COUNT));
        is_of(&world, &ada(), &second(), &before).await;
    }
}

/// A store that fails, or whose answer is lost, at any call.
#[tokio::test]
async fn a_store_that_fails_anywhere_is_whole() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(COUNT)).await.unwrap();
        let before = world.everything(&ada()).await;
        // There and back, so that every failure meets a store to change.
        let (mut bound, mut other) = (first(), third());
        for lost in [false, true] {
            for calls in 0.. {
                let sent = other.inputs();
                if lost {
                    world.store.lose_answer_after(calls)
                } else {
                    world.store.fail_call_after(calls)
                }
                let result = run(&world, other.clone()).await;
                let met = !world.store.is_failure_to_come();
                world.store.start();
                assert_eq!(result.is_err(), met, "call {calls}");
                if let Err(error) = result {
                    assert_eq!((error.kind(), error.stage()), (ErrorKind::StoreUnavailable, Some(Stage::Store)));
                    let report = run(&world, other.clone()).await.unwrap();
                    // At most the batch whose staging failed was sent twice.
                    assert!((other.inputs() - sent) as usize <= COUNT + BATCH, "{report:?}");
                }
                is_of(&world, &ada(), &other, &before).await;
                (bound, other) = (other, bound);
                if !met {
                    break;
                }
                assert!(calls < 100, "it comes to an end");
            }
        }
        drop(bound);
    }
}

/// The future polled so many times, and dropped if it has not ended by then.
async fn polled<T>(future: impl Future<Output = T>, times: usize) -> Option<T> {
    let mut future = pin!(future);
    let mut count = 0;
    std::future::poll_fn(|context: &mut Context<'_>| {
        if count == times {
            return Poll::Ready(None);
        }
        count += 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

#[tokio::test]
async fn a_dropped_future_leaves_a_whole_store() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(COUNT)).await.unwrap();
        let before = world.everything(&ada()).await;
        for (from, to) in [(first(), second()), (second(), third()), (third(), first())] {
            let mut times = 0;
            loop {
                let yielding = Meanwhile::new(to.clone(), |_| async {
                    tokio::task::yield_now().await;
                    Ok(())
                });
                let ended = polled(run(&world, yielding), times).await;
                if let Some(report) = ended {
                    report.unwrap();
                    break;
                }
                // A write that had begun may have ended or not; a swap as well.
                let fits = super::opened(&world, from.clone()).await.is_ok();
                is_of(&world, &ada(), if fits { &from } else { &to }, &before).await;
                times += 1;
                assert!(times < 200, "it comes to an end");
            }
            assert!(times > 1, "it was dropped at least once");
            is_of(&world, &ada(), &to, &before).await;
        }
    }
}

#[tokio::test]
async fn a_third_embedder_discards_what_was_staged_and_the_old_one_calls_it_off() {
    for world in World::all_with(first).await {
        world.engine.add_raw(&ada(), numbered(COUNT)).await.unwrap();
        let before = world.everything(&ada()).await;
        run(&world, failing(second(), 3)).await.expect_err("told to fail");
        let other = third();
        let error = run(&world, failing(other.clone(), 2)).await.expect_err("told to fail");
        assert_eq!(error.stage(), Some(Stage::Embed));
        let counted = second();
        run(&world, failing(counted.clone(), 5)).await.expect_err("told to fail");
        assert_eq!(counted.inputs() as usize, 5 * BATCH, "from the beginning");
        let unused = first();
        let report = run(&world, unused.clone()).await.unwrap();
        assert_eq!((report.embedded, unused.inputs()), (0, 0));
        is_of(&world, &ada(), &first(), &before).await;
        let report = run(&world, counted).await.unwrap();
        assert_eq!((report.resumed, report.embedded as usize), (0, COUNT));
        is_of(&world, &ada(), &second(), &before).await;
    }
}
