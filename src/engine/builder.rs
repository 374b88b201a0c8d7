use std::{collections::BTreeSet, sync::Arc};

use super::{Inner, KeptGraph, MemoryEngine, bound::BoundStore, later};
use crate::{
    AddQueue, AddReport, ApproximateTokens, BackgroundOptions, Clock, ConversationEvent, ConversationOptions,
    ConversationStore, Embedder, Error, ErrorKind, Extractor, GraphStore, IdSource, InMemoryStore, Llm, Meter,
    Operation, QueuedAdd, Reconciler, Redactor, Reranker, Result, Scope, Stage, Summarizer, SystemClock, TokenCounter,
    Usage, VectorStore,
    add::later::{Later, Observer},
    conversation::{ConversationObserver, ConversationParts},
    prompted,
    rules::{RuleExtractor, RuleReconciler, RuleSummarizer},
    score::{decay::DecayPolicy, fusion::Weights, names::folded},
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
    quarantine: bool,
    reranker: Option<Arc<dyn Reranker>>,
    weights: Weights,
    decay: DecayPolicy,
    queue: Option<Arc<dyn AddQueue>>,
    meter: Option<Arc<dyn Meter>>,
    background: BackgroundOptions,
    observer: Option<Observer>,
    graph: Option<Arc<dyn GraphStore>>,
    no_relations: bool,
    single_valued: BTreeSet<String>,
    summarizer: Option<Arc<dyn Summarizer>>,
    conversation_store: Option<Arc<dyn ConversationStore>>,
    conversations: ConversationOptions,
    conversation_observer: Option<ConversationObserver>,
}

