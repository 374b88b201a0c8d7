use std::time::Duration;

use super::{Inner, MemoryEngine, watch::Outcome};
use crate::{
    AddReport, AddRequest, CallId, Error, ErrorKind, FlushReport, QueuedAdd, Result, Scope, Stage,
    add::{
        AddContext,
        later::{self, Host, Later},
    },
};

impl MemoryEngine {
    /// Queues an [`add`](Self::add) and returns at once: it is carried out in the background. With a durable store the
    /// queue is as durable as the memories; what is in it when the process ends is taken up when an engine is built on the
    /// same store again.
    ///
    /// Adds of one user and agent are carried out one after the other, in the order they were queued, whatever their
    /// sessions; those of others beside them. Each is carried out once, whenever a process ends. One that fails is tried
    /// again if that may help, and those behind it wait meanwhile; one that is given up
    /// ([`QueuedState::Failed`](crate::QueuedState::Failed)) stays in the queue with its reason, and the next goes on. A
    /// message without a time was said now, however late it is remembered. Secrets are taken out before it is queued.
    ///
    /// The workers are tasks on the runtime of the first call, and end with the last clone of the engine, after what they
    /// are carrying out. If the runtime ends first, they leave what they are carrying out in the queue. All engines on one
    /// file share its queue: whichever is free carries an add out, with its own model;
    /// [`workers(0)`](crate::BackgroundOptions::workers) keeps one from doing so.
    ///
    /// A call whose future is dropped has queued the add or not.
    ///
    /// ```
    /// use ingrain::{HashingEmbedder, MemoryEngine, Message, Scope};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(256)).build().await?;
    /// let alice = Scope::user("alice");
    /// memory.add_later(&alice, [Message::user("I'm allergic to shellfish.")]).await?; // the reply is not held up
    /// let report = memory.flush().await?; // before the program ends, or a test looks
    /// assert_eq!((report.done, report.failed.len()), (1, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope, bad metadata or a dry run;
    /// [`Configuration`](ErrorKind::Configuration) for [`AddMode::Agentic`](crate::AddMode::Agentic) without a model;
    /// [`QueueFull`](ErrorKind::QueueFull); [`Unsupported`](ErrorKind::Unsupported) if neither the store keeps a queue nor
    /// the [builder](crate::MemoryEngineBuilder::queue) was given one; [`Configuration`](ErrorKind::Configuration) outside
    /// a tokio runtime; what the queue reports. Nothing was queued then, unless it is that an outage hid the outcome.
    pub async fn add_later(&self, scope: &Scope, request: impl Into<AddRequest>) -> Result<QueuedAdd> {
        let request = request.into();
        let work = async {
            let later = self.later()?;
            later::start(&self.0)?;
            later.push(&self.0.adding(), scope, &request).await
        };
        self.watched("add_later", scope, work, |_| Outcome::default()).await
    }

    /// Waits until no queued add is waiting or running, be it one that waits to be tried again, and says how many were
    /// carried out and what has failed. It waits for all scopes, and for other processes on the same file; not to be called
    /// from within an add, which would wait for itself. Dropping the future changes nothing.
    ///
    /// # Errors
    /// [`Unsupported`](ErrorKind::Unsupported) without a queue; what the queue reports, also to the workers.
    pub async fn flush(&self) -> Result<FlushReport> {
        let later = self.later()?;
        later::start(&self.0)?;
        later.flush().await
    }

    /// What the scope covers of the queue, in the order it was queued: waiting, running, or failed, with the reason.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope; [`Unsupported`](ErrorKind::Unsupported) without a
    /// queue; what the queue reports.
    pub async fn queued_adds(&self, scope: &Scope) -> Result<Vec<QueuedAdd>> {
        self.later()?.list(scope).await
    }

    /// Lets an add that has failed be tried anew, in its old place: before what was queued later and has not begun.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if nothing of this id has failed in the scope; else as
    /// [`queued_adds`](Self::queued_adds), and [`Configuration`](ErrorKind::Configuration) outside a tokio runtime.
    pub async fn retry_add(&self, scope: &Scope, id: CallId) -> Result<()> {
        let later = self.later()?;
        later::start(&self.0)?;
        later.retry(scope, id).await
    }

    /// Takes an add out of the queue, whatever its state. One that is running writes nothing more, as with
    /// [`delete_all`](Self::delete_all).
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if the scope has nothing of this id in the queue; else as
    /// [`queued_adds`](Self::queued_adds).
    pub async fn discard_add(&self, scope: &Scope, id: CallId) -> Result<()> {
        self.later()?.discard(scope, id).await
    }

    /// Puts an add back into the queue that was there before.
    pub(super) async fn restore_add(&self, add: &QueuedAdd) -> Result<()> {
        let later = self.later()?;
        later::start(&self.0)?;
        later.restore(add).await
    }

    fn later(&self) -> Result<&Later> {
        self.0.later.as_ref().ok_or_else(|| {
            let message = "the store keeps no queue of adds: give the builder one";
            Error::new(ErrorKind::Unsupported, message).with_backend(self.0.store.name()).with_stage(Stage::Queue)
        })
    }
}

impl Host for Inner {
    fn later(&self) -> Option<&Later> {
        self.later.as_ref()
    }

    fn adding(&self) -> AddContext<'_> {
        self.adding()
    }

    fn carried_out(&self, scope: &Scope, elapsed: Duration, result: &Result<AddReport>) {
        let (error, outcome) = match result {
            Ok(report) => (None, report.into()),
            Err(error) => (Some(error.kind()), error.into()),
        };
        self.ended("queued_add", scope, elapsed, error, outcome);
    }
}

/// Has what an earlier engine left in the queue carried out.
pub(super) async fn resume(engine: &MemoryEngine) -> Result<()> {
    if let Some(later) = &engine.0.later
        && later.has_work().await?
    {
        later::start(&engine.0)?;
    }
    Ok(())
}

/// Takes the adds of the scope out of the queue, then does the rest, and no add writes in between.
pub(super) async fn erase<T>(engine: &MemoryEngine, scope: &Scope, then: impl Future<Output = Result<T>>) -> Result<T> {
    match &engine.0.later {
        Some(later) => later.erase(scope, then).await,
        None => then.await,
    }
}
