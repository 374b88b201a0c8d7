mod read;
mod reembed;
#[cfg(feature = "sqlite")]
mod restore;
mod verify;
mod write;

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;

pub use read::{Attributes, Candidate, ListOrder, ListQuery, SearchQuery, Surroundings};
pub(crate) use reembed::is_under_way;
pub use reembed::{KeyPlace, Reembedding, StagedVector, StoredKey};
#[cfg(feature = "sqlite")]
pub(crate) use restore::{KeptKey, KeyRestorer, LeftKeys};
pub use verify::{Problem, ProblemKind, ProblemPlace, Verify, VerifyCounts, VerifyProgress, VerifyReport};
pub(crate) use write::check_memory;
pub use write::{Expect, IndexKey, Purged, Put, Unchanged, WriteBatch};

use crate::{
    AddQueue, ConversationStore, EmbedderIdentity, Filter, GraphStore, HistoryEvent, Memory, MemoryId, Page, Result,
    Scope, Stamp, Timestamp, Validity,
};

/// What a store can do beyond the contract that all share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreCapabilities {
    /// Is also the graph store, and applies [`WriteBatch::graph`] in the same transaction.
    pub graph: bool,
    /// Honours [`WriteBatch::unchanged`] and [`Expect::Revision`].
    pub guards: bool,
    /// Keeps what it was given when the process ends.
    pub durable: bool,
    /// Tells the [`Surroundings`] of turns, and proposes turns for theirs.
    pub surroundings: bool,
    /// Can change its embedder while it is filled, from [`VectorStore::begin_reembedding`] to
    /// [`VectorStore::swap_vectors`].
    pub reembedding: bool,
}

/// What a store keeps besides memories.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Companions {
    /// Keeps adds until they are carried out, as durably as the store keeps memories.
    pub queue: Option<Arc<dyn AddQueue>>,
    /// Keeps the graph. A store with the capability `graph` hands itself out.
    pub graph: Option<Arc<dyn GraphStore>>,
    /// Keeps conversations, as durably as the store keeps memories, but not in one write with them.
    pub conversations: Option<Arc<dyn ConversationStore>>,
}

impl Companions {
    /// None.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// With a queue. Default none.
    #[must_use]
    pub fn with_queue(mut self, queue: impl AddQueue) -> Self {
        self.queue = Some(Arc::new(queue));
        self
    }

    /// With a graph. Default none.
    #[must_use]
    pub fn with_graph(mut self, graph: impl GraphStore) -> Self {
        self.graph = Some(Arc::new(graph));
        self
    }

    /// With conversations. Default none.
    #[must_use]
    pub fn with_conversations(mut self, conversations: impl ConversationStore) -> Self {
        self.conversations = Some(Arc::new(conversations));
        self
    }
}

