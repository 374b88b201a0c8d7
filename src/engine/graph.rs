use std::collections::HashSet;

use super::{
    ATTEMPTS, MemoryEngine,
    delete::{graph_version, guard},
    watch::Outcome,
};
use crate::{
    Cursor, Direction, Entity, EntityId, Error, ErrorKind, GraphQuery, GraphView, Page, Path, Relation, Result, Scope,
    Stage, Timestamp, Version, WriteBatch,
    graph::{GraphPart, Web, write},
};

/// Most relations of a [view](Graph::view).
const VIEW: usize = 10_000;
/// How many are read at a time.
const PAGE: usize = 1_000;

/// The graph of one user's world, as it is believed now to be now, or [as of](Graph::as_of) other times.
///
/// # How long a relation holds
/// From the first beginning to the last end of the memories it rests on, whatever changes those: an add, an update, a merge
/// that is undone, an approval, an import. Of a relation that has but one object at a time, the next object's beginning is
/// its end; when that one goes, it holds again as long as its memories do.
///
/// # Who is meant by a name
/// Equal names mean one entity, unless one is a person or an animal and the other is not. Other spellings of a long name
/// ("Acme Robotics GmbH") mean it if both are related to a third. What that does not decide is a new entity by the rules; a
/// model is asked in the same call in which it holds facts against what is known, and only where there is a reason to: the
/// names have something in common, or the two are connected and one is short for something ("Bob", "Robert Smith") or a
/// description ("the clinic"). Of one add at most six names are asked about, with three entities each; no call is made for
/// names alone, and with [`AddMode::Agentic`](crate::AddMode::Agentic) none are asked about.
///
/// A model's word is not taken for a merge that letters alone may have suggested: words that a slip of the pen would make
/// the same (Jon, John, Joan; KTRA, KTRB) are two names unless both are long and neither is a person's; so are different
/// numbers (Hall 7, Hall 8), and two full names of people unless they share a word and a neighbour. What was taken is in
/// [`AddReport::resolved`](crate::AddReport::resolved), the name becomes an alias, and [`split`](Graph::split) under it takes
/// it back; what was refused is in [`AddReport::rejected`](crate::AddReport::rejected).
///
/// ```
/// use ingrain::{HashingEmbedder, MemoryEngine, Scope};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await?;
/// let alice = Scope::user("alice");
/// memory.add(&alice, "I live in Lisbon. I have a dog named Bruno.").await?;
/// memory.add(&alice, "I moved to Porto.").await?;
/// let graph = memory.graph(&alice);
/// let told: Vec<String> = graph.view().await?.relations.into_iter().map(|relation| relation.predicate).collect();
/// assert_eq!(told, ["has_pet", "lives_in"]);
/// let (user, _) = graph.find("user", 1).await?.remove(0);
/// assert_eq!(graph.neighbours(&[user.id], 1).await?.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Graph {
    engine: MemoryEngine,
    scope: Scope,
    valid: Option<Time>,
    known: Option<Timestamp>,
}

/// World time.
#[derive(Debug, Clone, Copy)]
enum Time {
    Any,
    At(Timestamp),
}

impl Graph {
    pub(super) fn new(engine: MemoryEngine, scope: &Scope) -> Self {
        Self { engine, scope: scope.across_sessions(), valid: None, known: None }
    }

    /// What was believed at `known` to hold at `valid`.
    pub fn as_of(mut self, valid: Timestamp, known: Timestamp) -> Self {
        (self.valid, self.known) = (Some(Time::At(valid)), Some(known));
        self
    }

    /// What is believed now to hold at `valid`.
    pub fn at(mut self, valid: Timestamp) -> Self {
        self.valid = Some(Time::At(valid));
        self
    }

    /// What is believed of any time, what has ended included.
    pub fn any_time(mut self) -> Self {
        self.valid = Some(Time::Any);
        self
    }

