use std::sync::Arc;

use super::{Inner, MemoryEngine};
use crate::{
    ApproximateTokens, Clock, Embedder, Error, ErrorKind, Extractor, IdSource, InMemoryStore, Llm, Reconciler,
    Redactor, Reranker, Result, Stage, SystemClock, TokenCounter, VectorStore, prompted,
    rules::{RuleExtractor, RuleReconciler},
    score::fusion::Weights,
};

/// The parts of a [`MemoryEngine`]. Anything that implements a trait will do, `Arc<dyn …>` included.
///
/// ```
/// # use ingrain::{HashingEmbedder, InMemoryStore, ManualClock, MemoryEngine};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = ManualClock::at("2025-02-10T08:00:00Z".parse()?);
/// let memory = MemoryEngine::builder()
///     .store(InMemoryStore::new())
///     .embedder(HashingEmbedder::new(64))
///     .clock(clock.clone())
///     .build()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct MemoryEngineBuilder {
    store: Option<Arc<dyn VectorStore>>,
    embedder: Option<Arc<dyn Embedder>>,
    llm: Option<Arc<dyn Llm>>,
    extractor: Option<Arc<dyn Extractor>>,
    reconciler: Option<Arc<dyn Reconciler>>,
    clock: Option<Arc<dyn Clock>>,
    counter: Option<Arc<dyn TokenCounter>>,
    redactor: Option<Arc<dyn Redactor>>,
    reranker: Option<Arc<dyn Reranker>>,
    weights: Weights,
}

impl MemoryEngineBuilder {
    /// Where memories are kept. Default: a new [`InMemoryStore`].
    pub fn store(mut self, store: impl VectorStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// What turns texts into vectors. A store remembers its embedder and refuses another. Default:
    /// `StaticEmbedder::builtin()`, with the feature `static-embedder`.
    pub fn embedder(mut self, embedder: impl Embedder) -> Self {
        self.embedder = Some(Arc::new(embedder));
        self
    }

    /// A model that reads facts from messages and decides over them:
    /// [`PromptedExtractor`](crate::prompted::PromptedExtractor) and
    /// [`PromptedReconciler`](crate::prompted::PromptedReconciler) made of it, each unless another is given here, and
    /// [`AgenticReconciler`](crate::prompted::AgenticReconciler) for [`AddMode::Agentic`](crate::AddMode::Agentic). Default:
    /// none, and rules in its place.
    ///
    /// ```
    /// use ingrain::{HashingEmbedder, MemoryEngine, Scope, testing::ScriptedLlm};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// let llm = ScriptedLlm::new().reply(r#"{"facts": [{"text": "Keeps bees", "message": 0}]}"#);
    /// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).llm(llm).build().await?;
    /// let report = memory.add(&Scope::user("uma"), "My bees are fine, thanks!").await?;
    /// assert_eq!((report.added[0].text.as_str(), report.model_calls), ("Keeps bees", 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn llm(mut self, llm: impl Llm) -> Self {
        self.llm = Some(Arc::new(llm));
        self
    }

    /// What reads facts from messages. Default: that of the [model](Self::llm), else [`RuleExtractor`].
    pub fn extractor(mut self, extractor: impl Extractor) -> Self {
        self.extractor = Some(Arc::new(extractor));
        self
    }

    /// What decides over new facts. Default: that of the [model](Self::llm), else [`RuleReconciler`].
    pub fn reconciler(mut self, reconciler: impl Reconciler) -> Self {
        self.reconciler = Some(Arc::new(reconciler));
        self
    }

    /// Where time comes from. Default: [`SystemClock`].
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// What counts the tokens of a [context](MemoryEngine::context). Default: [`ApproximateTokens`].
    pub fn token_counter(mut self, counter: impl TokenCounter) -> Self {
        self.counter = Some(Arc::new(counter));
        self
    }

    /// What takes secrets out of texts before they are stored, embedded or shown to a model: of messages and memories with
    /// the strings in their metadata, of facts and plans that a model made, and of queries. Ids and scopes stay as they are.
    /// Default: none.
    pub fn redactor(mut self, redactor: impl Redactor) -> Self {
        self.redactor = Some(Arc::new(redactor));
        self
    }

    /// What judges the thirty best of a search (or as many as are asked for, if that is more) again; [`Weights::rerank`]
    /// says how much that counts. Its failure is the search's. A [context](MemoryEngine::context) searches twice, for what
    /// is known and for turns. Default: nothing.
    pub fn reranker(mut self, reranker: impl Reranker) -> Self {
        self.reranker = Some(Arc::new(reranker));
        self
    }

    /// How much meaning, words and every other part count in hybrid search. Default: [`Weights::default`].
    pub fn weights(mut self, weights: Weights) -> Self {
        self.weights = weights;
        self
    }

    /// Puts the engine together and binds the store to the embedder.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) without an embedder, for one without dimensions, or for a weight that is
    /// negative or no number;
    /// [`EmbedderMismatch`](ErrorKind::EmbedderMismatch) for a store that another embedder has filled, and then the
    /// store is as it was; what the store reports.
    pub async fn build(self) -> Result<MemoryEngine> {
        let Self { store, embedder, llm, extractor, reconciler, clock, counter, redactor, reranker, weights } = self;
        let (prompted_extractor, prompted_reconciler) = match llm.map(prompted::from_llm) {
            Some((extractor, reconciler, _)) => (Some(extractor), Some(reconciler)),
            None => (None, None),
        };
        let agentic = prompted_reconciler.clone().map(|one| Arc::new(prompted::AgenticReconciler::from(one)) as _);
        let extractor = extractor.or_else(|| prompted_extractor.map(|extractor| Arc::new(extractor) as _));
        let reconciler = reconciler.or_else(|| prompted_reconciler.map(|reconciler| Arc::new(reconciler) as _));
        let embedder = embedder.or_else(default_embedder).ok_or_else(|| {
            Error::new(
                ErrorKind::Configuration,
                "no embedder: give the builder one, or switch the feature `static-embedder` on",
            )
        })?;
        if !weights.are_sound() {
            return Err(Error::new(ErrorKind::Configuration, "a weight is negative or no number"));
        }
        let identity = embedder.identity();
        if identity.dimensions == 0 || identity.name.trim().is_empty() {
            return Err(Error::new(ErrorKind::Configuration, "the embedder has no name or no dimensions"));
        }
        let store = store.unwrap_or_else(|| Arc::new(InMemoryStore::new()));
        store.bind(&identity).await.map_err(|error| error.with_stage(Stage::Open))?;
        Ok(MemoryEngine(Arc::new(Inner {
            store,
            embedder,
            extractor: extractor.unwrap_or_else(|| Arc::new(RuleExtractor::new())),
            reconciler: reconciler.unwrap_or_else(|| Arc::new(RuleReconciler::new())),
            agentic,
            clock: clock.unwrap_or_else(|| Arc::new(SystemClock)),
            counter: counter.unwrap_or_else(|| Arc::new(ApproximateTokens)),
            redactor,
            reranker,
            weights,
            ids: IdSource::default(),
        })))
    }
}

fn default_embedder() -> Option<Arc<dyn Embedder>> {
    #[cfg(feature = "static-embedder")]
    return Some(Arc::new(crate::StaticEmbedder::builtin()));
    #[cfg(not(feature = "static-embedder"))]
    return None;
}
