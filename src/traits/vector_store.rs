use std::{collections::HashSet, fmt::Debug, sync::Arc};

use async_trait::async_trait;

use crate::{
    Cursor, EmbedderIdentity, Error, ErrorKind, Filter, GraphBatch, HistoryEvent, Memory, MemoryId, MemoryKind, Page,
    Result, Scope, Stamp, Timestamp, Trust, Validity,
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
}

/// A state of a store: grows with every write to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// One way a memory can be found: a text for keyword search and its vector.
///
/// Most memories have one key, their own text. A long text has one for each passage, and a turn of a conversation may
/// be indexed with its date and speaker; the memory's own text stays as it is. A memory is as similar to a query as
/// its best key.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IndexKey {
    /// What keyword search looks at.
    pub text: String,
    /// What vector search looks at. All zeros for a text that means nothing to the embedder.
    pub vector: Vec<f32>,
}

impl IndexKey {
    /// A key.
    #[must_use]
    pub fn new(text: impl Into<String>, vector: Vec<f32>) -> Self {
        Self { text: text.into(), vector }
    }
}

/// What must be true of a memory for a write to go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expect {
    /// It does not exist.
    Absent,
    /// It exists, in this revision.
    Revision(u64),
    /// Nothing.
    Anything,
}

/// A memory to store or replace.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Put {
    /// The memory in its new state. Id and scope of a stored memory never change.
    pub memory: Memory,
    /// Its keys, at least one; `None` to keep those it has.
    pub keys: Option<Vec<IndexKey>>,
    /// What must be true beforehand.
    pub expect: Expect,
}

impl Put {
    /// A new memory.
    #[must_use]
    pub fn new(memory: Memory, keys: Vec<IndexKey>) -> Self {
        Self { memory, keys: Some(keys), expect: Expect::Absent }
    }

    /// A changed memory that was read in `revision`; with `keys` if its text changed.
    #[must_use]
    pub fn change(memory: Memory, keys: Option<Vec<IndexKey>>, revision: u64) -> Self {
        Self { memory, keys, expect: Expect::Revision(revision) }
    }
}

/// Holds a write back if others changed what it was planned from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unchanged {
    /// No semantic memory (see [`MemoryKind::is_semantic`](crate::MemoryKind::is_semantic)) that this scope covers…
    pub scope: Scope,
    /// …was stored, changed or removed after this version.
    pub since: Version,
}

impl Unchanged {
    /// A guard.
    #[must_use]
    pub fn new(scope: Scope, since: Version) -> Self {
        Self { scope, since }
    }
}

/// Changes that belong together. Nothing in it is applied unless all of it is.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct WriteBatch {
    /// Memories to store or replace; each id once.
    pub puts: Vec<Put>,
    /// Memories to remove. One that does not exist is a [`Conflict`](crate::ErrorKind::Conflict).
    pub deletes: Vec<MemoryId>,
    /// The history of these changes, written as given.
    pub events: Vec<HistoryEvent>,
    /// Changes of the graph; only for a store with the capability `graph`.
    pub graph: GraphBatch,
    /// A guard; only for a store with the capability `guards`. Default none.
    pub unchanged: Option<Unchanged>,
}

impl WriteBatch {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.puts.is_empty() && self.deletes.is_empty() && self.events.is_empty() && self.graph.is_empty()
    }

    /// Checks what can be checked without reading the store, which is bound to `embedder`: for whoever writes one.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument): a bad scope, an id twice, a new memory without keys, an
    /// empty list of keys, a number that is not finite; [`EmbedderMismatch`](ErrorKind::EmbedderMismatch): a vector
    /// of the wrong width, or keys without an embedder.
    pub fn validate(&self, embedder: Option<&EmbedderIdentity>) -> Result<()> {
        let mut ids = HashSet::new();
        for Put { memory, keys, expect } in &self.puts {
            memory.scope.validate()?;
            if !ids.insert(memory.id) {
                return Err(Error::invalid("a write batch holds a memory twice"));
            }
            if !memory.importance.is_finite() {
                return Err(Error::invalid("the importance of a memory is not finite"));
            }
            match keys {
                None if *expect == Expect::Absent => return Err(Error::invalid("a new memory has no keys")),
                None => {}
                Some(keys) if keys.is_empty() => return Err(Error::invalid("a memory must have at least one key")),
                Some(keys) => keys.iter().try_for_each(|key| check_vector(&key.vector, embedder))?,
            }
        }
        if !self.deletes.iter().all(|id| ids.insert(*id)) {
            return Err(Error::invalid("a write batch holds a memory twice"));
        }
        self.events.iter().try_for_each(|event| event.scope.validate())?;
        self.unchanged.iter().try_for_each(|guard| guard.scope.validate())
    }
}

