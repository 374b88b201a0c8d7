//! A store as one engine sees it: every write and every vector search says whose vectors they hold.
//!
//! Binding once is not enough. While an engine is open, its store may be [embedded anew](crate::Reembed) by another, and
//! vectors of the same width would mix unseen.

use std::sync::Arc;

use crate::{
    Candidate, Companions, EmbedderIdentity, Filter, HistoryEvent, IndexKey, KeyPlace, ListQuery, Memory, MemoryId,
    Page, Purged, Reembedding, Result, Scope, SearchQuery, StagedVector, Stamp, StoreCapabilities, StoredKey,
    Timestamp, Validity, VectorStore, Verify, VerifyReport, Version, WriteBatch, async_trait,
};

#[derive(Debug)]
pub(super) struct BoundStore {
    store: Arc<dyn VectorStore>,
    embedder: EmbedderIdentity,
}

impl BoundStore {
    /// Binds the store, which refuses an embedder that has not filled it.
    pub(super) async fn bind(store: Arc<dyn VectorStore>, embedder: EmbedderIdentity) -> Result<Self> {
        store.bind(&embedder).await?;
        Ok(Self { store, embedder })
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl VectorStore for BoundStore {
    fn name(&self) -> &str {
        self.store.name()
    }

    fn capabilities(&self) -> StoreCapabilities {
        self.store.capabilities()
    }

    fn companions(&self) -> Companions {
        self.store.companions()
    }

    async fn bind(&self, embedder: &EmbedderIdentity) -> Result<()> {
        self.store.bind(embedder).await
    }

    async fn version(&self) -> Result<Version> {
        self.store.version().await
    }

    async fn apply(&self, mut batch: WriteBatch) -> Result<Version> {
        batch.embedder = Some(self.embedder.clone());
        self.store.apply(batch).await
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        self.store.get(scope, ids).await
    }

    async fn keys(&self, scope: &Scope, id: MemoryId) -> Result<Vec<IndexKey>> {
        self.store.keys(scope, id).await
    }

    async fn begin_reembedding(&self, target: &EmbedderIdentity) -> Result<Reembedding> {
        self.store.begin_reembedding(target).await
    }

    async fn unstaged_keys_of_everyone(
        &self,
        target: &EmbedderIdentity,
        after: Option<KeyPlace>,
        limit: usize,
    ) -> Result<Vec<StoredKey>> {
        self.store.unstaged_keys_of_everyone(target, after, limit).await
    }

    async fn stage_vectors(&self, target: &EmbedderIdentity, vectors: Vec<StagedVector>) -> Result<u64> {
        self.store.stage_vectors(target, vectors).await
    }

    async fn swap_vectors(&self, target: &EmbedderIdentity) -> Result<bool> {
        self.store.swap_vectors(target).await
    }

    async fn search(&self, query: &SearchQuery) -> Result<Vec<Candidate>> {
        if query.vector.is_none() {
            return self.store.search(query).await;
        }
        // Before it is copied: a filter too deep to copy is told, not followed.
        query.validate(None)?;
        let query = SearchQuery { embedder: Some(self.embedder.clone()), ..query.clone() };
        self.store.search(&query).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Page<Memory>> {
        self.store.list(query).await
    }

    async fn count(&self, scope: &Scope, filter: Option<&Filter>, validity: Validity) -> Result<u64> {
        self.store.count(scope, filter, validity).await
    }

    async fn history(&self, scope: &Scope, id: MemoryId) -> Result<Vec<HistoryEvent>> {
        self.store.history(scope, id).await
    }

    async fn removed(&self, scope: &Scope, after: Option<MemoryId>, limit: usize) -> Result<Vec<MemoryId>> {
        self.store.removed(scope, after, limit).await
    }

    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        self.store.scopes_of_everyone(after, limit).await
    }

    async fn delete_all(&self, scope: &Scope, stamp: &Stamp) -> Result<u64> {
        self.store.delete_all(scope, stamp).await
    }

    async fn purge_all(&self, scope: &Scope) -> Result<Purged> {
        self.store.purge_all(scope).await
    }

    async fn scrub(&self) -> Result<()> {
        self.store.scrub().await
    }

    async fn verify(&self, request: &Verify) -> Result<VerifyReport> {
        self.store.verify(request).await
    }

    async fn record_access(&self, scope: &Scope, ids: &[MemoryId], at: Timestamp) -> Result<()> {
        self.store.record_access(scope, ids, at).await
    }
}