impl MemoryEngineBuilder {
    /// Where memories are kept. Default: a new [`InMemoryStore`].
    pub fn store(mut self, store: impl VectorStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// What turns texts into vectors. A store remembers its embedder and refuses another; [`Reembed`](crate::Reembed)
    /// changes it. Default:
    /// `StaticEmbedder::builtin()`, with the feature `static-embedder`.
    pub fn embedder(mut self, embedder: impl Embedder) -> Self {
        self.embedder = Some(Arc::new(embedder));
        self
    }

    /// A model that reads facts from messages, decides over them and shortens conversations:
    /// [`PromptedExtractor`](crate::prompted::PromptedExtractor),
    /// [`PromptedReconciler`](crate::prompted::PromptedReconciler) and
    /// [`PromptedSummarizer`](crate::prompted::PromptedSummarizer) made of it, each unless another is given here, and
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

    /// What counts the tokens of a [context](MemoryEngine::context) and of a
    /// [conversation](MemoryEngine::conversation). Default: [`ApproximateTokens`].
    pub fn token_counter(mut self, counter: impl TokenCounter) -> Self {
        self.counter = Some(Arc::new(counter));
        self
    }

    /// What takes secrets out of texts before they are stored, embedded or shown to a model: of messages and memories with
    /// the strings in their metadata, of facts, plans and summaries that a model made, and of queries. Ids and scopes
    /// stay as they are. [`rules::PatternRedactor`](crate::rules::PatternRedactor) knows the usual ones by their form.
    /// Default: none.
    pub fn redactor(mut self, redactor: impl Redactor) -> Self {
        self.redactor = Some(Arc::new(redactor));
        self
    }

    /// Whether what outside text said is kept aside until the application approves of it: facts and other [semantic
    /// memories](crate::MemoryKind::is_semantic) that rest on the word of a tool or a web page
    /// ([`Trust::Tool`](crate::Trust::Tool)), whether [`add_raw`](MemoryEngine::add_raw) brings them or an extractor reads
    /// them. They are stored with their history, but hold at no time: no search, context, list, count or tool shows them
    /// unless it asks for what does not hold, no new fact is held against them, they end nothing, and tell the graph
    /// nothing. See [`MemoryEngine::quarantined`], [`approve`](MemoryEngine::approve) and
    /// [`reject`](MemoryEngine::reject). An [import](MemoryEngine::import) takes over what was approved elsewhere as it is.
    /// Default: no; then such memories of `add_raw` hold as others do, and what an extractor reads from a tool's message
    /// is ignored.
    pub fn quarantine(mut self, wanted: bool) -> Self {
        self.quarantine = wanted;
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

    /// How memories fade: what is told of them ([`effective_importance`](MemoryEngine::effective_importance)), and what counts
    /// in a search if [`Weights::recency`] or [`DecayForm::Additive`](crate::score::decay::DecayForm::Additive) says so. Default:
    /// [`DecayPolicy::new`].
    pub fn decay(mut self, policy: DecayPolicy) -> Self {
        self.decay = policy;
        self
    }

    /// Where [`add_later`](MemoryEngine::add_later) keeps adds until they are carried out. Default: with the store, if it
    /// keeps [such a queue](VectorStore::companions), as [`InMemoryStore`] and `SqliteStore` do.
    pub fn queue(mut self, queue: impl AddQueue) -> Self {
        self.queue = Some(Arc::new(queue));
        self
    }

    /// How queued adds are carried out. Default: [`BackgroundOptions::new`].
    pub fn background(mut self, options: BackgroundOptions) -> Self {
        self.background = options;
        self
    }

    /// Is told how each queued add ended that this engine carried out: with its report, or with the error for which it was
    /// given up. Failures after which it is tried again are seen in [`queued_adds`](MemoryEngine::queued_adds). An add that
    /// was found to be written already, since a process ended between writing and saying so, has a report that is empty but
    /// for the call. Called on a worker: it should be quick, and must not wait for the queue. Default: nothing.
    pub fn on_background_add(
        mut self,
        observe: impl Fn(&QueuedAdd, &Result<AddReport>) + Send + Sync + 'static,
    ) -> Self {
        self.observer = Some(Observer(Box::new(observe)));
        self
    }

    /// Is told of [calls](Operation::verb) when they have ended: how long it took, what it found or wrote, and what a
    /// model cost. With the feature `tracing` each of them is a span `ingrain` (info) of the target `ingrain` as well, with
    /// the field `verb`, and has an event at its end: `done` (debug) with `verb`, `elapsed_us`, `memories`, `model_calls`,
    /// `input_tokens` and `output_tokens`, or `failed` (warn) with the same but for `memories`, and `error`, the kind. What
    /// is done in the background has the event without a span. These names are stable; no text and no scope is told.
    /// Default: nobody is told.
    pub fn meter(mut self, meter: impl Meter) -> Self {
        self.meter = Some(Arc::new(meter));
        self
    }

    /// Where entities and relations are kept. Default: the store's own, if it keeps a graph, as the in-memory store and SQLite
    /// do.
    pub fn graph(mut self, graph: impl GraphStore) -> Self {
        self.graph = Some(Arc::new(graph));
        self
    }

    /// Whether facts are read for relations, which make up the [graph](MemoryEngine::graph). A model is asked for them in the
    /// same call as for the facts. Default: yes, where there is a graph store.
    pub fn relations(mut self, wanted: bool) -> Self {
        self.no_relations = !wanted;
        self
    }

    /// Predicates of which a subject has but one object at a time, such as `lives_in`, besides those that the extractor says
    /// this of: a new object ends the one before. Case does not count. Default none.
    pub fn single_valued<P: AsRef<str>>(mut self, predicates: impl IntoIterator<Item = P>) -> Self {
        self.single_valued.extend(predicates.into_iter().map(|predicate| folded(predicate.as_ref())));
        self
    }

    /// What shortens [conversations](MemoryEngine::conversation). Default: that of the [model](Self::llm), for which
    /// [`RuleSummarizer`] stands in where it keeps failing for reasons that do not pass; without a model that alone.
    pub fn summarizer(mut self, summarizer: impl Summarizer) -> Self {
        self.summarizer = Some(Arc::new(summarizer));
        self
    }

    /// Where conversations are kept. Default: with the store, if it [keeps them](VectorStore::companions), as
    /// [`InMemoryStore`] and `SqliteStore` do.
    pub fn conversation_store(mut self, store: impl ConversationStore) -> Self {
        self.conversation_store = Some(Arc::new(store));
        self
    }

    /// How long conversations may be, and how they are shortened. Default: [`ConversationOptions::new`].
    pub fn conversations(mut self, options: ConversationOptions) -> Self {
        self.conversations = options;
        self
    }

    /// Is told what becomes of conversations in the background: what was summarised and what that cost, what failed, what
    /// was dropped. Called on the task that does it: it should be quick. Default: nothing.
    pub fn on_conversation(mut self, observe: impl Fn(&Scope, &ConversationEvent) + Send + Sync + 'static) -> Self {
        self.conversation_observer = Some(ConversationObserver(Box::new(observe)));
        self
    }

    /// Puts the engine together and binds the store to the embedder.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) without an embedder, for one without dimensions, for a weight that is
    /// out of its range or no number, or for a decay policy, background or conversation options that are out of range;
    /// [`EmbedderMismatch`](ErrorKind::EmbedderMismatch) for a store that another embedder has filled, and then the
    /// store is as it was; what the store reports.
    pub async fn build(self) -> Result<MemoryEngine> {
        let Self {
            store,
            embedder,
            llm,
            extractor,
            reconciler,
            clock,
            counter,
            redactor,
            quarantine,
            reranker,
            weights,
            decay,
            queue,
            meter,
            background,
            observer,
            graph,
            no_relations,
            single_valued,
            summarizer,
            conversation_store,
            conversations,
            conversation_observer,
        } = self;
        let (prompted_extractor, prompted_reconciler, prompted_summarizer) = match llm.map(prompted::from_llm) {
            Some((extractor, reconciler, summarizer)) => (Some(extractor), Some(reconciler), Some(summarizer)),
            None => (None, None, None),
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
            return Err(Error::new(ErrorKind::Configuration, "a weight is out of its range or no number"));
        }
        decay.validate()?;
        background.validate()?;
        let identity = embedder.identity();
        if identity.dimensions == 0 || identity.name.trim().is_empty() {
            return Err(Error::new(ErrorKind::Configuration, "the embedder has no name or no dimensions"));
        }
        let store = store.unwrap_or_else(|| Arc::new(InMemoryStore::new()));
        let bound = BoundStore::bind(store, identity).await.map_err(|error| error.with_stage(Stage::Open))?;
        let store: Arc<dyn VectorStore> = Arc::new(bound);
        let clock = clock.unwrap_or_else(|| Arc::new(SystemClock));
        let queue = queue.or_else(|| store.companions().queue);
        let is_memory_store = graph.is_none() && store.capabilities().graph;
        let graph = graph.or_else(|| store.companions().graph).filter(|_| !no_relations);
        let graph = graph.map(|store| KeptGraph { store, is_memory_store, single_valued });
        let later = queue.map(|queue| Later::new(queue, background, observer, Arc::clone(&clock)));
        let counter = counter.unwrap_or_else(|| Arc::new(ApproximateTokens));
        let stand_in: Arc<dyn Summarizer> = Arc::new(RuleSummarizer::new());
        let has_own_summarizer = summarizer.is_some() || prompted_summarizer.is_some();
        let (summarizer, fallback): (Arc<dyn Summarizer>, _) = match (summarizer, prompted_summarizer) {
            (Some(given), _) => (given, None),
            (None, Some(prompted)) => (Arc::new(prompted) as _, Some(stand_in)),
            (None, None) => (stand_in, None),
        };
        let conversations = ConversationParts {
            store: conversation_store.or_else(|| store.companions().conversations),
            summarizer: Arc::clone(&summarizer),
            fallback,
            counter: Arc::clone(&counter),
            clock: Arc::clone(&clock),
            redactor: redactor.clone(),
            observer: metered(conversation_observer, meter.clone()),
            options: conversations,
        };
        let conversations = conversations.open()?.map(Arc::new);
        let engine = MemoryEngine(Arc::new(Inner {
            store,
            embedder,
            extractor: extractor.unwrap_or_else(|| Arc::new(RuleExtractor::new())),
            reconciler: reconciler.unwrap_or_else(|| Arc::new(RuleReconciler::new())),
            agentic,
            clock,
            counter,
            redactor,
            quarantine,
            reranker,
            graph,
            weights,
            decay,
            ids: IdSource::default(),
            later,
            meter,
            summarizer,
            has_own_summarizer,
            conversations,
        }));
        later::resume(&engine).await?;
        Ok(engine)
    }
}

/// What is told of conversations, and the meter with it: summaries may ask a model.
fn metered(observer: Option<ConversationObserver>, meter: Option<Arc<dyn Meter>>) -> Option<ConversationObserver> {
    let Some(meter) = meter else { return observer };
    let observe = move |scope: &Scope, event: &ConversationEvent| {
        let (error, model_calls, usage) = match event {
            ConversationEvent::Summarized { model_calls, usage, .. } => (None, *model_calls, *usage),
            ConversationEvent::Failed(failure) => (Some(failure.kind), 0, Usage::default()),
            ConversationEvent::Dropped { .. } => (None, 0, Usage::default()),
        };
        if !matches!(event, ConversationEvent::Dropped { .. }) {
            let elapsed = std::time::Duration::ZERO;
            meter.record(&Operation { verb: "summarize", scope, elapsed, error, memories: 0, model_calls, usage });
        }
        if let Some(ConversationObserver(observe)) = &observer {
            observe(scope, event);
        }
    };
    Some(ConversationObserver(Box::new(observe)))
}

fn default_embedder() -> Option<Arc<dyn Embedder>> {
    #[cfg(feature = "static-embedder")]
    return Some(Arc::new(crate::StaticEmbedder::builtin()));
    #[cfg(not(feature = "static-embedder"))]
    return None;
}
