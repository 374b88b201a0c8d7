mod read;
mod write;

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;

pub use read::{Direction, GraphQuery, Path};
pub(crate) use read::{check_list, check_walk};
pub use write::GraphBatch;
#[cfg(feature = "sqlite")]
pub(crate) use write::{check_entity, check_relation};

use crate::{Cursor, Entity, EntityId, MemoryId, Page, Relation, RelationId, Result, Scope};

/// Deepest walk of [`GraphStore::neighbours`].
pub(crate) const DEEPEST_WALK: usize = 4;

/// Longest path that [`GraphStore::path`] looks for.
pub(crate) const LONGEST_PATH: usize = 8;

/// Keeps entities and relations that begin and end.
///
/// The contract, which the suite `graph_store_suite!` of the `testing` module checks:
///
/// - **Scopes are apart.** A read sees the entities and relations its scope covers and no others. A bad scope is
///   refused before anything is read. An entity may be stored in a wider scope than its relations (a user's entity,
///   told of in one of her sessions); a walk in the narrower scope follows the relations, each of which that scope
///   covers, and so may end at an entity that it does not cover.
/// - **Writes are whole.** [`apply_graph`](GraphStore::apply_graph) does all of a batch or nothing; when it has
///   returned, every read that begins later sees it. A read sees each batch whole or not at all. Cancelling the future
///   leaves the batch applied or not, never half.
/// - **What was believed stays readable.** Of a stored relation only `expired_at`, once, `sources` and `seen_at` ever change. Who
///   learns that a relation ended lets it expire and stores its successor, in one batch
///   ([`GraphBatch::invalidate`]); the store keeps both and refuses to change what either says. So
///   [`GraphQuery::at`] with [`known_at`](GraphQuery::known_at) is exact for every pair of instants.
/// - **All text is data**, names and predicates included, and never part of a query language. It comes back byte for
///   byte, times to the microsecond.
/// - **Orders are total.** Lists go by id; the others say how they go.
/// - **An outage is an error**, never an empty result.
///
/// A store that is also the [`VectorStore`](crate::VectorStore) declares the capability `graph`. It applies the graph
/// part of a [`WriteBatch`](crate::WriteBatch) in the same transaction, its version grows with every write of the
/// graph, and [`delete_all`](crate::VectorStore::delete_all) of a scope's memories takes the scope's graph along, as
/// [`delete_graph`](GraphStore::delete_graph) does. Otherwise the two leave each other alone: removing a memory touches
/// no relation that rests on it, and a write of the graph holds no guard back.
///
/// # Example: she left in May, and we learned it in June
/// ```
/// # use chrono::{TimeZone, Utc};
/// # use ingrain::{Entity, EntityId, GraphBatch, GraphQuery, GraphStore, InMemoryStore, Relation, RelationId, Scope};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// let store = InMemoryStore::new();
/// let (alice, day) = (Scope::user("alice"), |month, day| Utc.with_ymd_and_hms(2025, month, day, 0, 0, 0).unwrap());
/// let (told, learned) = (day(3, 1), day(6, 1));
/// let anna = Entity::new(EntityId::new(told), alice.clone(), "Anna", told);
/// let acme = Entity::new(EntityId::new(told), alice.clone(), "Acme", told);
/// let ends = (anna.id, "works_at", acme.id);
/// let works = Relation::new(RelationId::new(told), alice.clone(), ends, "Anna works at Acme", told);
/// let mut batch = GraphBatch::default();
/// batch.entities.extend([anna, acme]);
/// batch.relations.push(works.clone());
/// store.apply_graph(&batch).await?;
///
/// let mut batch = GraphBatch::default();
/// batch.invalidate(&works, RelationId::new(learned), day(5, 1), learned);
/// store.apply_graph(&batch).await?;
///
/// let in_may = GraphQuery::at(day(5, 20));
/// assert!(store.list_relations(&alice, &in_may, None, 10).await?.items.is_empty());
/// let as_believed_then = in_may.known_at(day(5, 20));
/// assert_eq!(store.list_relations(&alice, &as_believed_then, None, 10).await?.items.len(), 1);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait GraphStore: Debug + Send + Sync + 'static {
    /// Names the backend, such as `neo4j`.
    fn name(&self) -> &str;

    /// Applies a batch, whole or not at all. An equal batch may be applied again: nothing changes.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) as [`GraphBatch::validate`], and for an entity or
    /// relation that is stored in another scope, or a relation that is stored and says something else;
    /// [`Conflict`](crate::ErrorKind::Conflict) for a relation whose end is not there (or in no scope that covers the
    /// relation's), or that expired meanwhile; [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn apply_graph(&self, batch: &GraphBatch) -> Result<()>;

    /// Entities by id, in the order of `ids`; those not found are left out.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a bad scope;
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn entities(&self, scope: &Scope, ids: &[EntityId]) -> Result<Vec<Entity>>;

    /// Entities with a name or alias like `name`, likest first, equals by id, at most `limit`, each with the
    /// [`likeness`](crate::score::names::Name::likeness) of its likest name: 1 if it is equal after case folding, NFKC
    /// and trimming, less otherwise, and never below [`LIKE`](crate::score::names::LIKE). Nothing is like a blank name.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities).
    async fn find_entities(&self, scope: &Scope, name: &str, limit: usize) -> Result<Vec<(Entity, f32)>>;

    /// Entities with a name or alias that is equal to one of `names` after case folding, NFKC and trimming, by id, each
    /// once. A blank name is nobody's.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities).
    async fn named(&self, scope: &Scope, names: &[String]) -> Result<Vec<Entity>>;

    /// Every entity, by id, page by page. Walking the pages meets every entity that is there all the while exactly
    /// once, whatever is written meanwhile.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities); also for a cursor that is none, and a limit of 0.
    async fn list_entities(&self, scope: &Scope, after: Option<&Cursor>, limit: usize) -> Result<Page<Entity>>;

    /// Every relation the query sees, by id, page by page, as [`list_entities`](GraphStore::list_entities). The limit
    /// of the query plays no part.
    ///
    /// # Errors
    /// As [`list_entities`](GraphStore::list_entities).
    async fn list_relations(
        &self,
        scope: &Scope,
        query: &GraphQuery,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Relation>>;

    /// The relations that rest on any of these memories, by id, each once, also those that have ended or expired.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities).
    async fn relations_of(&self, scope: &Scope, memories: &[MemoryId]) -> Result<Vec<Relation>>;

    /// The relations at these entities that the query sees: entity by entity in the order given, the newer id first, at
    /// most `query.limit` of each; one that is at two of them comes once, at the first.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities).
    async fn relations_at(
        &self,
        scope: &Scope,
        entities: &[EntityId],
        direction: Direction,
        query: &GraphQuery,
    ) -> Result<Vec<Relation>>;

    /// What is reached from `start` in at most `depth` steps (1 to 4), nearest first, each end once and by a shortest
    /// path, none of the entities begun at, at most `query.limit`.
    ///
    /// The order is that of the walk: from the entities of `start` in the order given, then from what was reached in
    /// the order it was reached in; at each entity its relations by id, the newer first. So a limit keeps what is near
    /// and new, and the walk reads little more than it returns, at an entity with any number of relations.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities), and for a depth out of range.
    async fn neighbours(
        &self,
        scope: &Scope,
        start: &[EntityId],
        depth: usize,
        direction: Direction,
        query: &GraphQuery,
    ) -> Result<Vec<Path>>;

    /// A shortest path of at most `depth` steps (1 to 8) that follows relations either way, or `None`; from an entity
    /// to itself the empty one. Which of several is not said, but it is the same each time. The limit of the query
    /// plays no part.
    ///
    /// # Errors
    /// As [`neighbours`](GraphStore::neighbours).
    async fn path(
        &self,
        scope: &Scope,
        from: EntityId,
        to: EntityId,
        depth: usize,
        query: &GraphQuery,
    ) -> Result<Option<Path>>;

    /// How many entities and relations (ended and expired ones included) the scope covers.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities).
    async fn graph_counts(&self, scope: &Scope) -> Result<(u64, u64)>;

    /// Relations of **all** scopes, by id, those above `after`, at most `limit`, also those that have ended or expired; fewer
    /// only at the end. For administration: whoever shows them to a user shows what is another's.
    ///
    /// # Errors
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn relations_of_everyone(&self, after: Option<RelationId>, limit: usize) -> Result<Vec<Relation>>;

    /// Removes every entity and relation the scope covers, without a trace, and says how many.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities).
    async fn delete_graph(&self, scope: &Scope) -> Result<(u64, u64)>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: GraphStore + ?Sized> GraphStore for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn apply_graph(&self, batch: &GraphBatch) -> Result<()> {
        (**self).apply_graph(batch).await
    }

    async fn entities(&self, scope: &Scope, ids: &[EntityId]) -> Result<Vec<Entity>> {
        (**self).entities(scope, ids).await
    }

    async fn find_entities(&self, scope: &Scope, name: &str, limit: usize) -> Result<Vec<(Entity, f32)>> {
        (**self).find_entities(scope, name, limit).await
    }

    async fn named(&self, scope: &Scope, names: &[String]) -> Result<Vec<Entity>> {
        (**self).named(scope, names).await
    }

    async fn list_entities(&self, scope: &Scope, after: Option<&Cursor>, limit: usize) -> Result<Page<Entity>> {
        (**self).list_entities(scope, after, limit).await
    }

    async fn list_relations(
        &self,
        scope: &Scope,
        query: &GraphQuery,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Relation>> {
        (**self).list_relations(scope, query, after, limit).await
    }

    async fn relations_of(&self, scope: &Scope, memories: &[MemoryId]) -> Result<Vec<Relation>> {
        (**self).relations_of(scope, memories).await
    }

    async fn relations_at(
        &self,
        scope: &Scope,
        entities: &[EntityId],
        direction: Direction,
        query: &GraphQuery,
    ) -> Result<Vec<Relation>> {
        (**self).relations_at(scope, entities, direction, query).await
    }

    async fn neighbours(
        &self,
        scope: &Scope,
        start: &[EntityId],
        depth: usize,
        direction: Direction,
        query: &GraphQuery,
    ) -> Result<Vec<Path>> {
        (**self).neighbours(scope, start, depth, direction, query).await
    }

    async fn path(
        &self,
        scope: &Scope,
        from: EntityId,
        to: EntityId,
        depth: usize,
        query: &GraphQuery,
    ) -> Result<Option<Path>> {
        (**self).path(scope, from, to, depth, query).await
    }

    async fn graph_counts(&self, scope: &Scope) -> Result<(u64, u64)> {
        (**self).graph_counts(scope).await
    }

    async fn relations_of_everyone(&self, after: Option<RelationId>, limit: usize) -> Result<Vec<Relation>> {
        (**self).relations_of_everyone(after, limit).await
    }

    async fn delete_graph(&self, scope: &Scope) -> Result<(u64, u64)> {
        (**self).delete_graph(scope).await
    }
}