/// A state of a store: grows with every write to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// Keeps memories, their keys and their history, and finds them again.
///
/// The contract, which the suite `vector_store_suite!` of the `testing` module checks:
///
/// - **Scopes are apart.** A read sees the memories its scope covers and no others; strangers' memories have no
///   influence on order, similarity, statistics or totals. A bad scope is refused before anything is read.
/// - **Writes are whole.** [`apply`](VectorStore::apply) does all of a batch, history included, or nothing; when it
///   has returned, every read that begins later sees it, from every handle on the same store. Cancelling the future
///   leaves the batch applied or not, never half.
/// - **Turns know their place.** A new episode without an ordinal gets the one after the greatest that an episode was
///   given in exactly the same scope, or 0. Once given, a place is not given again, until the scope is emptied.
/// - **Orders are total.** The vector arm proposes by cosine, the keyword arm by keyword similarity, equals by id, the
///   newer first; lists go by id.
/// - **An outage is an error**, never an empty result.
/// - Texts and metadata come back byte for byte; times to the microsecond.
/// - **Vectors of two embedders never mix.** What a batch or a query says of [its embedder](WriteBatch::embedder) is held
///   against the one the store is bound to in the very transaction that writes or reads, since that may have changed.
#[async_trait]
pub trait VectorStore: Debug + Send + Sync + 'static {
    /// Names the backend, such as `sqlite`.
    fn name(&self) -> &str;

    /// What it can do beyond the contract. Constant.
    fn capabilities(&self) -> StoreCapabilities;

    /// What it keeps besides memories, on the same data: two calls give handles on the same. Default: nothing.
    fn companions(&self) -> Companions {
        Companions::none()
    }

    /// Binds the store to an embedder. A store that holds nothing yet takes the identity over; one that was bound
    /// before checks it; [`swap_vectors`](VectorStore::swap_vectors) changes it. To be called before the first write with keys; calling it again is free.
    ///
    /// # Errors
    /// [`EmbedderMismatch`](crate::ErrorKind::EmbedderMismatch), naming both embedders and widths; nothing was
    /// changed. [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn bind(&self, embedder: &EmbedderIdentity) -> Result<()>;

    /// The present version. Read it before what a plan rests on, and guard the write with it.
    ///
    /// # Errors
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn version(&self) -> Result<Version>;

    /// Applies a batch and returns the version it made. An empty batch changes nothing.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument): a bad scope, an id twice, a new memory without keys;
    /// [`EmbedderMismatch`](crate::ErrorKind::EmbedderMismatch): a vector of the wrong width, or a store not bound;
    /// [`Conflict`](crate::ErrorKind::Conflict): an [`Expect`], a delete or the guard does not hold, or an event tells of a
    /// memory that is, or was, under another scope;
    /// [`Unsupported`](crate::ErrorKind::Unsupported): a part the capabilities do not have;
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable). In every case nothing was written.
    async fn apply(&self, batch: WriteBatch) -> Result<Version>;

    /// Memories by id, in the order asked for; those the scope does not cover are left out, as if they were not there.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a bad scope;
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>>;

    /// The keys a memory is found by, in the order they were given; none for a memory that the scope does not cover. For
    /// whoever takes one of several keys away without making the others anew.
    ///
    /// # Errors
    /// As [`get`](VectorStore::get).
    async fn keys(&self, scope: &Scope, id: MemoryId) -> Result<Vec<IndexKey>>;

    /// Begins to change the embedder of a filled store to `target`, or takes that up where it was left, and says how far it
    /// has come. Vectors that were staged for another embedder are discarded; with the embedder that the store is bound to,
    /// that is all that happens. Nothing that is read or searched changes.
    ///
    /// An administrative step, as the three that follow: it goes over all scopes. [`Reembed`](crate::Reembed) takes all
    /// four.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) without the capability `reembedding`;
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn begin_reembedding(&self, target: &EmbedderIdentity) -> Result<Reembedding> {
        reembed::unsupported(self.name(), target)
    }

    /// Keys that have no vector staged for `target`, of all scopes, in the order of their places: those after `after`, at
    /// most `limit`. None for a store that is bound to `target` already.
    ///
    /// # Errors
    /// As [`begin_reembedding`](VectorStore::begin_reembedding); [`Conflict`](crate::ErrorKind::Conflict) if the change
    /// to `target` was not begun, or another was begun since.
    async fn unstaged_keys_of_everyone(
        &self,
        target: &EmbedderIdentity,
        after: Option<KeyPlace>,
        limit: usize,
    ) -> Result<Vec<StoredKey>> {
        let _ = (after, limit);
        reembed::unsupported(self.name(), target)
    }

    /// Keeps vectors beside those in use, as durably as memories, all or none, and says how many. Passed over are keys that
    /// are gone, have another text by now, or a staged vector. A staged vector goes with its key. Does nothing in a store
    /// that is bound to `target` already.
    ///
    /// # Errors
    /// As [`unstaged_keys_of_everyone`](VectorStore::unstaged_keys_of_everyone);
    /// [`EmbedderMismatch`](crate::ErrorKind::EmbedderMismatch) for a vector of another width than `target` has,
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a number that is not finite. Nothing was staged then.
    async fn stage_vectors(&self, target: &EmbedderIdentity, vectors: Vec<StagedVector>) -> Result<u64> {
        drop(vectors);
        reembed::unsupported(self.name(), target)
    }

    /// If every key has a staged vector: puts these in the place of the vectors in use and binds the store to `target`, in
    /// one write, and says `true`; also where that was done before. `false`, and nothing changed, if a key has none.
    ///
    /// Memories, their revisions and their history stay as they are. It makes a new version, and what was planned from an
    /// earlier one is a conflict; indexes of whatever handle are built anew.
    ///
    /// # Errors
    /// As [`unstaged_keys_of_everyone`](VectorStore::unstaged_keys_of_everyone).
    async fn swap_vectors(&self, target: &EmbedderIdentity) -> Result<bool> {
        reembed::unsupported(self.name(), target)
    }

    /// The candidates for a query: at most `limit` of each arm and, with both arms and the capability `surroundings`,
    /// as many turns for theirs; each memory once, in id order.
    ///
    /// # Errors
    /// As [`get`](VectorStore::get); also for a bad filter, and
    /// [`EmbedderMismatch`](crate::ErrorKind::EmbedderMismatch) for a vector of the wrong width.
    async fn search(&self, query: &SearchQuery) -> Result<Vec<Candidate>>;

    /// One page of a list. Walking the pages meets every memory that is there all the while exactly once, whatever is
    /// written meanwhile.
    ///
    /// # Errors
    /// As [`get`](VectorStore::get); also for a bad filter, a cursor that is none, and a limit of 0.
    async fn list(&self, query: &ListQuery) -> Result<Page<Memory>>;

    /// How many memories a list would have, on all pages.
    ///
    /// # Errors
    /// As [`list`](VectorStore::list).
    async fn count(&self, scope: &Scope, filter: Option<&Filter>, validity: Validity) -> Result<u64>;

    /// What happened to a memory, oldest first, also after it was removed; empty for one the scope never had.
    ///
    /// # Errors
    /// As [`get`](VectorStore::get).
    async fn history(&self, scope: &Scope, id: MemoryId) -> Result<Vec<HistoryEvent>>;

    /// Memories that the scope once covered and that are there no more, but have a history: those with an id above `after`,
    /// by id, at most `limit`.
    ///
    /// # Errors
    /// As [`get`](VectorStore::get).
    async fn removed(&self, scope: &Scope, after: Option<MemoryId>, limit: usize) -> Result<Vec<MemoryId>>;

    /// The scopes that memories are stored in, or were and have a history, of everyone: exactly as they were stored, with the
    /// session, each once, in order (by user, agent and session, byte for byte, what is not named first); those after `after`,
    /// which need not be one of them, at most `limit`. A scope is there until all of it is purged.
    ///
    /// For whoever runs the application, and no answer to any of its users. It is read along an index: a page costs what it
    /// has, however many memories lie in between. Walking the pages meets every scope that is there all the while.
    ///
    /// # Errors
    /// As [`get`](VectorStore::get).
    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>>;

    /// Removes every memory the scope covers, also those that no longer hold, writes a
    /// [`Delete`](crate::EventKind::Delete) event for each, and says how many there were. Whole or not at all. A store
    /// with the capability `graph` removes the scope's graph too ([`GraphStore::delete_graph`](crate::GraphStore)); what
    /// other [companions](VectorStore::companions) keep stays.
    ///
    /// # Errors
    /// As [`get`](VectorStore::get).
    async fn delete_all(&self, scope: &Scope, stamp: &Stamp) -> Result<u64>;

    /// Removes every memory the scope covers and every trace of those it ever covered: history, also of what was removed
    /// before, places of turns and, with the capability `graph`, the scope's graph. No event tells of it. Whole or not at
    /// all; a write that was planned before it is a conflict. What other [companions](VectorStore::companions) keep stays.
    ///
    /// Bytes may be left in what lies free in files until [`scrub`](VectorStore::scrub).
    ///
    /// # Errors
    /// As [`get`](VectorStore::get).
    async fn purge_all(&self, scope: &Scope) -> Result<Purged>;

    /// Leaves no byte of what was removed in any file of the store: free pages, journals, the lists of changes. For all
    /// scopes; it may take as long as copying the files. Free where nothing is kept in files.
    ///
    /// # Errors
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable), also when other handles or processes read what was
    /// before for so long that it had to stay: call again.
    async fn scrub(&self) -> Result<()>;

    /// Looks through everything it keeps, of **all** scopes and companions, for what does not fit together, and makes what is
    /// [derived](ProblemKind::is_derived) anew if [asked](Verify::rebuilds). Only what the store itself can tell: whether a
    /// relation rests on memories that are there is up to the engine, since the graph may lie elsewhere.
    ///
    /// Where each change of a memory was written with its event there is no problem, but for damage. That is told in the
    /// report and is no error. Reads and writes go on meanwhile, and none that is whole is told as a problem. What is held in memory
    /// does not grow with the store. If the future is dropped, what was mended is whole.
    ///
    /// # Errors
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn verify(&self, request: &Verify) -> Result<VerifyReport>;

    /// Counts an access at `at` to each of these memories. No change in the sense of revisions and history; those not
    /// there are passed over.
    ///
    /// # Errors
    /// As [`get`](VectorStore::get).
    async fn record_access(&self, scope: &Scope, ids: &[MemoryId], at: Timestamp) -> Result<()>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: VectorStore + ?Sized> VectorStore for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn capabilities(&self) -> StoreCapabilities {
        (**self).capabilities()
    }

    fn companions(&self) -> Companions {
        (**self).companions()
    }

    async fn bind(&self, embedder: &EmbedderIdentity) -> Result<()> {
        (**self).bind(embedder).await
    }

    async fn version(&self) -> Result<Version> {
        (**self).version().await
    }

    async fn apply(&self, batch: WriteBatch) -> Result<Version> {
        (**self).apply(batch).await
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        (**self).get(scope, ids).await
    }

    async fn keys(&self, scope: &Scope, id: MemoryId) -> Result<Vec<IndexKey>> {
        (**self).keys(scope, id).await
    }

    async fn begin_reembedding(&self, target: &EmbedderIdentity) -> Result<Reembedding> {
        (**self).begin_reembedding(target).await
    }

    async fn unstaged_keys_of_everyone(
        &self,
        target: &EmbedderIdentity,
        after: Option<KeyPlace>,
        limit: usize,
    ) -> Result<Vec<StoredKey>> {
        (**self).unstaged_keys_of_everyone(target, after, limit).await
    }

    async fn stage_vectors(&self, target: &EmbedderIdentity, vectors: Vec<StagedVector>) -> Result<u64> {
        (**self).stage_vectors(target, vectors).await
    }

    async fn swap_vectors(&self, target: &EmbedderIdentity) -> Result<bool> {
        (**self).swap_vectors(target).await
    }

    async fn search(&self, query: &SearchQuery) -> Result<Vec<Candidate>> {
        (**self).search(query).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Page<Memory>> {
        (**self).list(query).await
    }

    async fn count(&self, scope: &Scope, filter: Option<&Filter>, validity: Validity) -> Result<u64> {
        (**self).count(scope, filter, validity).await
    }

    async fn history(&self, scope: &Scope, id: MemoryId) -> Result<Vec<HistoryEvent>> {
        (**self).history(scope, id).await
    }

    async fn removed(&self, scope: &Scope, after: Option<MemoryId>, limit: usize) -> Result<Vec<MemoryId>> {
        (**self).removed(scope, after, limit).await
    }

    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        (**self).scopes_of_everyone(after, limit).await
    }

    async fn delete_all(&self, scope: &Scope, stamp: &Stamp) -> Result<u64> {
        (**self).delete_all(scope, stamp).await
    }

    async fn purge_all(&self, scope: &Scope) -> Result<Purged> {
        (**self).purge_all(scope).await
    }

    async fn scrub(&self) -> Result<()> {
        (**self).scrub().await
    }

    async fn verify(&self, request: &Verify) -> Result<VerifyReport> {
        (**self).verify(request).await
    }

    async fn record_access(&self, scope: &Scope, ids: &[MemoryId], at: Timestamp) -> Result<()> {
        (**self).record_access(scope, ids, at).await
    }
}
