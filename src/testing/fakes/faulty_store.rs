use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
};

use async_trait::async_trait;

use super::{faulty_conversations::FaultyConversations, faulty_graph::FaultyGraph};
use crate::{
    AddFailure, AddQueue, CallId, Candidate, Claim, Claimed, Companions, EmbedderIdentity, Error, ErrorKind, Filter,
    HistoryEvent, IndexKey, KeyPlace, ListQuery, Memory, MemoryId, Page, Purged, QueuedAdd, Reembedding, Result, Scope,
    SearchQuery, StagedVector, Stamp, StoreCapabilities, StoredKey, Timestamp, Validity, VectorStore, Verify,
    VerifyReport, Version, WriteBatch,
};

/// A [`VectorStore`], and a [`GraphStore`](crate::GraphStore) if the store inside is one, that fails when told to, and
/// otherwise hands every call to the store inside. Its [companions](VectorStore::companions) fail with it.
///
/// Put it in an `Arc` to keep hold of the switch while an engine uses the store.
///
/// ```
/// # use std::sync::Arc;
/// # use ingrain::{ErrorKind, InMemoryStore, VectorStore, testing::FaultyStore};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = Arc::new(FaultyStore::new(InMemoryStore::new()));
/// store.stop();
/// assert!(store.version().await.is_err_and(|error| error.kind() == ErrorKind::StoreUnavailable));
/// store.start();
/// assert!(store.version().await.is_ok());
/// # }); Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FaultyStore<S> {
    pub(super) inner: S,
    alone: bool,
    pub(super) switch: Switch,
}

/// What the store and its companions share.
#[derive(Debug, Clone)]
pub(super) struct Switch(Arc<State>);

#[derive(Debug)]
pub(super) struct State {
    name: String,
    failing_writes: AtomicU64,
    stopped: AtomicBool,
    /// How many calls come before the one that fails; below 0 none will.
    before: AtomicI64,
    /// The same for the call whose answer is lost.
    unheard: AtomicI64,
}

impl Switch {
    fn unavailable(&self, message: &str) -> Error {
        Error::new(ErrorKind::StoreUnavailable, message).with_backend(&self.0.name)
    }

    /// Whether the call that is being made is the one that is counted down to.
    fn is_now(count: &AtomicI64) -> bool {
        count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (left >= 0).then(|| left - 1)) == Ok(0)
    }

    pub(super) async fn call<T>(&self, inner: impl Future<Output = Result<T>>) -> Result<T> {
        if self.0.stopped.load(Ordering::SeqCst) {
            return Err(self.unavailable("the store is stopped"));
        }
        let unheard = Self::is_now(&self.0.unheard);
        if Self::is_now(&self.0.before) {
            return Err(self.unavailable("the call was told to fail"));
        }
        let answer = inner.await?;
        if unheard { Err(self.unavailable("the answer was told to be lost")) } else { Ok(answer) }
    }
}

impl Switch {
    pub(super) async fn write<T>(&self, inner: impl Future<Output = Result<T>>) -> Result<T> {
        let fails = |left: u64| left.checked_sub(1);
        let write = async {
            if self.0.failing_writes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails).is_ok() {
                return Err(self.unavailable("the write was told to fail"));
            }
            inner.await
        };
        self.call(write).await
    }
}

impl<S: VectorStore> FaultyStore<S> {
    /// Wraps a store. At first nothing fails.
    #[must_use]
    pub fn new(inner: S) -> Self {
        let state = State {
            name: inner.name().to_owned(),
            failing_writes: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            before: AtomicI64::new(-1),
            unheard: AtomicI64::new(-1),
        };
        Self { inner, alone: false, switch: Switch(Arc::new(state)) }
    }

    /// Hides the companions of the store inside, as if it kept memories alone.
    #[must_use]
    pub fn without_companions(mut self) -> Self {
        self.alone = true;
        self
    }