    /// Entities with a name or alias like `name`, likest first, at most `limit`, each with its likeness in 0 to 1; see
    /// [`GraphStore::find_entities`](crate::GraphStore::find_entities).
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) without a graph store; [`InvalidArgument`](ErrorKind::InvalidArgument) for
    /// a bad scope; what the store reports.
    pub async fn find(&self, name: &str, limit: usize) -> Result<Vec<(Entity, f32)>> {
        // Those that were merged away are passed over.
        let found =
            self.part()?.store.find_entities(&self.scope, name, limit.saturating_mul(2)).await.map_err(in_search)?;
        Ok(found.into_iter().filter(|(entity, _)| entity.merged_into.is_none()).take(limit).collect())
    }

    /// Entities by id, in the order of `ids`; those not found are left out.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub async fn entities(&self, ids: &[EntityId]) -> Result<Vec<Entity>> {
        self.part()?.store.entities(&self.scope, ids).await.map_err(in_search)
    }

    /// One page of the relations, by id.
    ///
    /// # Errors
    /// As [`find`](Self::find), and for a limit of 0 or a cursor that is none.
    pub async fn relations(&self, after: Option<&Cursor>, limit: usize) -> Result<Page<Relation>> {
        self.part()?.store.list_relations(&self.scope, &self.query(), after, limit).await.map_err(in_search)
    }

    /// What is reached from `start` in at most `depth` steps (1 to 4) along relations in either direction, nearest first,
    /// each end once, at most 1,000.
    ///
    /// # Errors
    /// As [`find`](Self::find), and for a depth out of range.
    pub async fn neighbours(&self, start: &[EntityId], depth: usize) -> Result<Vec<Path>> {
        let store = self.part()?.store;
        store.neighbours(&self.scope, start, depth, Direction::Both, &self.query()).await.map_err(in_search)
    }

    /// A shortest path of at most eight steps, or `None`.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub async fn path(&self, from: EntityId, to: EntityId) -> Result<Option<Path>> {
        self.part()?.store.path(&self.scope, from, to, 8, &self.query()).await.map_err(in_search)
    }

    /// The relations, at most the 10,000 oldest, and the entities they connect, to be drawn or exported.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub async fn view(&self) -> Result<GraphView> {
        let mut relations: Vec<Relation> = Vec::new();
        let mut after = None;
        loop {
            let page = self.relations(after.as_ref(), PAGE).await?;
            relations.extend(page.items);
            after = page.next;
            if after.is_none() || relations.len() >= VIEW {
                break;
            }
        }
        let mut seen = HashSet::new();
        let ends = relations.iter().flat_map(|relation| [relation.subject, relation.object]);
        let mut ends: Vec<EntityId> = ends.filter(|id| seen.insert(*id)).collect();
        ends.sort_unstable();
        Ok(GraphView::new(self.entities(&ends).await?, relations))
    }

    /// Makes one entity of two: what is believed of `other` is believed of `kept`, and its names become aliases.
    /// [`split`](Self::split) takes it back.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) for an entity that is not there, [`InvalidArgument`](ErrorKind::InvalidArgument) for
    /// one with itself; [`Conflict`](ErrorKind::Conflict) when others kept changing what is known; else as [`find`](Self::find).
    pub async fn merge(&self, kept: EntityId, other: EntityId) -> Result<()> {
        if kept == other {
            return Err(Error::invalid("an entity cannot be merged with itself"));
        }
        let work = async {
            let mut attempt = 1;
            loop {
                let version = graph_version(&self.engine).await?;
                let mut web = self.web()?;
                web.merge(kept, other).await.map_err(in_store)?;
                match self.write(web, version).await {
                    Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
                    written => return written,
                }
            }
        };
        self.engine.watched("merge", &self.scope, work, |()| Outcome::default()).await
    }

    /// Makes two entities of one: what was told of it under the alias `name` is believed of another, which is the one it had
    /// been merged with, or a new one. Returns that one's id.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) for an entity that is not there, [`InvalidArgument`](ErrorKind::InvalidArgument) for
    /// a name that is no alias of it; else as [`merge`](Self::merge).
    pub async fn split(&self, entity: EntityId, name: &str) -> Result<EntityId> {
        let work = async {
            let mut attempt = 1;
            loop {
                let version = graph_version(&self.engine).await?;
                let mut web = self.web()?;
                let other = web.split(entity, name, &*self.engine.0.store).await.map_err(in_store)?;
                match self.write(web, version).await {
                    Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
                    written => return written.map(|()| other),
                }
            }
        };
        self.engine.watched("split", &self.scope, work, |_| Outcome::default()).await
    }

    /// How many entities and relations there are, ended and no longer believed ones included.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub async fn counts(&self) -> Result<(u64, u64)> {
        self.part()?.store.graph_counts(&self.scope).await.map_err(in_search)
    }

    fn part(&self) -> Result<GraphPart<'_>> {
        self.engine.graph_part().ok_or_else(|| {
            Error::new(ErrorKind::Configuration, "no graph: its store keeps none, or relations were switched off")
        })
    }

    fn query(&self) -> GraphQuery {
        let query = match self.valid {
            None => GraphQuery::at(self.engine.0.clock.now()),
            Some(Time::At(valid)) => GraphQuery::at(valid),
            Some(Time::Any) => GraphQuery::any_time(),
        };
        GraphQuery { known: self.known, ..query }
    }

    fn web(&self) -> Result<Web<'_>> {
        let part = self.part()?;
        self.scope.validate()?;
        Ok(Web::new(part.store, &self.scope, self.engine.0.clock.now(), part.single_valued))
    }

    async fn write(&self, web: Web<'_>, version: Option<Version>) -> Result<()> {
        let changes = web.into_changes();
        let batch = WriteBatch { unchanged: guard(&self.scope, version, &changes), ..WriteBatch::default() };
        let written = write(&*self.engine.0.store, Some(self.part()?), batch, changes).await;
        written.map(|_| ()).map_err(in_store)
    }
}

fn in_search(error: Error) -> Error {
    error.with_stage(Stage::Search)
}

fn in_store(error: Error) -> Error {
    error.with_stage(Stage::Store)
}