fn check_vector(vector: &[f32], embedder: Option<&EmbedderIdentity>) -> Result<()> {
    let Some(embedder) = embedder else {
        return Err(Error::new(ErrorKind::EmbedderMismatch, "the store is not bound to an embedder yet"));
    };
    if vector.len() != embedder.dimensions {
        return Err(Error::new(
            ErrorKind::EmbedderMismatch,
            format!(
                "a vector has {} dimensions, the store is bound to `{}` with {}",
                vector.len(),
                embedder.name,
                embedder.dimensions
            ),
        ));
    }
    if !vector.iter().all(|number| number.is_finite()) {
        return Err(Error::invalid("a vector holds a number that is not finite"));
    }
    Ok(())
}

/// What to look for. With a vector and a text, both arms propose; with neither, the newest memories are proposed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SearchQuery {
    /// A reader's scope.
    pub scope: Scope,
    /// Look for what is near this vector.
    pub vector: Option<Vec<f32>>,
    /// Look for what has the words of this text. Any text is fine: it is no query language.
    pub text: Option<String>,
    /// Only what this admits.
    pub filter: Option<Filter>,
    /// Only what holds by world time.
    pub validity: Validity,
    /// Most candidates of each arm.
    pub limit: usize,
}

impl SearchQuery {
    /// A query for what holds at `now`, with neither arm yet; at most 100 candidates of each.
    #[must_use]
    pub fn new(scope: Scope, now: Timestamp) -> Self {
        Self { scope, vector: None, text: None, filter: None, validity: Validity::Current(now), limit: 100 }
    }

    /// Looks for what is near `vector`. Default: no vector arm.
    #[must_use]
    pub fn near(mut self, vector: Vec<f32>) -> Self {
        self.vector = Some(vector);
        self
    }

    /// Looks for the words of `text`. Default: no keyword arm.
    #[must_use]
    pub fn words(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Only what the filter admits. Default: no filter.
    #[must_use]
    pub fn filter(mut self, filter: Option<Filter>) -> Self {
        self.filter = filter;
        self
    }

    /// Only what holds by world time. Default: what holds at `now`.
    #[must_use]
    pub fn validity(mut self, validity: Validity) -> Self {
        self.validity = validity;
        self
    }

    /// Most candidates of each arm. Default 100.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

impl SearchQuery {
    /// Checks scope, filter and vector, for a store that is bound to `embedder`: for whoever writes one.
    ///
    /// # Errors
    /// As [`VectorStore::search`].
    pub fn validate(&self, embedder: Option<&EmbedderIdentity>) -> Result<()> {
        self.scope.validate()?;
        self.filter.iter().try_for_each(Filter::validate)?;
        // A store that nothing was ever written to has no width: any vector finds nothing there.
        match &self.vector {
            Some(vector) if embedder.is_some() => check_vector(vector, embedder),
            _ => Ok(()),
        }
    }
}

/// What ranking looks at, of a memory that search proposes. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Attributes {
    /// What sort of memory it is.
    pub kind: MemoryKind,
    /// The parts it was stored with.
    pub scope: Arc<Scope>,
    /// Who said it, by name.
    pub speaker: Option<Arc<str>>,
    /// Whose word it rests on.
    pub trust: Trust,
    /// How much it matters, 0 to 1.
    pub importance: f32,
    /// Whether it is exempt from fading.
    pub pinned: bool,
    /// Its place in its session.
    pub ordinal: Option<u64>,
    /// When it was said or seen.
    pub observed_at: Timestamp,
    /// Since when it holds in the world.
    pub valid_at: Timestamp,
    /// When it ceased to hold.
    pub invalid_at: Option<Timestamp>,
    /// When we learned it.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// How often it was recalled.
    pub access_count: u64,
    /// When it was last recalled.
    pub accessed_at: Option<Timestamp>,
}

impl From<&Memory> for Attributes {
    fn from(memory: &Memory) -> Self {
        Self {
            kind: memory.kind.clone(),
            scope: Arc::new(memory.scope.clone()),
            speaker: memory.speaker.as_deref().map(Arc::from),
            trust: memory.trust,
            importance: memory.importance,
            pinned: memory.pinned,
            ordinal: memory.ordinal,
            observed_at: memory.observed_at,
            valid_at: memory.valid_at,
            invalid_at: memory.invalid_at,
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            access_count: memory.access_count,
            accessed_at: memory.accessed_at,
        }
    }
}

/// A memory that search proposes, with its similarity in every arm that was asked, whichever arm proposed it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// The memory.
    pub id: MemoryId,
    /// What ranking looks at. The memory itself is read when it is among the hits.
    pub attributes: Attributes,
    /// Cosine of its best key to the query vector, −1 to 1; `None` without a vector arm.
    pub cosine: Option<f32>,
    /// BM25 of its best key by the statistics of the reader's own scope, divided by the bound that no text can
    /// exceed for this query, 0 to 1; `None` without a keyword arm. See
    /// [`score::lexical`](crate::score::lexical).
    pub keyword: Option<f32>,
}