    /// From now on every call that can fail does so with [`ErrorKind::StoreUnavailable`], as if the server was gone.
    pub fn stop(&self) {
        self.switch.0.stopped.store(true, Ordering::SeqCst);
    }

    /// Ends what [`stop`](FaultyStore::stop) began, and calls off failures that are still
    /// [to come](FaultyStore::is_failure_to_come); the store inside holds what it held.
    pub fn start(&self) {
        self.switch.0.stopped.store(false, Ordering::SeqCst);
        self.switch.0.before.store(-1, Ordering::SeqCst);
        self.switch.0.unheard.store(-1, Ordering::SeqCst);
    }

    /// The next `count` calls of [`apply`](VectorStore::apply) or [`apply_graph`](crate::GraphStore::apply_graph) fail
    /// with [`ErrorKind::StoreUnavailable`] before they reach the store inside.
    pub fn fail_next_writes(&self, count: u64) {
        self.switch.0.failing_writes.store(count, Ordering::SeqCst);
    }

    /// After so many more calls, of the store and its companions, one fails before it reaches the store inside.
    pub fn fail_call_after(&self, calls: u32) {
        self.switch.0.before.store(calls.into(), Ordering::SeqCst);
    }

    /// After so many more calls, of the store and its companions, one is carried out, but fails all the same: its answer
    /// is lost.
    pub fn lose_answer_after(&self, calls: u32) {
        self.switch.0.unheard.store(calls.into(), Ordering::SeqCst);
    }

    /// Whether a failure that was told to [come later](FaultyStore::fail_call_after) is still to come.
    #[must_use]
    pub fn is_failure_to_come(&self) -> bool {
        [&self.switch.0.before, &self.switch.0.unheard].iter().any(|count| count.load(Ordering::SeqCst) >= 0)
    }

    /// The store inside.
    #[must_use]
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: VectorStore> VectorStore for FaultyStore<S> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn capabilities(&self) -> StoreCapabilities {
        self.inner.capabilities()
    }

    fn companions(&self) -> Companions {
        if self.alone {
            return Companions::none();
        }
        let mut companions = self.inner.companions();
        if let Some(inner) = companions.queue.take() {
            companions = companions.with_queue(FaultyQueue { inner, switch: self.switch.clone() });
        }
        if let Some(inner) = companions.graph.take() {
            companions = companions.with_graph(FaultyGraph { inner, switch: self.switch.clone() });
        }
        if let Some(inner) = companions.conversations.take() {
            companions = companions.with_conversations(FaultyConversations { inner, switch: self.switch.clone() });
        }
        companions
    }

    async fn bind(&self, embedder: &EmbedderIdentity) -> Result<()> {
        self.switch.call(self.inner.bind(embedder)).await
    }

    async fn version(&self) -> Result<Version> {
        self.switch.call(self.inner.version()).await
    }

    async fn apply(&self, batch: WriteBatch) -> Result<Version> {
        self.switch.write(self.inner.apply(batch)).await
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        self.switch.call(self.inner.get(scope, ids)).await
    }

    async fn keys(&self, scope: &Scope, id: MemoryId) -> Result<Vec<IndexKey>> {
        self.switch.call(self.inner.keys(scope, id)).await
    }

    async fn begin_reembedding(&self, target: &EmbedderIdentity) -> Result<Reembedding> {
        self.switch.call(self.inner.begin_reembedding(target)).await
    }

    async fn unstaged_keys_of_everyone(
        &self,
        target: &EmbedderIdentity,
        after: Option<KeyPlace>,
        limit: usize,
    ) -> Result<Vec<StoredKey>> {
        self.switch.call(self.inner.unstaged_keys_of_everyone(target, after, limit)).await
    }

    async fn stage_vectors(&self, target: &EmbedderIdentity, vectors: Vec<StagedVector>) -> Result<u64> {
        self.switch.call(self.inner.stage_vectors(target, vectors)).await
    }

