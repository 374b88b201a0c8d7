//! [`MemoryEngine::add_later`](crate::MemoryEngine::add_later): queue → claim → add → finish, or note the failure.
//!
//! Nothing here knows the engine: it [hosts](Host) the workers, which hold it only while they carry an add out.
//!
//! An add is carried out once. The first memory it writes has an id that the queue gave at the first claim, so whoever
//! claims it again sees in the history whether that was written, and [`Once`] stops whoever has lost the claim before it
//! writes. Finishing in the same transaction as the write would need one store for both; this works for any two.

mod once;
mod options;
mod wait;
mod workers;

use std::{
    collections::HashSet,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde::Serialize;
use tokio::sync::{RwLock, watch};

pub(crate) use once::Once;
pub use options::BackgroundOptions;
pub(crate) use workers::{Host, start};

use super::{AddContext, AddReport, AddRequest, admitted};
use crate::{
    AddQueue, CallId, Clock, Error, ErrorKind, Message, QueuedAdd, Result, Scope, Stage, Timestamp, types::truncate,
};

/// How often a flush looks whether other processes have come to an end. Its own workers tell it at once.
const FLUSH_POLL: Duration = Duration::from_millis(200);

/// What a flush found at its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlushReport {
    /// How many adds this engine has carried out since its last flush.
    pub done: u64,
    /// What lies in the queue as failed, of all scopes, in the order it was queued: also what failed earlier, or in
    /// another process. It stays there until it is retried or discarded.
    pub failed: Vec<QueuedAdd>,
}

type Observe = dyn Fn(&QueuedAdd, &Result<AddReport>) + Send + Sync;

/// What is told of each add that came to an end.
pub(crate) struct Observer(pub(crate) Box<Observe>);

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer(..)")
    }
}

/// The engine's end of the queue. When it is dropped, the workers end.
#[derive(Debug)]
pub(crate) struct Later(Arc<Shared>);

/// What engine and workers share.
#[derive(Debug)]
struct Shared {
    queue: Arc<dyn AddQueue>,
    options: BackgroundOptions,
    observer: Option<Observer>,
    clock: Arc<dyn Clock>,
    /// Held for reading from just before an add's write until it is out of the queue; for writing by whoever takes adds
    /// out of the queue, so that nothing of them is written afterwards.
    gate: Arc<RwLock<()>>,
    /// Changes when there may be something to claim.
    news: watch::Sender<u64>,
    /// Changes when an add has come to an end.
    ends: watch::Sender<u64>,
    /// Workers that live.
    workers: AtomicUsize,
    /// Held while one of them claims, so that another is not told to wait for what this one is about to be given.
    claiming: tokio::sync::Mutex<()>,
    /// What they are carrying out.
    running: Mutex<HashSet<CallId>>,
    done: AtomicU64,
    /// Why nothing could be claimed the last time.
    trouble: Mutex<Option<(ErrorKind, String)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is changed in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_queue(error: Error) -> Error {
    error.with_stage(Stage::Queue)
}

impl Later {
    pub(crate) fn new(
        queue: Arc<dyn AddQueue>,
        options: BackgroundOptions,
        observer: Option<Observer>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self(Arc::new(Shared {
            queue,
            options,
            observer,
            clock,
            gate: Arc::default(),
            news: watch::Sender::default(),
            ends: watch::Sender::default(),
            workers: AtomicUsize::new(0),
            claiming: tokio::sync::Mutex::default(),
            running: Mutex::default(),
            done: AtomicU64::new(0),
            trouble: Mutex::default(),
        }))
    }

    /// Queues an add, as it is now: a message without a time gets that of this call.
    pub(crate) async fn push(
        &self,
        context: &AddContext<'_>,
        scope: &Scope,
        request: &AddRequest,
    ) -> Result<QueuedAdd> {
        if request.dry_run {
            return Err(Error::invalid("a dry run cannot be queued: there is nobody to read its report"));
        }
        let now = truncate(self.0.clock.now());
        let mut request = admitted(context, scope, request)?.into_owned();
        request.messages.iter_mut().for_each(|message: &mut Message| {
            message.at.get_or_insert(now);
        });
        let json = serde_json::to_string(&request)
            .map_err(|cause| Error::invalid("the request cannot be written as JSON").with_source(cause))?;
        let add = QueuedAdd::new(CallId::new(now), scope.clone(), json, now);
        self.0.queue.push(&add, self.0.options.capacity).await.map_err(in_queue)?;
        self.0.tell_news();
        Ok(add)
    }

