//! [`MemoryEngine`]: wires the parts together. Each public method checks nothing itself and hands over to its folder.

mod behalf;
mod blocks;
mod bound;
mod builder;
mod context;
mod conversation;
mod decay;
mod delete;
mod everyone;
mod graph;
mod later;
mod list;
mod maintain;
mod purge;
mod quarantine;
mod reembed;
mod transfer;
mod update;
mod verify;
mod watch;

use std::{collections::BTreeSet, sync::Arc};

pub use blocks::Blocks;
pub use builder::MemoryEngineBuilder;
pub use graph::Graph;
pub use list::ListRequest;
pub use maintain::{
    Maintenance, MaintenancePlace, MaintenanceReport, MaintenanceSchedule, Merged, ScheduledMaintenance,
};
pub use purge::{Purge, PurgeReport};
pub use reembed::{Reembed, ReembedProgress, ReembedReport};
pub use transfer::{Export, Import, OnClash, TransferReport};
pub use update::MemoryUpdate;

pub(crate) use watch::Outcome;

use crate::{
    Actor, AddReport, AddRequest, CallId, Clock, ContextRequest, ConversationStore, Embedder, Error, ErrorKind,
    Extractor, Filter, GraphStore, HistoryEvent, Hit, IdSource, ListQuery, Memory, MemoryContext, MemoryId, Meter,
    NewMemory, Page, Reconciler, Redactor, Reranker, Result, Scope, SearchRequest, Stage, Stamp, Summarizer, Timestamp,
    TokenBudget, TokenCounter, Validity, VectorStore,
    add::{self, AddContext, later::Later},
    conversation::Conversations,
    graph::GraphPart,
    rules::{RuleExtractor, RuleReconciler},
    score::{decay::DecayPolicy, fusion::Weights},
    search::{self, SearchContext},
    types::truncate,
};

/// How often a change is tried again because others were faster.
const ATTEMPTS: usize = 100;

/// The memory of an application: remembers, keeps current, finds.
///
/// Cheap to clone; clones share everything. Every method may be called from many tasks at once. A call that fails
/// leaves no trace; a call whose future is dropped has been carried out whole or not at all.
///
/// ```
/// use ingrain::{HashingEmbedder, MemoryEngine, Message, Scope};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(256)).build().await?;
/// let alice = Scope::user("alice");
/// memory.add(&alice, [Message::user("I live in Lisbon. I'm allergic to shellfish.")]).await?;
/// memory.add(&alice, [Message::user("I moved to Porto.")]).await?;
/// for hit in memory.search(&alice, "Where does she live?").await? {
///     println!("{}  ({})", hit.memory.text, hit.explain());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct MemoryEngine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn VectorStore>,
    embedder: Arc<dyn Embedder>,
    extractor: Arc<dyn Extractor>,
    reconciler: Arc<dyn Reconciler>,
    /// What decides with tools, if there is a model.
    agentic: Option<Arc<dyn Reconciler>>,
    clock: Arc<dyn Clock>,
    counter: Arc<dyn TokenCounter>,
    redactor: Option<Arc<dyn Redactor>>,
    /// Whether what outside text said is kept aside.
    quarantine: bool,
    reranker: Option<Arc<dyn Reranker>>,
    graph: Option<KeptGraph>,
    weights: Weights,
    decay: DecayPolicy,
    ids: IdSource,
    later: Option<Later>,
    meter: Option<Arc<dyn Meter>>,
    summarizer: Arc<dyn Summarizer>,
    /// Whether that is a model's or the application's, and not the rules'.
    has_own_summarizer: bool,
    conversations: Option<Arc<Conversations>>,
}

/// Where the graph is kept, and what is declared of it.
#[derive(Debug)]
struct KeptGraph {
    store: Arc<dyn GraphStore>,
    is_memory_store: bool,
    single_valued: BTreeSet<String>,
}

impl Inner {
    fn conversation_store(&self) -> Option<&dyn ConversationStore> {
        self.conversations.as_ref().map(|conversations| conversations.store())
    }

