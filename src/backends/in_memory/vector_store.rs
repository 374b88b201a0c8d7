use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use async_trait::async_trait;

use super::{conversations::Conversations, queue::Queue, state::State};
use crate::{
    Candidate, Companions, Cursor, EmbedderIdentity, Filter, HistoryEvent, IndexKey, KeyPlace, ListOrder, ListQuery,
    Memory, MemoryId, Page, Purged, Reembedding, Result, Scope, SearchQuery, StagedVector, Stamp, StoreCapabilities,
    StoredKey, Timestamp, Validity, VectorStore, Verify, VerifyReport, Version, WriteBatch,
    index::{IndexCache, Terms, cues_of_batch},
};

/// Memories in the process: the reference for every other store, for tests and for short-lived programs. Clones share
/// the content.
///
/// ```
/// # use ingrain::{HashingEmbedder, InMemoryStore, MemoryEngine, Scope};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// let memory = MemoryEngine::builder().store(InMemoryStore::new()).embedder(HashingEmbedder::new(64)).build().await?;
/// memory.add_raw(&Scope::user("alice"), ["Owns a kayak"]).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct InMemoryStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: RwLock<State>,
    cache: IndexCache,
    queue: Queue,
    conversations: Conversations,
}

impl InMemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Inner {
            state: RwLock::default(),
            cache: IndexCache::new(usize::MAX),
            queue: Queue::default(),
            conversations: Conversations::default(),
        }))
    }

    pub(super) fn cache(&self) -> &IndexCache {
        &self.0.cache
    }

    /// How many messages of conversations and queued adds there are.
    pub(super) fn kept_besides(&self) -> (u64, u64) {
        (self.0.conversations.count(), self.0.queue.count())
    }

    // Checks come before changes everywhere in `State`, so a panic leaves nothing half done behind a poisoned lock.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for InMemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

fn admits(memory: &Memory, filter: Option<&Filter>, validity: Validity) -> bool {
    validity.admits(memory.valid_at, memory.invalid_at, memory.expires_at)
        && filter.is_none_or(|filter| filter.matches(memory))
}

#[async_trait]
impl VectorStore for InMemoryStore {
    fn name(&self) -> &'static str {
        "in_memory"
    }

    fn capabilities(&self) -> StoreCapabilities {
        StoreCapabilities { graph: true, guards: true, durable: false, surroundings: true, reembedding: true }
    }

    fn companions(&self) -> Companions {
        Companions::none()
            .with_queue(self.0.queue.clone())
            .with_graph(self.clone())
            .with_conversations(self.0.conversations.clone())
    }

    async fn bind(&self, embedder: &EmbedderIdentity) -> Result<()> {
        let mut state = self.write();
        match &state.embedder {
            None => state.embedder = Some(embedder.clone()),
            Some(bound) if bound == embedder => {}
            Some(bound) => return Err(bound.mismatch(embedder).with_backend("in_memory")),
        }
        Ok(())
    }

    async fn version(&self) -> Result<Version> {
        Ok(self.read().version)
    }

    async fn apply(&self, batch: WriteBatch) -> Result<Version> {
        let (terms, cues) = (Terms::of_batch(&batch), cues_of_batch(&batch));
        self.write().apply(batch, terms, cues).map_err(|error| error.with_backend("in_memory"))
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        scope.validate()?;
        let state = self.read();
        Ok(ids.iter().filter_map(|id| state.get(scope, *id)).cloned().collect())
    }

    async fn keys(&self, scope: &Scope, id: MemoryId) -> Result<Vec<IndexKey>> {
        scope.validate()?;
        Ok(self.read().keys(scope, id))
    }

    async fn begin_reembedding(&self, target: &EmbedderIdentity) -> Result<Reembedding> {
        Ok(self.write().begin_reembedding(target))
    }

    async fn unstaged_keys_of_everyone(
        &self,
        target: &EmbedderIdentity,
        after: Option<KeyPlace>,
        limit: usize,
    ) -> Result<Vec<StoredKey>> {
        self.read().unstaged_keys(target, after, limit).map_err(|error| error.with_backend("in_memory"))
    }

    async fn stage_vectors(&self, target: &EmbedderIdentity, vectors: Vec<StagedVector>) -> Result<u64> {
        self.write().stage(target, vectors).map_err(|error| error.with_backend("in_memory"))
    }

    async fn swap_vectors(&self, target: &EmbedderIdentity) -> Result<bool> {
        self.write().swap_vectors(target).map_err(|error| error.with_backend("in_memory"))
    }

    async fn search(&self, query: &SearchQuery) -> Result<Vec<Candidate>> {
        let index = {
            let state = self.read();
            query.validate(state.embedder.as_ref())?;
            if state.embedder.is_none() {
                // Nothing was ever written, and an index would not know its width.
                return Ok(Vec::new());
            }
            self.0.cache.index(&query.scope, &&*state)?
        };
        self.0.cache.search(&index, query)
    }

    async fn list(&self, query: &ListQuery) -> Result<Page<Memory>> {
        let after = query.validate()?;
        let state = self.read();
        let admitted = |memory: &&Memory| admits(memory, query.filter.as_ref(), query.validity);
        let total = state.iter(&query.scope, ListOrder::OldestFirst, None).filter(admitted).count() as u64;
        let mut rest = state.iter(&query.scope, query.order, after).filter(admitted);
        let items: Vec<Memory> = rest.by_ref().take(query.limit).cloned().collect();
        let next = rest.next().and(items.last()).map(|last| Cursor::after(last.id));
        Ok(Page::new(items, next, total))
    }

    async fn count(&self, scope: &Scope, filter: Option<&Filter>, validity: Validity) -> Result<u64> {
        scope.validate()?;
        filter.map_or(Ok(()), Filter::validate)?;
        let state = self.read();
        let all = state.iter(scope, ListOrder::OldestFirst, None);
        Ok(all.filter(|memory| admits(memory, filter, validity)).count() as u64)
    }

    async fn history(&self, scope: &Scope, id: MemoryId) -> Result<Vec<HistoryEvent>> {
        scope.validate()?;
        Ok(self.read().history(scope, id))
    }

    async fn removed(&self, scope: &Scope, after: Option<MemoryId>, limit: usize) -> Result<Vec<MemoryId>> {
        scope.validate()?;
        Ok(self.read().removed(scope, after, limit))
    }

    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        after.map_or(Ok(()), Scope::validate)?;
        Ok(self.read().scopes.after(after, limit))
    }

    async fn delete_all(&self, scope: &Scope, stamp: &Stamp) -> Result<u64> {
        scope.validate()?;
        Ok(self.write().delete_all(scope, stamp))
    }

    async fn purge_all(&self, scope: &Scope) -> Result<Purged> {
        scope.validate()?;
        Ok(self.write().purge_all(scope))
    }

    async fn scrub(&self) -> Result<()> {
        Ok(())
    }

    async fn verify(&self, request: &Verify) -> Result<VerifyReport> {
        self.verified(request)
    }

    async fn record_access(&self, scope: &Scope, ids: &[MemoryId], at: Timestamp) -> Result<()> {
        scope.validate()?;
        self.write().record_access(scope, ids, at);
        Ok(())
    }
}
