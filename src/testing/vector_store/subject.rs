use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::Duration;

use crate::{
    Actor, Attributes, CallId, EmbedderIdentity, Error, ErrorKind, EventKind, Filter, HistoryEvent, IdSource, IndexKey,
    ListOrder, ListQuery, Memory, MemoryId, Put, Result, Scope, SearchQuery, Stamp, Timestamp, Validity, VectorStore,
    Version, WriteBatch,
};

/// What a factory gives: a fresh store, or a pair of it and whatever must live as long (a temporary folder, a server).
pub trait FreshStore {
    /// What is dropped after the store.
    type Kept: Send;

    /// The two apart.
    fn into_parts(self) -> (Arc<dyn VectorStore>, Self::Kept);
}

impl<S: VectorStore> FreshStore for S {
    type Kept = ();

    fn into_parts(self) -> (Arc<dyn VectorStore>, ()) {
        (Arc::new(self), ())
    }
}

impl<S: VectorStore, K: Send> FreshStore for (S, K) {
    type Kept = K;

    fn into_parts(self) -> (Arc<dyn VectorStore>, K) {
        (Arc::new(self.0), self.1)
    }
}

/// The axes of the suite's four-dimensional space.
pub(super) const X: [f32; 4] = [1.0, 0.0, 0.0, 0.0];
pub(super) const Y: [f32; 4] = [0.0, 1.0, 0.0, 0.0];
pub(super) const Z: [f32; 4] = [0.0, 0.0, 1.0, 0.0];

/// The tolerance of comparisons with a similarity worked out by hand.
pub(super) const TOLERANCE: f32 = 0.001;

/// The instant at which the suite's days begin: 2025-02-10T08:00:00Z.
pub(super) fn t0() -> Timestamp {
    Timestamp::from_timestamp(1_739_174_400, 0).expect("an instant of the calendar")
}

/// So many seconds after [`t0`].
pub(super) fn at(seconds: i64) -> Timestamp {
    t0() + Duration::seconds(seconds)
}

/// What all rules read with unless they say otherwise: later than anything they write.
pub(super) fn now() -> Validity {
    Validity::Current(at(1_000_000))
}

pub(super) fn alice() -> Scope {
    Scope::user("alice")
}

pub(super) fn bob() -> Scope {
    Scope::user("bob")
}

/// A stamp of the application; the same for the same instant, so that events can be told again.
pub(super) fn stamp(at: Timestamp) -> Stamp {
    Stamp::new(at, Actor::App, CallId::from_bytes(i128::from(at.timestamp_micros()).to_be_bytes()))
}

/// The Add event that goes with a new memory.
pub(super) fn added(memory: &Memory) -> HistoryEvent {
    let Memory { id, scope, text, created_at, .. } = memory.clone();
    HistoryEvent::new(id, scope, EventKind::Add, None, Some(text), stamp(created_at))
}

/// The Update event that goes with a changed memory.
pub(super) fn updated(before: &Memory, after: &Memory) -> HistoryEvent {
    let (old, new) = (before.text.clone(), after.text.clone());
    HistoryEvent::new(after.id, after.scope.clone(), EventKind::Update, Some(old), Some(new), stamp(after.updated_at))
}

/// The Delete event that goes with a removal.
pub(super) fn deleted(memory: &Memory, at: Timestamp) -> HistoryEvent {
    let (scope, text) = (memory.scope.clone(), memory.text.clone());
    HistoryEvent::new(memory.id, scope, EventKind::Delete, Some(text), None, stamp(at))
}

/// The batch that removes a memory.
pub(super) fn removal(memory: &Memory) -> WriteBatch {
    WriteBatch { deletes: vec![memory.id], events: vec![deleted(memory, at(900_000))], ..WriteBatch::default() }
}

/// The next revision of a memory, with another text.
pub(super) fn rewritten(memory: &Memory, text: &str) -> Memory {
    let mut after = memory.clone();
    after.text = text.to_owned();
    after.revision += 1;
    after.updated_at = memory.updated_at + Duration::seconds(3_600);
    after
}

