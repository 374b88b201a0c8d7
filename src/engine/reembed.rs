//! Another embedder for a filled store: embed everything beside what is in use, then put it in place at one stroke.

use std::{collections::HashMap, fmt, sync::Arc};

use crate::{
    Embedder, EmbedderExt, EmbedderIdentity, Error, ErrorKind, Purpose, Result, Stage, StagedVector, StoredKey,
    VectorStore,
};

/// How often it is looked for what others have written meanwhile, before they are said to write too much.
const PASSES: usize = 100;

/// Changes the embedder of a filled store: makes the vectors of **every memory of every scope** anew. An administrative
/// operation, for whoever runs the application; no user's scope bounds it.
///
/// A store is bound to the embedder that filled it, and an engine with another is
/// [refused](ErrorKind::EmbedderMismatch). This is the way from one to the other:
///
/// ```
/// use ingrain::{HashingEmbedder, InMemoryStore, MemoryEngine, Reembed, Scope};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// # let (store, alice) = (InMemoryStore::new(), Scope::user("alice"));
/// # let memory = MemoryEngine::builder().store(store.clone()).embedder(HashingEmbedder::new(64)).build().await?;
/// # memory.add_raw(&alice, ["Owns a kayak"]).await?;
/// let better = HashingEmbedder::new(256);
/// let report = Reembed::new(store.clone(), better.clone())
///     .on_progress(|progress| println!("{} of {} texts", progress.done, progress.total))
///     .run()
///     .await?;
/// assert_eq!(report.embedded, 1);
/// let memory = MemoryEngine::builder().store(store).embedder(better).build().await?;
/// assert_eq!(memory.search(&alice, "kayak").await?[0].memory.text, "Owns a kayak");
/// # Ok(())
/// # }
/// ```
///
/// # What changes, and what does not
///
/// The texts that memories are found by are embedded as they are stored: where a long text was cut into passages, the
/// cut stays. Ids, times, revisions, histories, places of turns and counts of recalls stay as they are, and no history
/// tells of it, since nothing happened to any memory. Conversations, the graph and the queue hold no vectors.
///
/// # While it runs
///
/// New vectors are staged beside those in use. Engines with the old embedder search and write as ever, and what they
/// write meanwhile is embedded too; once every text has its new vector, all are put in place in one write that binds the
/// store to the new embedder. From then on an engine that was built with the old one, in whatever process, is refused with
/// [`EmbedderMismatch`](ErrorKind::EmbedderMismatch) when it adds, changes, removes single memories or searches by meaning;
/// lists, keyword search and [`delete_all`](crate::MemoryEngine::delete_all) still work, and adds in the queue wait for an
/// engine with the new one. Nothing ever mixes.
///
/// However it ends before (an error, a dropped future, a killed process), the store is bound to the old embedder and what
/// was staged is kept: running it again goes on from there. Beginning with a third embedder discards it, and so does
/// running with the old one, which is the way to call it off. Two that run at once for the same embedder share the work;
/// of two for different ones, the one that began first ends with a [`Conflict`](ErrorKind::Conflict).
///
/// # Room and time
///
/// Memory holds one [batch](Self::batch). On disk the new vectors come beside the old ones (four bytes a dimension and
/// text), and putting them in place writes the keys once more into SQLite's log: have room for the file as it will be
/// and as much again. That write holds up other writers, for 5 to 8 seconds with 100,000 texts that go from 128 to
/// 384 dimensions (measured on two busy cores) and in proportion to that; whoever writes meanwhile waits for as long as its
/// `SqliteStoreBuilder::busy_timeout`, or is told to try again. Searches do not wait. A file keeps
/// the room it took, and bytes of the old vectors may lie in what is free of it until they are written over.
/// [`scrub`](VectorStore::scrub) gives all of it back, and takes as long as copying the file.
#[must_use = "nothing happens before `run`"]
pub struct Reembed {
    store: Arc<dyn VectorStore>,
    embedder: Arc<dyn Embedder>,
    batch: usize,
    observe: Box<dyn Fn(&ReembedProgress) + Send + Sync>,
}

impl fmt::Debug for Reembed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { store, embedder, batch, observe: _ } = self;
        f.debug_struct("Reembed")
            .field("store", store)
            .field("embedder", embedder)
            .field("batch", batch)
            .finish_non_exhaustive()
    }
}

/// How far a change of embedder has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReembedProgress {
    /// Texts that have their new vector, those of earlier runs included.
    pub done: u64,
    /// Texts in all, as far as is known: others may write meanwhile.
    pub total: u64,
}

/// What a change of embedder came to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReembedReport {
    /// The embedder the store was bound to before; none if it was new.
    pub from: Option<EmbedderIdentity>,
    /// The one it is bound to now.
    pub to: EmbedderIdentity,
    /// Vectors that earlier runs had made.
    pub resumed: u64,
    /// Vectors that this run has made. Of equal texts in one batch one was sent to the embedder.
    pub embedded: u64,
}

