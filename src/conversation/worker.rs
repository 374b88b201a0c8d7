//! The task that shortens a conversation while it goes on.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{Arc, MutexGuard, PoisonError},
    task::Poll,
};

use tokio::{runtime::Handle, task::AbortHandle};

use super::{
    ConversationEvent, SummaryFailure, Talk,
    compress::{Progress, Step},
};
use crate::{Error, ErrorKind, Result, Stage};

/// After so many failures in a row a settling conversation says so.
const TRIES: u32 = 3;

/// How far the work on a conversation is.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Whether a task is at it.
    running: bool,
    /// Whether there may be something new to do.
    again: bool,
    /// How often it has failed, ever.
    failures: u64,
    /// The last failure, unless it has worked since.
    failure: Option<SummaryFailure>,
    task: Option<AbortHandle>,
}

impl Talk {
    fn work(&self) -> MutexGuard<'_, Work> {
        // What is behind the lock is changed in one step.
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failure(&self) -> Option<SummaryFailure> {
        self.work().failure.clone()
    }

    /// Ends the task.
    pub(super) fn stop(&self) {
        if let Some(task) = &self.work().task {
            task.abort();
        }
    }

    /// Tells an observer, whose panic changes nothing.
    pub(super) fn tell(&self, event: &ConversationEvent) {
        if let Some(observer) = &self.parts.observer {
            let _panicked = catch_unwind(AssertUnwindSafe(|| (observer.0)(&self.conversation, event))).is_err();
        }
    }

    /// Has a task look whether something is due.
    pub(super) fn kick(self: &Arc<Self>, runtime: &Handle) {
        if self.parts.summarizer.is_none() {
            return;
        }
        let mut work = self.work();
        work.again = true;
        if !work.running {
            work.running = true;
            work.task = Some(runtime.spawn(run(Running(Arc::clone(self)))).abort_handle());
        }
    }

    /// Waits until nothing is due.
    pub(super) async fn settle(self: &Arc<Self>) -> Result<()> {
        if self.parts.summarizer.is_none() {
            return Ok(());
        }
        let runtime = runtime()?;
        let mut changes = self.changes.subscribe();
        let before = self.work().failures;
        self.kick(&runtime);
        self.hurry.notify_one();
        loop {
            changes.mark_unchanged();
            let (idle, broken_off, failed) = {
                let work = self.work();
                let in_a_row = work.failure.as_ref().is_some_and(|failure| failure.failures >= TRIES);
                let failed = in_a_row && work.failures - before >= u64::from(TRIES);
                (
                    !work.running && !work.again,
                    !work.running && work.again,
                    failed.then(|| work.failure.clone()).flatten(),
                )
            };
            if let Some(failure) = failed {
                return Err(failure.to_error().with_stage(Stage::Summarize));
            }
            if idle {
                return Ok(());
            }
            if broken_off {
                self.kick(&runtime);
            }
            // The sender is in `self`.
            let _closed = changes.changed().await.is_err();
        }
    }

    fn tell_change(&self) {
        self.changes.send_modify(|number| *number = number.wrapping_add(1));
    }

    /// Notes a failure and says how many there were in a row.
    fn failed(&self, error: &Error) -> u32 {
        let now = self.parts.clock.now();
        let mut work = self.work();
        work.failures += 1;
        let in_a_row = work.failure.as_ref().map_or(0, |failure| failure.failures).saturating_add(1);
        let failure = SummaryFailure::new(error, now, in_a_row);
        work.failure = Some(failure.clone());
        drop(work);
        self.tell(&ConversationEvent::Failed(failure));
        in_a_row
    }
}

/// The runtime that calls.
pub(super) fn runtime() -> Result<Handle> {
    Handle::try_current().map_err(|cause| {
        let message = "conversations are summarised by tasks of a tokio runtime, and there is none";
        Error::new(ErrorKind::Configuration, message).with_stage(Stage::Summarize).with_source(cause)
    })
}

/// A conversation that a task is at, also when that ends before its time.
struct Running(Arc<Talk>);

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.work().running {
            if std::thread::panicking() {
                // A store, a clock or a counter of somebody else's.
                self.0.failed(&Error::new(ErrorKind::Internal, "shortening a conversation panicked"));
            }
            let mut work = self.0.work();
            (work.running, work.again) = (false, true);
        }
        self.0.tell_change();
    }
}

async fn run(running: Running) {
    let talk = &running.0;
    let mut progress = Progress::default();
    loop {
        talk.work().again = false;
        match talk.step(&mut progress).await {
            Ok(Step::Worked) => talk.work().failure = None,
            Ok(Step::Settled) => {
                let mut work = talk.work();
                work.failure = None;
                if !work.again {
                    work.running = false;
                    return;
                }
            }
            Err(error) => {
                let wait = talk.parts.options.wait(talk.failed(&error)).max(error.retry_after().unwrap_or_default());
                talk.tell_change();
                first(talk.parts.clock.sleep(wait), talk.hurry.notified()).await;
            }
        }
        // A clock, a store and a summariser may all return at once: others want to run.
        tokio::task::yield_now().await;
    }
}

/// Waits for the first of two.
async fn first(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        ready => ready,
    })
    .await;
}