/// The batch that replaces `before` by `after`.
pub(super) fn replacement(before: &Memory, after: &Memory, keys: Option<Vec<IndexKey>>) -> WriteBatch {
    WriteBatch {
        puts: vec![Put::change(after.clone(), keys, before.revision)],
        events: vec![updated(before, after)],
        ..WriteBatch::default()
    }
}

/// The error that a call must end in.
#[track_caller]
pub(super) fn refused<T: std::fmt::Debug>(result: Result<T>, kinds: &[ErrorKind]) -> Error {
    let error = result.expect_err("the call should have been refused");
    assert!(kinds.contains(&error.kind()), "{kinds:?} was expected, not: {error}");
    error
}

/// Whether the store has a capability. A rule about one it lacks is skipped, aloud.
pub(super) fn declared(store: &Arc<dyn VectorStore>, capability: &str, rule: &str) -> bool {
    let has = match capability {
        "guards" => store.capabilities().guards,
        "surroundings" => store.capabilities().surroundings,
        "reembedding" => store.capabilities().reembedding,
        unknown => panic!("no capability is called {unknown}"),
    };
    if !has {
        eprintln!("skipped {rule}: {} does not declare the capability `{capability}`", store.name());
    }
    has
}

/// A candidate and its memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) memory: Memory,
    pub(super) cosine: Option<f32>,
    pub(super) keyword: Option<f32>,
}

/// The store under test, bound to the suite's embedder, and the few acts that all rules are made of.
pub(super) struct Subject {
    pub(super) store: Arc<dyn VectorStore>,
    ids: IdSource,
    seconds: AtomicI64,
}

impl Subject {
    pub(super) async fn bound(store: Arc<dyn VectorStore>) -> Self {
        store.bind(&EmbedderIdentity::new("suite", 4)).await.expect("binding a fresh store");
        Self { store, ids: IdSource::default(), seconds: AtomicI64::new(0) }
    }

    /// A fact that is not stored yet. Each is made a second after the one before, so ids are in the order of making.
    pub(super) fn memory(&self, scope: &Scope, text: &str) -> Memory {
        let now = at(self.seconds.fetch_add(1, Ordering::SeqCst));
        Memory::new(self.ids.next(now), scope.clone(), text, now)
    }

    pub(super) async fn apply(&self, batch: WriteBatch) -> Version {
        self.store.apply(batch).await.expect("applying a batch without fault")
    }

    /// Stores memories with their keys, and their Add events, in one batch.
    pub(super) async fn store_all(&self, memories: Vec<(Memory, Vec<IndexKey>)>) -> Version {
        let events = memories.iter().map(|(memory, _)| added(memory)).collect();
        let puts = memories.into_iter().map(|(memory, keys)| Put::new(memory, keys)).collect();
        self.apply(WriteBatch { puts, events, ..WriteBatch::default() }).await
    }

    pub(super) async fn store_one(&self, memory: &Memory, vector: [f32; 4]) {
        let key = IndexKey::new(memory.text.clone(), vector.to_vec());
        self.store_all(vec![(memory.clone(), vec![key])]).await;
    }

    /// A new fact, stored.
    pub(super) async fn add(&self, scope: &Scope, text: &str, vector: [f32; 4]) -> Memory {
        let memory = self.memory(scope, text);
        self.store_one(&memory, vector).await;
        memory
    }

    /// Many new facts `word 0`, `word 1` …, stored in one batch.
    pub(super) async fn add_many(&self, scope: &Scope, word: &str, count: usize, vector: [f32; 4]) -> Vec<Memory> {
        let memories: Vec<Memory> = (0..count).map(|number| self.memory(scope, &format!("{word} {number}"))).collect();
        let keyed = |memory: &Memory| (memory.clone(), vec![IndexKey::new(memory.text.clone(), vector.to_vec())]);
        self.store_all(memories.iter().map(keyed).collect()).await;
        memories
    }

