mod wordings;

use std::collections::BTreeSet;

use wordings::{removed, with_wordings};

use super::{MemoryEngine, delete, watch::Outcome};
use crate::{
    ErrorKind, Filter, ListQuery, Memory, MemoryId, Result, Scope, Source, Stage, Validity, WriteBatch,
    graph::{self, Trace},
};

/// How many memories are read at a time.
const PAGE: usize = 1_000;
/// How often a change is tried again because others were faster.
const ATTEMPTS: usize = super::ATTEMPTS;

/// What [`purge`](MemoryEngine::purge) takes away.
///
/// ```
/// # use ingrain::{Filter, MemoryId, Purge};
/// # let id: MemoryId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
/// let one = Purge::memories([id]).with_related();
/// let category = Purge::matching(Filter::eq("categories", "health"));
/// let account = Purge::everything();
/// # let _ = (one, category, account);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Purge {
    what: What,
    related: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    Everything,
    Memories(Vec<MemoryId>),
    Matching(Box<Filter>),
}

impl Purge {
    /// Everything that the scope covers, of every sort: memories, histories, the graph, conversations with their summaries,
    /// and queued adds.
    pub const fn everything() -> Self {
        Self { what: What::Everything, related: false }
    }

    /// These memories, and the histories of those among them that were removed before. Unknown ones are passed over.
    pub fn memories(ids: impl IntoIterator<Item = MemoryId>) -> Self {
        Self { what: What::Memories(ids.into_iter().collect()), related: false }
    }

    /// The memories that the filter admits, also those that no longer hold. What was removed before has no fields left
    /// that a filter could ask for; give its id.
    pub fn matching(filter: Filter) -> Self {
        Self { what: What::Matching(Box::new(filter)), related: false }
    }

    /// Also the memories that these were read from, such as the turns of a fact, and those that were read from these, one
    /// step either way. Of no effect on [`everything`](Self::everything). Default: these alone, and the turns stay, without
    /// being found by them.
    pub fn with_related(mut self) -> Self {
        self.related = true;
        self
    }
}

/// What went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PurgeReport {
    /// Memories.
    pub memories: u64,
    /// Events of histories.
    pub events: u64,
    /// Entities of the graph.
    pub entities: u64,
    /// Relations of the graph, also those that had ended or expired.
    pub relations: u64,
    /// Messages of conversations.
    pub messages: u64,
    /// Queued adds.
    pub queued_adds: u64,
}

impl MemoryEngine {
    /// Takes memories away for good, with every trace of them: history, indexes, what the graph knows from them alone and,
    /// of a durable store, every byte that lay free in its files. Says how much went. Unlike [`delete`](Self::delete),
    /// after which the history still tells what was known.
    ///
    /// Each memory goes in one write, whole; with [`Purge::everything`] all memories of the scope do. If the call fails or
    /// is dropped midway, call again: what has gone is passed over, and the files are cleaned all the same. Nothing that
    /// other memories say by themselves is changed: a turn stays that says what a purged fact said, unless it is purged
    /// [with it](Purge::with_related). Summaries and observations that rest on what is purged go with it, for they tell it
    /// in other words, also of turns that had faded; [`maintain`](Self::maintain) makes them anew of what is left. Since
    /// nothing is left that tells of it, an observation or summary that is itself purged is written anew, too, as long as
    /// what it told is there: one that is to stay away is [deleted](Self::delete), or purged [with](Purge::with_related)
    /// what it told. What a summary or an observation told at an earlier time nobody knows any more: of those of the memory's
    /// session and user that were removed, or say something else now, the histories go as well. Memories that
    /// [`maintain`](Self::maintain) merged say the same, and go together. Conversations and queued adds go with everything
    /// alone, since nothing tells which memories their messages became. Copies elsewhere, such as backups and the logs of a
    /// model's provider, are out of reach.
    ///
    /// What the graph says goes with the last memory that told it. A relation that rests on others as well stays, in their
    /// words. Of an entity that stays, those names, and what it was said to be, stay that something left tells: a memory by
    /// the words of its text, or a relation that was told under that name. A name of an entity that was purged of goes if
    /// nothing left has it word for word, turns included, since nobody knows any more who told it; the last name stays.
    ///
    /// ```
    /// # use ingrain::{HashingEmbedder, MemoryEngine, Purge, Scope};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// # let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await?;
    /// let alice = Scope::user("alice");
    /// memory.add_raw(&alice, ["Owns a kayak"]).await?;
    /// let gone = memory.purge(&alice, Purge::everything()).await?;
    /// assert_eq!((gone.memories, gone.events), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope or filter; [`Conflict`](ErrorKind::Conflict) when
    /// others kept changing one of them; what the stores report, also when readers kept old bytes in place for too long.
    pub async fn purge(&self, scope: &Scope, what: Purge) -> Result<PurgeReport> {
        let count = |report: &PurgeReport| Outcome::of(usize::try_from(report.memories).unwrap_or(usize::MAX));
        self.watched("purge", scope, purge(self, scope, what), count).await
    }
}

