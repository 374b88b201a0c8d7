//! An engine whose clock and embedder a test holds in its hand, over each of the stores.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use ingrain::{
    Filter, InMemoryStore, ListRequest, ManualClock, Memory, MemoryEngine, MemoryKind, Result, Scope, Timestamp,
    VectorStore,
    testing::{FaultyStore, GivenVectors},
};

/// The width of the embedder, unless a test gives vectors.
const DIMENSIONS: usize = 256;

pub type Store = Arc<FaultyStore<Arc<dyn VectorStore>>>;

pub struct World {
    pub name: &'static str,
    pub engine: MemoryEngine,
    pub store: Store,
    pub clock: ManualClock,
    pub embedder: GivenVectors,
    /// How often everything was read.
    reads: AtomicUsize,
    /// The folder of the store's file, if it has one. Dropped last.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "only SQLite has a file"))]
    folder: Option<tempfile::TempDir>,
}

/// The instant at which every world begins: 2025-02-10T08:00:00Z.
pub fn t0() -> Timestamp {
    time("2025-02-10T08:00:00Z")
}

pub fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

impl World {
    /// The same world over every store.
    pub async fn all() -> Vec<Self> {
        Self::all_with(|| GivenVectors::new(DIMENSIONS)).await
    }

    /// The same world over every store, each with an embedder of its own.
    pub async fn all_with(embedder: impl Fn() -> GivenVectors) -> Vec<Self> {
        vec![
            Self::over("in_memory", Arc::new(InMemoryStore::new()), embedder()).await,
            #[cfg(feature = "sqlite")]
            Self::in_file(embedder()).await,
        ]
    }

    pub async fn in_memory() -> Self {
        Self::over("in_memory", Arc::new(InMemoryStore::new()), GivenVectors::new(DIMENSIONS)).await
    }

    #[cfg(feature = "sqlite")]
    pub async fn in_file(embedder: GivenVectors) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = ingrain::SqliteStore::open(file_in(&folder)).await.unwrap();
        let world = Self::over("sqlite", Arc::new(store), embedder).await;
        Self { folder: Some(folder), ..world }
    }

    /// The file of the store.
    #[cfg(feature = "sqlite")]
    pub fn path(&self) -> std::path::PathBuf {
        file_in(self.folder.as_ref().unwrap())
    }

    async fn over(name: &'static str, store: Arc<dyn VectorStore>, embedder: GivenVectors) -> Self {
        let clock = ManualClock::at(t0());
        let store = Arc::new(FaultyStore::new(store));
        let engine = engine(store.clone(), embedder.clone(), clock.clone()).await.unwrap();
        Self { name, engine, store, clock, embedder, reads: AtomicUsize::new(0), folder: None }
    }

    /// Everything of the scope but the episodes, oldest first.
    pub async fn list(&self, scope: &Scope) -> Vec<Memory> {
        let request = ListRequest::new().limit(1_000).filter(!Filter::eq("kind", MemoryKind::Episode.as_str()));
        self.engine.list(scope, request).await.unwrap().items
    }

    /// Past the switch of the store, so that no failure that is to come is used up.
    async fn verify(&self) {
        let report = self.store.inner().verify(&ingrain::Verify::new()).await.unwrap();
        assert!(report.is_sound(), "{}: {:#?}", self.name, report.problems);
    }

    /// Every memory of the scope, whatever its kind and whether it holds.
    pub async fn everything(&self, scope: &Scope) -> Vec<Memory> {
        // A look goes over everything there is: at every one it would cost as much as all else.
        if (self.reads.fetch_add(1, Ordering::Relaxed) + 1).is_power_of_two() {
            self.verify().await;
        }
        self.engine.list(scope, ListRequest::new().limit(1_000).include_invalid()).await.unwrap().items
    }

    /// What the engine was built of, to build another over the same store.
    pub fn builder(&self) -> ingrain::MemoryEngineBuilder {
        MemoryEngine::builder().store(self.store.clone()).embedder(self.embedder.clone()).clock(self.clock.clone())
    }

    pub async fn add(&self, scope: &Scope, text: &str) -> Memory {
        self.engine.add_raw(scope, [text]).await.unwrap().remove(0)
    }
}

#[cfg(feature = "sqlite")]
fn file_in(folder: &tempfile::TempDir) -> std::path::PathBuf {
    folder.path().join("memory.db")
}

pub async fn engine(store: impl VectorStore, embedder: GivenVectors, clock: ManualClock) -> Result<MemoryEngine> {
    MemoryEngine::builder().store(store).embedder(embedder).clock(clock).build().await
}

/// Nothing in the store of this engine is at odds with anything else in it.
pub async fn sound(engine: &MemoryEngine) {
    let report = engine.verify(ingrain::Verify::new()).await.unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
}

pub fn texts(memories: &[Memory]) -> Vec<&str> {
    memories.iter().map(|memory| memory.text.as_str()).collect()
}

/// A JSON object.
pub fn object(value: serde_json::Value) -> ingrain::Metadata {
    value.as_object().cloned().unwrap()
}