impl Reembed {
    /// Of a store to an embedder. Nothing happens before [`run`](Self::run).
    pub fn new(store: impl VectorStore, embedder: impl Embedder) -> Self {
        Self { store: Arc::new(store), embedder: Arc::new(embedder), batch: 256, observe: Box::new(|_| ()) }
    }

    /// How many texts are embedded with one request and staged with one write, at least 1. Default 256.
    pub fn batch(mut self, texts: usize) -> Self {
        self.batch = texts;
        self
    }

    /// Is told at the beginning and after every batch how far it has come. It should be quick. Default: nobody is told.
    pub fn on_progress(mut self, observe: impl Fn(&ReembedProgress) + Send + Sync + 'static) -> Self {
        self.observe = Box::new(observe);
        self
    }

    /// Carries it out to the end, or goes on where an earlier run was broken off. For a store that is bound to this embedder
    /// already there is nothing to do but to discard what was staged for another.
    ///
    /// Dropping the future leaves the store with the old embedder or with the new one, and whole.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a batch of 0; [`Configuration`](ErrorKind::Configuration) for an
    /// embedder without name or dimensions; [`Unsupported`](ErrorKind::Unsupported) for a store without the
    /// [capability](crate::StoreCapabilities::reembedding); what the embedder reports, with the stage
    /// [`Embed`](Stage::Embed), and [`UnusableModelOutput`](ErrorKind::UnusableModelOutput) for vectors of a wrong width or
    /// with numbers that are none; [`Conflict`](ErrorKind::Conflict) if a change to yet another embedder was begun
    /// meanwhile, or if others write faster than their texts can be embedded; what the store reports. The store is then
    /// bound to the embedder it was bound to, and what was staged is kept.
    pub async fn run(self) -> Result<ReembedReport> {
        let target = self.embedder.identity();
        if self.batch == 0 {
            return Err(Error::invalid("a batch of a change of embedder has at least one text"));
        }
        if target.dimensions == 0 || target.name.trim().is_empty() {
            return Err(Error::new(ErrorKind::Configuration, "the embedder has no name or no dimensions"));
        }
        let begun = self.store.begin_reembedding(&target).await.map_err(|error| error.with_stage(Stage::Store))?;
        let report = ReembedReport { from: begun.bound, to: target, resumed: begun.staged, embedded: 0 };
        let total = if report.from.as_ref() == Some(&report.to) { 0 } else { begun.keys };
        let mut run = Run { request: &self, progress: ReembedProgress { done: begun.staged, total }, report };
        run.tell();
        for _ in 0..PASSES {
            run.pass().await?;
            if run.swap().await? {
                return Ok(run.report);
            }
        }
        Err(Error::new(
            ErrorKind::Conflict,
            "changing the embedder: others write faster than their texts can be embedded; what is done is kept",
        ))
    }
}

struct Run<'r> {
    request: &'r Reembed,
    progress: ReembedProgress,
    report: ReembedReport,
}

impl Run<'_> {
    fn tell(&self) {
        (self.request.observe)(&self.progress);
    }

    /// Stages a vector for every key that has none, as of when the walk comes past it.
    async fn pass(&mut self) -> Result<()> {
        let Reembed { store, batch, .. } = self.request;
        let stored = |error: Error| error.with_stage(Stage::Store);
        let mut after = None;
        loop {
            let keys = store.unstaged_keys_of_everyone(&self.report.to, after, *batch).await.map_err(stored)?;
            let Some(last) = keys.last() else { return Ok(()) };
            after = Some(last.place);
            let vectors = self.embed(keys).await?;
            let staged = store.stage_vectors(&self.report.to, vectors).await.map_err(stored)?;
            self.report.embedded += staged;
            self.progress.done += staged;
            self.progress.total = self.progress.total.max(self.progress.done);
            self.tell();
        }
    }

    /// The vectors of the keys' texts; equal texts, such as facts that find several turns, are sent once.
    async fn embed(&self, keys: Vec<StoredKey>) -> Result<Vec<StagedVector>> {
        let mut texts: Vec<&str> = Vec::with_capacity(keys.len());
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for key in keys.iter().filter(|key| !key.is_block) {
            numbers.entry(&key.text).or_insert_with(|| {
                texts.push(&key.text);
                texts.len() - 1
            });
        }
        let vectors = self.request.embedder.embed_checked(&texts, Purpose::Document).await;
        let vectors = vectors.map_err(|error| error.with_stage(Stage::Embed))?;
        let nothing = || vec![0.0; self.report.to.dimensions];
        let vector_of = |key: &StoredKey| match numbers.get(&*key.text).filter(|_| !key.is_block) {
            Some(number) => vectors.get(*number).cloned().unwrap_or_default(),
            None => nothing(),
        };
        let found: Vec<Vec<f32>> = keys.iter().map(vector_of).collect();
        Ok(keys.into_iter().zip(found).map(|(key, vector)| StagedVector { key, vector }).collect())
    }

    async fn swap(&mut self) -> Result<bool> {
        let swapped = self.request.store.swap_vectors(&self.report.to).await;
        swapped.map_err(|error| error.with_stage(Stage::Store))
    }
}