async fn purge(engine: &MemoryEngine, scope: &Scope, request: Purge) -> Result<PurgeReport> {
    scope.validate()?;
    let mut report = PurgeReport::default();
    match request.what {
        What::Everything => {
            if engine.0.later.is_some() {
                report.queued_adds = engine.queued_adds(scope).await?.len() as u64;
            }
            super::later::erase(engine, scope, everything(engine, scope, &mut report)).await?;
        }
        What::Memories(ids) => {
            let mut ids: BTreeSet<MemoryId> = ids.into_iter().collect();
            if request.related {
                let ids_now: Vec<MemoryId> = ids.iter().copied().collect();
                let named = engine.0.store.get(scope, &ids_now).await.map_err(in_store)?;
                ids.extend(related(engine, scope, &named).await?);
            }
            with_wordings(engine, scope, ids, &mut report).await?;
        }
        What::Matching(filter) => {
            let found = listed(engine, scope, Some(*filter)).await?;
            let mut ids: BTreeSet<MemoryId> = found.iter().map(|memory| memory.id).collect();
            if request.related {
                ids.extend(related(engine, scope, &found).await?);
            }
            with_wordings(engine, scope, ids, &mut report).await?;
        }
    }
    engine.0.store.scrub().await.map_err(in_store)?;
    Ok(report)
}

async fn everything(engine: &MemoryEngine, scope: &Scope, report: &mut PurgeReport) -> Result<()> {
    if let Some(conversations) = engine.0.conversation_store() {
        report.messages = conversations.erase(scope).await.map_err(in_store)?;
    }
    let part = engine.graph_part();
    let is_the_graphs = scope.agent_id().is_none() && scope.session_id().is_none();
    if let (Some(part), true) = (part, is_the_graphs) {
        let told = delete::told_elsewhere(engine, part, scope).await?;
        each(engine, scope, told.into_values().flatten().collect(), report).await?;
    } else if scope.session_id().is_some() || part.is_some() {
        // What is told here is known elsewhere, too: the graph is the user's, and turns of other sessions may be found by a
        // fact of this one. So each memory is taken out of these.
        let mut ids: BTreeSet<MemoryId> = listed(engine, scope, None).await?.iter().map(|memory| memory.id).collect();
        if scope.session_id().is_some() {
            // What was removed from the session may have been observed across sessions.
            ids.extend(removed(engine, scope).await?);
        }
        with_wordings(engine, scope, ids, report).await?;
    }
    let mut remove_graph = async || -> Result<()> {
        if let Some(part) = part.filter(|part| !part.is_memory_store) {
            let (entities, relations) = part.store.delete_graph(scope).await.map_err(in_store)?;
            report.entities += entities;
            report.relations += relations;
        }
        Ok(())
    };
    // What the graph tells goes first: whoever asks again after an outage finds the memories still there. And once more
    // after them, for an add of another process may have come in between.
    remove_graph().await?;
    let gone = engine.0.store.purge_all(scope).await.map_err(in_store)?;
    remove_graph().await?;
    report.memories += gone.memories;
    report.events += gone.events;
    report.entities += gone.entities;
    report.relations += gone.relations;
    Ok(())
}