    fn graph_part(&self) -> Option<GraphPart<'_>> {
        self.graph.as_ref().map(|graph| GraphPart {
            store: &*graph.store,
            is_memory_store: graph.is_memory_store,
            single_valued: &graph.single_valued,
        })
    }
}

impl MemoryEngine {
    /// An engine over the SQLite file at `path`, which is made if it is not there, with the built-in embedder and
    /// the rules: no server, no key, no download.
    ///
    /// # Errors
    /// As [`SqliteStoreBuilder::open`](crate::SqliteStoreBuilder::open), and
    /// [`EmbedderMismatch`](ErrorKind::EmbedderMismatch) for a file that another embedder has filled.
    #[cfg(all(feature = "sqlite", feature = "static-embedder"))]
    pub async fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        let store = crate::SqliteStore::open(path.as_ref()).await?;
        Self::builder().store(store).build().await
    }

    /// An engine of parts of your choice.
    pub fn builder() -> MemoryEngineBuilder {
        MemoryEngineBuilder::default()
    }

    /// Remembers messages: keeps the turns as episodes, reads facts from them, holds these against what is known, and
    /// writes all of it at once.
    ///
    /// Facts are read from what the user says; relative dates count from the message's own time. A new fact is held
    /// against the current facts of the whole scope, sessions aside: what repeats them is skipped, what contradicts
    /// them ends their validity, and nothing is erased. Memories carry the scope given here, session included, and are
    /// found from it and from wider ones: name the session when adding, and leave it out when searching, to find what
    /// other sessions learned. A turn is also found by the first sixteen facts that were read from it and are not known
    /// already, for as long as they are stored. Two adds at the same time see each other's outcome. What
    /// [`context`](Self::context) had put into a message is not remembered again; see
    /// [`RecalledText`](crate::RecalledText). Without a message nothing happens.
    ///
    /// With a [model](MemoryEngineBuilder::llm) an add asks it at most twice: for the facts, and for what they do to what is
    /// known; each once more if the answer was of no use. Without a word of the user it asks nothing, without a fact or
    /// anything known, or with facts that are [known already](crate::score::sameness::repeats), not for the second.
    /// What it plans is checked: no new fact is lost, and nothing known is changed or ended that no new fact speaks of.
    /// With [`AddMode::Agentic`](crate::AddMode::Agentic) the second question is a talk of at most three steps.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope; [`Configuration`](ErrorKind::Configuration) for
    /// [`AddMode::Agentic`](crate::AddMode::Agentic) without a model; what the extractor, the embedder, the
    /// reconciler or the store report, with the [`Stage`]; [`Conflict`](ErrorKind::Conflict) when others kept
    /// changing what is known. Nothing was written then.
    pub async fn add(&self, scope: &Scope, request: impl Into<AddRequest>) -> Result<AddReport> {
        let request = request.into();
        let start = std::time::Instant::now();
        let context = self.0.adding();
        let work = add::add(&context, scope, &request);
        let mut report = self.watched("add", scope, work, |report| report.into()).await?;
        report.elapsed = start.elapsed();
        Ok(report)
    }

    /// Stores memories as they are, all or none, and returns them in the order given. Nothing is read from them and
    /// nothing is held against them; the [relations](NewMemory::relations) they bring are taken into the graph.
    /// A turn comes back with its place, unless the store could no more be asked for it.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope, a blank text, an importance outside 0 to 1,
    /// a validity that ends before it begins or a relation with a blank name; [`Configuration`](ErrorKind::Configuration)
    /// for relations where no graph is kept; [`Conflict`](ErrorKind::Conflict) when others kept changing the graph; what
    /// the embedder or the store report. Nothing was written then.
    pub async fn add_raw<M: Into<NewMemory>>(
        &self,
        scope: &Scope,
        memories: impl IntoIterator<Item = M>,
    ) -> Result<Vec<Memory>> {
        let memories = memories.into_iter().map(Into::into).collect();
        let context = self.0.adding();
        let work = add::add_raw(&context, scope, memories);
        self.watched("add_raw", scope, work, |memories| Outcome::of(memories.len())).await
    }

    /// Finds memories, the best first; equal scores fall newest first, unless `diversity` is asked for. Nothing found is
    /// an empty list.
    ///
    /// What each part of the score is worth, by switching it off (five LoCoMo conversations, 997 questions; ten BEAM chats,
    /// 179 questions, of which 20 have an answer that changed; built-in embedder, no model; the examples `locomo` and `beam`
    /// print it with `--ablate`, and p-values beside):
    ///
    /// | score | LoCoMo any@5 | any@10 | recall@10 | BEAM recall@10 | newer first |
    /// | --- | --- | --- | --- | --- | --- |
    /// | everything | .810 | .882 | .834 | .559 | .850 |
    /// | without vector | .801 | .870 | .816 | .556 | .700 |
    /// | without keyword | .693 | .787 | .740 | .516 | .850 |
    /// | without neighbours | .794 | .858 | .808 | .573 | .800 |
    /// | without replies | .787 | .875 | .825 | .559 | .850 |
    /// | without session | .791 | .859 | .809 | .564 | .700 |
    /// | without speaker | .794 | .881 | .830 | .559 | .850 |
    /// | without wanted | .808 | .876 | .828 | .569 | .850 |
    /// | without time | .793 | .867 | .818 | .559 | .850 |
    /// | without assistant | .810 | .882 | .834 | .559 | .800 |
    /// | without asks | .794 | .873 | .822 | .559 | .850 |
    /// | without length | .810 | .882 | .834 | .548 | .750 |
    /// | without update | .810 | .882 | .834 | .559 | .450 |
    /// | with recency | .790 | .870 | .819 | .532 | .850 |
    /// | vector and keyword alone | .647 | .738 | .687 | .446 | .400 |
    ///
    /// The part `graph` is not in the table, for nothing is related there; with the facts that the rules read from LoCoMo it
    /// changes none of these figures (`--facts rules --ablate`).
    ///
    /// `recency`, how much [time](crate::score::decay) has left of a memory, is off unless it is given a weight (0.1 here).
    ///
    /// Parts that are of no use to people who talk with each other are of use to a user who talks with an assistant, and
    /// the other way round. `update` moves hits about within the first ten only. A model of its own for reranking is the
    /// caller's to add, with [`reranker`](MemoryEngineBuilder::reranker).
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope, a blank query or a bad filter; what the
    /// embedder, the reranker or the store report.
    pub async fn search(&self, scope: &Scope, request: impl Into<SearchRequest>) -> Result<Vec<Hit>> {
        let mut request = request.into();
        self.redact_query(&mut request.query);
        let context = self.searching();
        let work = search::search(&context, scope, &request);
        self.watched("search", scope, work, |hits| Outcome::of(hits.len())).await
    }

    /// What to put into a prompt: blocks, what is known and fits the query, and turns that fit it together with those
    /// around them, in a frame that tells them for data; see [`MemoryContext`] for the text.
    ///
    /// The best are taken first, the best of what is known and the best turns by turns, until the budget is used up, and
    /// are then shown in the fixed order. Blocks come before all else and do not depend on the query. What one of the
    /// turns or blocks shown says word for word is not told again as a fact. A memory is shown whole, unless even by
    /// itself it has no room: then it is cut after a sentence, or where else it must be, and takes at most half of what
    /// room there is if others were found too. A neighbour of a turn is shown if it takes no more than an eighth of the
    /// budget.
    ///
    /// Reads only. The same state of the store, request and budget give the same bytes, so a provider's prompt cache
    /// hits: the clock decides only what holds and what has
    /// [faded](crate::score::decay). Nothing found is an empty text, without a frame.
    ///
    /// When the text comes back through [`add`](Self::add), in part or inside another, it is known and not stored again.
    ///
    /// ```
    /// use ingrain::{HashingEmbedder, MemoryEngine, Message, Scope, TokenBudget};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(256)).build().await?;
    /// let alice = Scope::user("alice");
    /// memory.add(&alice, [Message::user("I'm allergic to shellfish.")]).await?;
    /// let block = memory.context(&alice, "plan dinner", TokenBudget::new(800)).await?;
    /// let prompt = format!("You are a helpful cook.\n\n{block}");
    /// assert!(prompt.contains("Is allergic to shellfish") && block.tokens <= 800);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope, a blank query, a bad filter, more than 20
    /// neighbours or a share outside 0 to 1; what the embedder or the store report.
    pub async fn context(
        &self,
        scope: &Scope,
        request: impl Into<ContextRequest>,
        budget: impl Into<TokenBudget>,
    ) -> Result<MemoryContext> {
        let mut request = request.into();
        self.redact_query(&mut request.query);
        let work = context::context(self, scope, &request, budget.into());
        self.watched("context", scope, work, |context| Outcome::of(context.memories.len())).await
    }

    /// One memory, whether it still holds or not.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if the scope covers no such memory;
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope; what the store reports.
    pub async fn get(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.watched("get", scope, self.read(scope, id), |_| Outcome::of(1)).await
    }

    /// One page of the memories in a scope, in the order they were made.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope, a bad filter, a limit of 0 or over 10,000, or
    /// a cursor that is none; what the store reports.
    pub async fn list(&self, scope: &Scope, request: ListRequest) -> Result<Page<Memory>> {
        let work = async {
            let query: ListQuery = request.into_query(scope.clone(), self.0.clock.now())?;
            self.0.store.list(&query).await.map_err(|error| error.with_stage(Stage::Search))
        };
        self.watched("list", scope, work, |page| Outcome::of(page.items.len())).await
    }

    /// How many memories hold in a scope, of those the filter admits.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub async fn count(&self, scope: &Scope, filter: Option<&Filter>) -> Result<u64> {
        let validity = Validity::Current(self.0.clock.now());
        let work = async {
            let counted = self.0.store.count(scope, filter, validity).await;
            counted.map_err(|error| error.with_stage(Stage::Search))
        };
        self.watched("count", scope, work, |_| Outcome::default()).await
    }

    /// Changes a memory and returns it as it is now. What the update does not mention stays; the id, the scope and
    /// `created_at` always stay. An update that changes nothing writes nothing. Only a new text is embedded. The turns
    /// a fact was read from are found by its new text in place of the old, or by neither if there are readers who see
    /// the turn and not the fact; a turn with a new text is found by that alone, and no longer by the facts that were
    /// read from the old.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound), [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope or value;
    /// [`Conflict`](ErrorKind::Conflict) when others kept changing it; what the embedder or the store report.
    pub async fn update(&self, scope: &Scope, id: MemoryId, update: MemoryUpdate) -> Result<Memory> {
        self.update_by(scope, id, update, Actor::App).await
    }

    /// Removes a memory. Its history stays and ends with the removal. What it had superseded stays ended; see
    /// [`MemoryUpdate::valid_until`] to let that hold again.
    ///
    /// The turns a fact was read from stay, for they are memories of their own, but are no longer found by its text. If
    /// the fact had taken in several, these turns are then found by their own words alone. A summary or an observation that
    /// [maintenance](Self::maintain) wrote does not come back: what it told is [not told again](crate::Maintenance::observe).
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound), [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope;
    /// [`Conflict`](ErrorKind::Conflict) when others kept changing it; what the store reports.
    pub async fn delete(&self, scope: &Scope, id: MemoryId) -> Result<()> {
        self.delete_by(scope, id, Actor::App).await
    }

    /// Removes every memory the scope covers, also those that no longer hold, and says how many there were. Their
    /// histories stay.
    ///
    /// Nothing outside the scope is changed. So a turn that stays, as a turn of the user does when one session is
    /// removed, is still found by the text of a fact that was read from it and is removed here, though the fact itself
    /// is gone. Where such words must go, too, [`delete`](MemoryEngine::delete) these facts first.
    ///
    /// What the scope covers of the [queue of adds](Self::add_later) is removed first, whatever its state, and an add that
    /// is being carried out writes nothing more. Only one that another process is writing just then may still get through.
    ///
    /// Then go the [conversations](crate::ConversationStore) that the store keeps in the scope, with their summaries: all of
    /// them in one write, and the memories in another. After an error they may be gone; call again.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope; what the store reports. No memory was removed
    /// then.
    pub async fn delete_all(&self, scope: &Scope) -> Result<u64> {
        scope.validate()?;
        let work = later::erase(self, scope, delete::delete_all(self, scope));
        self.watched("delete_all", scope, work, |count| Outcome::of(usize::try_from(*count).unwrap_or(usize::MAX)))
            .await
    }

    /// Who and what the user's world is made of: the entities and relations that facts told of, since when and until when.
    ///
    /// It is the user's as a whole: a session in the scope is passed over. Without a [graph
    /// store](MemoryEngineBuilder::graph) every call of it is an error.
    pub fn graph(&self, scope: &Scope) -> Graph {
        Graph::new(self.clone(), scope)
    }

    /// What happened to a memory, oldest first, also after it was removed; nothing, of one that is there, if it told of
    /// something that was [purged](Self::purge).
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if the scope never covered such a memory;
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope; what the store reports.
    pub async fn history(&self, scope: &Scope, id: MemoryId) -> Result<Vec<HistoryEvent>> {
        self.watched("history", scope, self.read_history(scope, id), |_| Outcome::of(1)).await
    }

    /// As [`get`](Self::get), as a part of another call.
    async fn read(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        let found = self.0.store.get(scope, &[id]).await.map_err(|error| error.with_stage(Stage::Search))?;
        found.into_iter().next().ok_or_else(not_found)
    }

    /// As [`history`](Self::history), as a part of another call.
    async fn read_history(&self, scope: &Scope, id: MemoryId) -> Result<Vec<HistoryEvent>> {
        let events = self.0.store.history(scope, id).await.map_err(|error| error.with_stage(Stage::Search))?;
        if events.is_empty() {
            self.read(scope, id).await?;
        }
        Ok(events)
    }

    /// A query is embedded, and perhaps far from here.
    pub(crate) fn redact_query(&self, query: &mut String) {
        if let Some(redactor) = self.0.redactor.as_deref() {
            add::redact::text(redactor, query);
        }
    }

    fn searching(&self) -> SearchContext<'_> {
        SearchContext {
            store: &*self.0.store,
            embedder: &*self.0.embedder,
            reranker: self.0.reranker.as_deref(),
            graph: self.graph_part().map(|part| part.store),
            weights: self.0.weights,
            decay: &self.0.decay,
            now: self.0.clock.now(),
            vector: None,
        }
    }

    fn graph_part(&self) -> Option<GraphPart<'_>> {
        self.0.graph_part()
    }

    fn summarizer(&self) -> Option<Arc<dyn Summarizer>> {
        Some(Arc::clone(&self.0.summarizer))
    }

    /// The summarizer, unless it is the rules'.
    fn prompted_summarizer(&self) -> Option<Arc<dyn Summarizer>> {
        self.0.has_own_summarizer.then(|| Arc::clone(&self.0.summarizer))
    }

    /// The stamp of a call, now.
    fn stamp(&self, by: Actor) -> Stamp {
        let now: Timestamp = truncate(self.0.clock.now());
        Stamp::new(now, by, CallId::new(now))
    }
}

impl Inner {
    fn adding(&self) -> AddContext<'_> {
        let now = self.clock.now();
        AddContext {
            store: &*self.store,
            embedder: &*self.embedder,
            extractor: &*self.extractor,
            reconciler: &*self.reconciler,
            agentic: self.agentic.as_deref(),
            rules: (&RuleExtractor, &RuleReconciler),
            redactor: self.redactor.as_deref(),
            quarantine: self.quarantine,
            graph: self.graph_part(),
            ids: &self.ids,
            now,
            call: CallId::new(now),
            once: None,
        }
    }
}

fn not_found() -> Error {
    Error::new(ErrorKind::NotFound, "the scope has no such memory")
}