    async fn swap_vectors(&self, target: &EmbedderIdentity) -> Result<bool> {
        self.switch.call(self.inner.swap_vectors(target)).await
    }

    async fn search(&self, query: &SearchQuery) -> Result<Vec<Candidate>> {
        self.switch.call(self.inner.search(query)).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Page<Memory>> {
        self.switch.call(self.inner.list(query)).await
    }

    async fn count(&self, scope: &Scope, filter: Option<&Filter>, validity: Validity) -> Result<u64> {
        self.switch.call(self.inner.count(scope, filter, validity)).await
    }

    async fn history(&self, scope: &Scope, id: MemoryId) -> Result<Vec<HistoryEvent>> {
        self.switch.call(self.inner.history(scope, id)).await
    }

    async fn removed(&self, scope: &Scope, after: Option<MemoryId>, limit: usize) -> Result<Vec<MemoryId>> {
        self.switch.call(self.inner.removed(scope, after, limit)).await
    }

    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        self.switch.call(self.inner.scopes_of_everyone(after, limit)).await
    }

    async fn delete_all(&self, scope: &Scope, stamp: &Stamp) -> Result<u64> {
        self.switch.call(self.inner.delete_all(scope, stamp)).await
    }

    async fn purge_all(&self, scope: &Scope) -> Result<Purged> {
        self.switch.call(self.inner.purge_all(scope)).await
    }

    async fn scrub(&self) -> Result<()> {
        self.switch.call(self.inner.scrub()).await
    }

    async fn verify(&self, request: &Verify) -> Result<VerifyReport> {
        self.switch.call(self.inner.verify(request)).await
    }

    async fn record_access(&self, scope: &Scope, ids: &[MemoryId], at: Timestamp) -> Result<()> {
        self.switch.call(self.inner.record_access(scope, ids, at)).await
    }
}

/// The queue of a [`FaultyStore`].
#[derive(Debug)]
struct FaultyQueue {
    inner: Arc<dyn AddQueue>,
    switch: Switch,
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl AddQueue for FaultyQueue {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn push(&self, add: &QueuedAdd, capacity: usize) -> Result<()> {
        self.switch.call(self.inner.push(add, capacity)).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Claimed> {
        self.switch.call(self.inner.claim(claim)).await
    }

    async fn renew(&self, id: CallId, attempt: u32, until: Timestamp) -> Result<bool> {
        self.switch.call(self.inner.renew(id, attempt, until)).await
    }

    async fn finish(&self, id: CallId) -> Result<bool> {
        self.switch.call(self.inner.finish(id)).await
    }

    async fn fail(&self, id: CallId, attempt: u32, failure: &AddFailure, again_at: Option<Timestamp>) -> Result<bool> {
        self.switch.call(self.inner.fail(id, attempt, failure, again_at)).await
    }

    async fn list(&self, scope: &Scope) -> Result<Vec<QueuedAdd>> {
        self.switch.call(self.inner.list(scope)).await
    }

    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        self.switch.call(self.inner.scopes_of_everyone(after, limit)).await
    }

    async fn unfinished_of_everyone(&self) -> Result<u64> {
        self.switch.call(self.inner.unfinished_of_everyone()).await
    }

    async fn failed_of_everyone(&self) -> Result<Vec<QueuedAdd>> {
        self.switch.call(self.inner.failed_of_everyone()).await
    }

    async fn retry(&self, scope: &Scope, id: CallId, now: Timestamp) -> Result<bool> {
        self.switch.call(self.inner.retry(scope, id, now)).await
    }

    async fn discard(&self, scope: &Scope, id: CallId) -> Result<bool> {
        self.switch.call(self.inner.discard(scope, id)).await
    }

    async fn erase(&self, scope: &Scope) -> Result<u64> {
        self.switch.call(self.inner.erase(scope)).await
    }
}