    /// Queues an add as it was in another queue.
    pub(crate) async fn restore(&self, add: &QueuedAdd) -> Result<()> {
        self.0.queue.push(add, self.0.options.capacity).await.map_err(in_queue)?;
        self.0.tell_news();
        Ok(())
    }

    /// Whether something waits, so that workers are wanted.
    pub(crate) async fn has_work(&self) -> Result<bool> {
        Ok(self.0.queue.unfinished_of_everyone().await.map_err(in_queue)? > 0)
    }

    pub(crate) async fn list(&self, scope: &Scope) -> Result<Vec<QueuedAdd>> {
        self.0.queue.list(scope).await.map_err(in_queue)
    }

    /// The scopes of everyone that have adds in the queue.
    pub(crate) async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        self.0.queue.scopes_of_everyone(after, limit).await.map_err(in_queue)
    }

    pub(crate) async fn retry(&self, scope: &Scope, id: CallId) -> Result<()> {
        let found = self.0.queue.retry(scope, id, self.now()).await.map_err(in_queue)?;
        self.0.tell_news();
        if found { Ok(()) } else { Err(not_found("no such add that has failed")) }
    }

    pub(crate) async fn discard(&self, scope: &Scope, id: CallId) -> Result<()> {
        let gate = self.0.gate.write().await;
        let found = self.0.queue.discard(scope, id).await.map_err(in_queue)?;
        drop(gate);
        self.0.tell_news();
        self.0.tell_end();
        if found { Ok(()) } else { Err(not_found("no such add")) }
    }

    /// Takes all adds of a scope out of the queue, and runs `then` before any other add of this engine can write.
    pub(crate) async fn erase<T>(&self, scope: &Scope, then: impl Future<Output = Result<T>>) -> Result<T> {
        let gate = self.0.gate.write().await;
        self.0.queue.erase(scope).await.map_err(in_queue)?;
        let result = then.await;
        drop(gate);
        self.0.tell_news();
        self.0.tell_end();
        result
    }

    /// Waits until nothing is waiting or running.
    pub(crate) async fn flush(&self) -> Result<FlushReport> {
        let mut ends = self.0.ends.subscribe();
        *lock(&self.0.trouble) = None;
        self.0.tell_news();
        loop {
            ends.mark_unchanged();
            if !self.has_work().await? && lock(&self.0.running).is_empty() {
                break;
            }
            if let Some((kind, message)) = lock(&self.0.trouble).take() {
                return Err(in_queue(Error::new(kind, format!("nothing can be claimed: {message}"))));
            }
            wait::first(wait::changed(&mut ends), tokio::time::sleep(FLUSH_POLL)).await;
        }
        let failed = self.0.queue.failed_of_everyone().await.map_err(in_queue)?;
        Ok(FlushReport { done: self.0.done.swap(0, Ordering::SeqCst), failed })
    }

    fn now(&self) -> Timestamp {
        truncate(self.0.clock.now())
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        self.0.tell_news();
    }
}

impl Shared {
    fn tell_news(&self) {
        self.news.send_modify(|number| *number = number.wrapping_add(1));
    }

    fn tell_end(&self) {
        self.ends.send_modify(|number| *number = number.wrapping_add(1));
    }
}

fn not_found(what: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("the scope has {what} in the queue"))
}

impl QueuedAdd {
    /// What is to be added.
    ///
    /// # Errors
    /// [`StoreCorrupt`](ErrorKind::StoreCorrupt) if it cannot be read, as what a newer version of this crate has queued.
    pub fn to_request(&self) -> Result<AddRequest> {
        serde_json::from_str(&self.request)
            .map_err(|cause| Error::new(ErrorKind::StoreCorrupt, "what is queued cannot be read").with_source(cause))
    }
}