impl Candidate {
    /// A candidate that no arm has looked at yet.
    #[must_use]
    pub fn new(id: MemoryId, attributes: Attributes) -> Self {
        Self { id, attributes, cosine: None, keyword: None }
    }
}

/// The order of a list: that of the ids, which is the order in which memories were made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// First made first.
    #[default]
    OldestFirst,
    /// Last made first.
    NewestFirst,
}

/// Which memories to list.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ListQuery {
    /// A reader's scope.
    pub scope: Scope,
    /// Only what this admits.
    pub filter: Option<Filter>,
    /// Only what holds by world time.
    pub validity: Validity,
    /// The order.
    pub order: ListOrder,
    /// Where the page begins; `None` for the first page.
    pub after: Option<Cursor>,
    /// Most memories of a page, at least 1.
    pub limit: usize,
}

impl ListQuery {
    /// The first page of everything in the scope, oldest first, at most 100.
    #[must_use]
    pub fn new(scope: Scope, validity: Validity) -> Self {
        Self { scope, filter: None, validity, order: ListOrder::OldestFirst, after: None, limit: 100 }
    }

    /// Checks scope, filter and limit and gives the memory the page begins after: for whoever writes a store.
    ///
    /// # Errors
    /// As [`VectorStore::list`].
    pub fn validate(&self) -> Result<Option<MemoryId>> {
        self.scope.validate()?;
        self.filter.iter().try_for_each(Filter::validate)?;
        if self.limit == 0 {
            return Err(Error::invalid("the limit of a list must be at least 1"));
        }
        self.after.as_ref().map(Cursor::position).transpose()
    }
}

/// Keeps memories, their keys and their history, and finds them again.
///
/// The contract, which the suite `vector_store_suite!` of the `testing` module checks:
///
/// - **Scopes are apart.** A read sees the memories its scope covers and no others; strangers' memories have no
///   influence on order, similarity, statistics or totals. A bad scope is refused before anything is read.
/// - **Writes are whole.** [`apply`](VectorStore::apply) does all of a batch, history included, or nothing; when it
///   has returned, every read that begins later sees it, from every handle on the same store. Cancelling the future
///   leaves the batch applied or not, never half.
/// - **Orders are total.** The vector arm proposes by cosine, the keyword arm by keyword similarity, equals by id, the
///   newer first; lists go by id.
/// - **An outage is an error**, never an empty result.
/// - Texts and metadata come back byte for byte; times to the microsecond.
#[async_trait]
pub trait VectorStore: Debug + Send + Sync + 'static {
    /// Names the backend, such as `sqlite`.
    fn name(&self) -> &str;

    /// What it can do beyond the contract. Constant.
    fn capabilities(&self) -> StoreCapabilities;

    /// Binds the store to an embedder. A store that holds nothing yet takes the identity over; one that was bound
    /// before checks it. To be called before the first write with keys; calling it again is free.
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
    /// [`Conflict`](crate::ErrorKind::Conflict): an [`Expect`], a delete or the guard does not hold;
    /// [`Unsupported`](crate::ErrorKind::Unsupported): a part the capabilities do not have;
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable). In every case nothing was written.
    async fn apply(&self, batch: WriteBatch) -> Result<Version>;

    /// Memories by id, in the order asked for; those the scope does not cover are left out, as if they were not there.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a bad scope;
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>>;

    /// The candidates for a query: at most `limit` of each arm, each memory once, in id order.
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

    /// Removes every memory the scope covers, also those that no longer hold, writes a
    /// [`Delete`](crate::EventKind::Delete) event for each, and says how many there were. Whole or not at all.
    ///
    /// # Errors
    /// As [`get`](VectorStore::get).
    async fn delete_all(&self, scope: &Scope, stamp: &Stamp) -> Result<u64>;

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

    async fn delete_all(&self, scope: &Scope, stamp: &Stamp) -> Result<u64> {
        (**self).delete_all(scope, stamp).await
    }

    async fn record_access(&self, scope: &Scope, ids: &[MemoryId], at: Timestamp) -> Result<()> {
        (**self).record_access(scope, ids, at).await
    }
}