    pub(super) async fn get(&self, scope: &Scope, id: MemoryId) -> Option<Memory> {
        self.store.get(scope, &[id]).await.expect("getting by id").pop()
    }

    pub(super) async fn keys(&self, scope: &Scope, id: MemoryId) -> Vec<IndexKey> {
        self.store.keys(scope, id).await.expect("reading the keys of a memory")
    }

    /// Everything of the scope, oldest first, whether it holds or not.
    pub(super) async fn all(&self, scope: &Scope) -> Vec<Memory> {
        self.listed(scope, None, Validity::Any).await
    }

    pub(super) async fn listed(&self, scope: &Scope, filter: Option<Filter>, validity: Validity) -> Vec<Memory> {
        let order = ListOrder::OldestFirst;
        let query = ListQuery { scope: scope.clone(), filter, validity, order, after: None, limit: 10_000 };
        self.store.list(&query).await.expect("listing").items
    }

    pub(super) async fn history(&self, scope: &Scope, id: MemoryId) -> Vec<HistoryEvent> {
        self.store.history(scope, id).await.expect("reading a history")
    }

    /// The candidates of a search, in id order as the contract wants, each with its memory.
    pub(super) async fn search(&self, query: SearchQuery) -> Vec<Found> {
        let candidates = self.store.search(&query).await.expect("searching");
        let ids: Vec<MemoryId> = candidates.iter().map(|candidate| candidate.id).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "candidates come in id order, each memory once");
        let memories = self.store.get(&query.scope, &ids).await.expect("getting by id");
        assert_eq!(memories.len(), candidates.len(), "what is proposed is there");
        let found = candidates.into_iter().zip(memories).map(|(candidate, memory)| {
            assert_eq!(candidate.attributes, Attributes::from(&memory), "attributes are those of the memory");
            Found { memory, cosine: candidate.cosine, keyword: candidate.keyword }
        });
        found.collect()
    }

    /// The candidates of the vector arm, nearest first.
    pub(super) async fn near(&self, scope: &Scope, vector: [f32; 4], limit: usize) -> Vec<Found> {
        let mut candidates = self.search(query(scope).near(vector.to_vec()).limit(limit)).await;
        candidates.sort_by(|a, b| best(b.cosine, a.cosine).then(b.memory.id.cmp(&a.memory.id)));
        candidates
    }

    /// The candidates of the keyword arm, best first.
    pub(super) async fn words(&self, scope: &Scope, words: &str, limit: usize) -> Vec<Found> {
        let mut candidates = self.search(query(scope).words(words).limit(limit)).await;
        candidates.sort_by(|a, b| best(b.keyword, a.keyword).then(b.memory.id.cmp(&a.memory.id)));
        candidates
    }
}

fn best(a: Option<f32>, b: Option<f32>) -> std::cmp::Ordering {
    a.expect("a similarity").total_cmp(&b.expect("a similarity"))
}

/// A search of the scope with neither arm yet, at the time that rules read with.
pub(super) fn query(scope: &Scope) -> SearchQuery {
    SearchQuery::new(scope.clone(), t0()).validity(now())
}

/// Keyword similarities, each of which was asked for.
pub(super) fn keyword(candidate: &Found) -> f32 {
    candidate.keyword.expect("a keyword similarity, since there was a keyword arm")
}

/// Cosines, each of which was asked for.
pub(super) fn cosine(candidate: &Found) -> f32 {
    candidate.cosine.expect("a cosine, since there was a vector arm")
}

pub(super) fn texts(memories: &[Memory]) -> Vec<&str> {
    memories.iter().map(|memory| memory.text.as_str()).collect()
}

pub(super) fn found(candidates: &[Found]) -> Vec<&str> {
    candidates.iter().map(|candidate| candidate.memory.text.as_str()).collect()
}
