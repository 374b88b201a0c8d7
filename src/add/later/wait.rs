//! Waiting for the first of two, and through a panic.

use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

use tokio::sync::watch;

/// Waits for the first of two.
pub(super) async fn first(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        ready => ready,
    })
    .await;
}

/// Waits for `work`, and has `beside` go on meanwhile.
pub(super) async fn beside<T>(work: impl Future<Output = T>, beside: impl Future<Output = ()>) -> T {
    let (mut work, mut beside) = (pin!(work), pin!(beside));
    let mut over = false;
    poll_fn(|context| {
        let result = work.as_mut().poll(context);
        if result.is_pending() && !over {
            over = beside.as_mut().poll(context).is_ready();
        }
        result
    })
    .await
}

/// Waits for a change that was not seen yet. The sender outlives every receiver here.
pub(super) async fn changed(receiver: &mut watch::Receiver<u64>) {
    let _closed = receiver.changed().await.is_err();
}

/// Waits for `work`; `None` if it panicked. What it had in its hands was its own, or guards itself against panics.
pub(super) async fn unless_panicked<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let polled: Result<T, Box<dyn Any + Send>> =
        poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(panic) => Poll::Ready(Err(panic)),
        })
        .await;
    polled.ok()
}