/// Every memory that the scope covers and the filter admits.
async fn listed(engine: &MemoryEngine, scope: &Scope, filter: Option<Filter>) -> Result<Vec<Memory>> {
    let mut query = ListQuery::new(scope.clone(), Validity::Any);
    (query.limit, query.filter) = (PAGE, filter);
    let mut found = Vec::new();
    loop {
        let page = engine.0.store.list(&query).await.map_err(in_store)?;
        found.extend(page.items);
        query.after = page.next;
        if query.after.is_none() {
            return Ok(found);
        }
    }
}

/// What the memories were read from, and what was read from them.
async fn related(engine: &MemoryEngine, scope: &Scope, memories: &[Memory]) -> Result<Vec<MemoryId>> {
    let named: BTreeSet<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let mut ids: Vec<MemoryId> = memories.iter().flat_map(rests_on).collect();
    if !named.is_empty() {
        let all = listed(engine, scope, None).await?;
        ids.extend(all.iter().filter(|memory| rests_on(memory).any(|id| named.contains(&id))).map(|memory| memory.id));
    }
    Ok(ids)
}

fn rests_on(memory: &Memory) -> impl Iterator<Item = MemoryId> {
    memory.sources.iter().filter_map(|source| match source {
        // What has faded may have come back by an import.
        Source::Memory(id) | Source::Faded(id) => Some(*id),
        Source::Message(_) => None,
    })
}

async fn each(engine: &MemoryEngine, scope: &Scope, ids: BTreeSet<MemoryId>, report: &mut PurgeReport) -> Result<()> {
    for id in ids {
        let mut attempt = 1;
        while let Err(error) = one(engine, scope, id, report).await {
            // It, a turn it was read from, or what its relations rest on besides, was changed or removed meanwhile.
            if error.kind() != ErrorKind::Conflict || attempt == ATTEMPTS {
                return Err(error);
            }
            attempt += 1;
        }
    }
    Ok(())
}

/// Takes one memory and its history away, and all that tells of it elsewhere, in one write.
async fn one(engine: &MemoryEngine, scope: &Scope, id: MemoryId, report: &mut PurgeReport) -> Result<()> {
    let version = delete::graph_version(engine).await?;
    let history = engine.0.store.history(scope, id).await.map_err(in_store)?;
    let events = history.len() as u64;
    let found = engine.0.store.get(scope, &[id]).await.map_err(in_store)?.pop();
    let mut batch = WriteBatch { erase_history: vec![id], ..WriteBatch::default() };
    let stored = found.as_ref().map(|memory| memory.scope.clone());
    let Some(stored) = stored.or_else(|| history.last().map(|event| event.scope.clone())) else { return Ok(()) };
    let mut texts: Vec<String> =
        history.into_iter().flat_map(|event| [event.old_text, event.new_text]).flatten().collect();
    if let Some(memory) = &found {
        texts.push(memory.text.clone());
        batch.puts = delete::without_its_text(engine, memory, &[]).await?;
        batch.deletes.push(id);
    }
    texts.sort_unstable();
    texts.dedup();
    // Of what was removed before, names may be left.
    let changes = delete::forgotten_to(engine, &stored, &[id], Trace::Nothing(&texts)).await?;
    batch.unchanged = delete::guard(&stored, version, &changes);
    let relations = changes.gone;
    let entities = changes.batch.remove_entities.len() as u64;
    graph::write_deletion(&*engine.0.store, engine.graph_part(), batch, changes).await.map_err(in_store)?;
    report.memories += u64::from(found.is_some());
    report.events += events;
    report.entities += entities;
    report.relations += relations;
    Ok(())
}

fn in_store(error: crate::Error) -> crate::Error {
    error.with_stage(Stage::Store)
}
