use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;

use crate::{
    Candidate, Cursor, Direction, EmbedderIdentity, Entity, EntityId, Error, ErrorKind, Filter, GraphBatch, GraphQuery,
    GraphStore, HistoryEvent, IndexKey, ListQuery, Memory, MemoryId, Page, Path, Relation, Result, Scope, SearchQuery,
    Stamp, StoreCapabilities, Timestamp, Validity, VectorStore, Version, WriteBatch,
};

/// A [`VectorStore`], and a [`GraphStore`] if the store inside is one, that fails when told to, and otherwise hands every
/// call to the store inside.
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
    inner: S,
    stopped: AtomicBool,
    failing_writes: AtomicU64,
}

impl<S: VectorStore> FaultyStore<S> {
    /// Wraps a store. At first nothing fails.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self { inner, stopped: AtomicBool::new(false), failing_writes: AtomicU64::new(0) }
    }

    /// From now on every call that can fail does so with [`ErrorKind::StoreUnavailable`], as if the server was gone.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// Ends what [`stop`](FaultyStore::stop) began; the store inside holds what it held.
    pub fn start(&self) {
        self.stopped.store(false, Ordering::SeqCst);
    }

    /// The next `count` calls of [`apply`](VectorStore::apply) or [`apply_graph`](GraphStore::apply_graph) fail with
    /// [`ErrorKind::StoreUnavailable`] before they reach the store inside.
    pub fn fail_next_writes(&self, count: u64) {
        self.failing_writes.store(count, Ordering::SeqCst);
    }

    /// The store inside.
    #[must_use]
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn reach(&self) -> Result<&S> {
        if self.stopped.load(Ordering::SeqCst) {
            return Err(self.unavailable("the store is stopped"));
        }
        Ok(&self.inner)
    }

    fn reach_to_write(&self) -> Result<&S> {
        let inner = self.reach()?;
        let fails = |left: u64| left.checked_sub(1);
        if self.failing_writes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails).is_ok() {
            return Err(self.unavailable("the write was told to fail"));
        }
        Ok(inner)
    }

    fn unavailable(&self, message: &str) -> Error {
        Error::new(ErrorKind::StoreUnavailable, message).with_backend(self.inner.name())
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

    async fn bind(&self, embedder: &EmbedderIdentity) -> Result<()> {
        self.reach()?.bind(embedder).await
    }

    async fn version(&self) -> Result<Version> {
        self.reach()?.version().await
    }

    async fn apply(&self, batch: WriteBatch) -> Result<Version> {
        self.reach_to_write()?.apply(batch).await
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        self.reach()?.get(scope, ids).await
    }

    async fn keys(&self, scope: &Scope, id: MemoryId) -> Result<Vec<IndexKey>> {
        self.reach()?.keys(scope, id).await
    }

    async fn search(&self, query: &SearchQuery) -> Result<Vec<Candidate>> {
        self.reach()?.search(query).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Page<Memory>> {
        self.reach()?.list(query).await
    }

    async fn count(&self, scope: &Scope, filter: Option<&Filter>, validity: Validity) -> Result<u64> {
        self.reach()?.count(scope, filter, validity).await
    }

    async fn history(&self, scope: &Scope, id: MemoryId) -> Result<Vec<HistoryEvent>> {
        self.reach()?.history(scope, id).await
    }

    async fn delete_all(&self, scope: &Scope, stamp: &Stamp) -> Result<u64> {
        self.reach()?.delete_all(scope, stamp).await
    }

    async fn record_access(&self, scope: &Scope, ids: &[MemoryId], at: Timestamp) -> Result<()> {
        self.reach()?.record_access(scope, ids, at).await
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: VectorStore + GraphStore> GraphStore for FaultyStore<S> {
    fn name(&self) -> &str {
        GraphStore::name(&self.inner)
    }

    async fn apply_graph(&self, batch: &GraphBatch) -> Result<()> {
        self.reach_to_write()?.apply_graph(batch).await
    }

    async fn entities(&self, scope: &Scope, ids: &[EntityId]) -> Result<Vec<Entity>> {
        self.reach()?.entities(scope, ids).await
    }

    async fn find_entities(&self, scope: &Scope, name: &str, limit: usize) -> Result<Vec<(Entity, f32)>> {
        self.reach()?.find_entities(scope, name, limit).await
    }

    async fn named(&self, scope: &Scope, names: &[String]) -> Result<Vec<Entity>> {
        self.reach()?.named(scope, names).await
    }

    async fn relations_at(
        &self,
        scope: &Scope,
        entities: &[EntityId],
        direction: Direction,
        query: &GraphQuery,
    ) -> Result<Vec<Relation>> {
        self.reach()?.relations_at(scope, entities, direction, query).await
    }

    async fn list_entities(&self, scope: &Scope, after: Option<&Cursor>, limit: usize) -> Result<Page<Entity>> {
        self.reach()?.list_entities(scope, after, limit).await
    }

    async fn list_relations(
        &self,
        scope: &Scope,
        query: &GraphQuery,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Relation>> {
        self.reach()?.list_relations(scope, query, after, limit).await
    }

    async fn relations_of(&self, scope: &Scope, memories: &[MemoryId]) -> Result<Vec<Relation>> {
        self.reach()?.relations_of(scope, memories).await
    }

    async fn neighbours(
        &self,
        scope: &Scope,
        start: &[EntityId],
        depth: usize,
        direction: Direction,
        query: &GraphQuery,
    ) -> Result<Vec<Path>> {
        self.reach()?.neighbours(scope, start, depth, direction, query).await
    }

    async fn path(
        &self,
        scope: &Scope,
        from: EntityId,
        to: EntityId,
        depth: usize,
        query: &GraphQuery,
    ) -> Result<Option<Path>> {
        self.reach()?.path(scope, from, to, depth, query).await
    }

    async fn graph_counts(&self, scope: &Scope) -> Result<(u64, u64)> {
        self.reach()?.graph_counts(scope).await
    }

    async fn delete_graph(&self, scope: &Scope) -> Result<(u64, u64)> {
        self.reach()?.delete_graph(scope).await
    }
}
