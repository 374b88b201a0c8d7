use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;

use crate::{Cursor, Entity, EntityId, MemoryId, Page, Relation, RelationId, Result, Scope, Timestamp};

/// Changes of a graph that belong together.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct GraphBatch {
    /// Entities to store or replace, by id.
    pub entities: Vec<Entity>,
    /// Relations to store or replace, by id. Both ends must exist, here or in the store, in a scope that covers or
    /// equals theirs.
    pub relations: Vec<Relation>,
    /// Relations to remove.
    pub remove_relations: Vec<RelationId>,
    /// Entities to remove, with every relation that begins or ends there.
    pub remove_entities: Vec<EntityId>,
}

impl GraphBatch {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { entities, relations, remove_relations, remove_entities } = self;
        entities.is_empty() && relations.is_empty() && remove_relations.is_empty() && remove_entities.is_empty()
    }
}

/// Which relations a read of the graph sees, by both time axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphQuery {
    /// World time: only relations that held then; `None` for any time. A relation of unknown beginning holds until
    /// its end.
    pub valid: Option<Timestamp>,
    /// Knowledge time: only what was believed then; `None` for what is believed now.
    pub known: Option<Timestamp>,
    /// Most results.
    pub limit: usize,
}

impl GraphQuery {
    /// What is believed now to hold at `valid`; at most 1,000 results.
    #[must_use]
    pub fn at(valid: Timestamp) -> Self {
        Self { valid: Some(valid), known: None, limit: 1_000 }
    }

    /// What is believed now of any time; at most 1,000 results.
    #[must_use]
    pub fn any_time() -> Self {
        Self { valid: None, known: None, limit: 1_000 }
    }

    /// What was believed at `known`. Default: now.
    #[must_use]
    pub fn known_at(mut self, known: Timestamp) -> Self {
        self.known = Some(known);
        self
    }

    /// Sets the most results. Default 1,000.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

/// Along which way relations are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// From subject to object.
    Out,
    /// From object to subject.
    In,
    /// Either way.
    #[default]
    Both,
}

/// A way through the graph.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Path {
    /// The entity it ends at.
    pub end: EntityId,
    /// The relations walked, in order; as many as the depth.
    pub relations: Vec<Relation>,
}

impl Path {
    /// A path.
    #[must_use]
    pub fn new(end: EntityId, relations: Vec<Relation>) -> Self {
        Self { end, relations }
    }
}

/// Keeps entities and relations that begin and end.
///
/// The contract: a read sees only what its scope covers; all text, names and predicates included, is data and never
/// part of a query language; every write is atomic and durable when it returns; lists are in id order. A store that
/// is also the [`VectorStore`](crate::VectorStore) applies the graph part of a [`WriteBatch`](crate::WriteBatch) in
/// the same transaction.
#[async_trait]
pub trait GraphStore: Debug + Send + Sync + 'static {
    /// Names the backend, such as `neo4j`.
    fn name(&self) -> &str;

    /// Applies a batch, whole or not at all.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a bad scope or a relation without its ends;
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn apply_graph(&self, batch: &GraphBatch) -> Result<()>;

    /// Entities by id; those not found are left out.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a bad scope;
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn entities(&self, scope: &Scope, ids: &[EntityId]) -> Result<Vec<Entity>>;

    /// Entities whose name or alias is like `name`, likest first, at most `limit`, each with its similarity in 0 to 1
    /// (1: equal after case folding and trimming).
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities).
    async fn find_entities(&self, scope: &Scope, name: &str, limit: usize) -> Result<Vec<(Entity, f32)>>;

    /// Every entity, page by page.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities), and for a cursor that is none.
    async fn list_entities(&self, scope: &Scope, after: Option<&Cursor>, limit: usize) -> Result<Page<Entity>>;

    /// Every relation the query sees, page by page.
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

    /// The relations that rest on any of these memories, also those that have ended.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities).
    async fn relations_of(&self, scope: &Scope, memories: &[MemoryId]) -> Result<Vec<Relation>>;

    /// What is reached from `start` in at most `depth` steps (1 to 4), nearest first, each end once.
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

    /// A shortest path of at most `depth` steps (1 to 8), or `None`.
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

    /// How many entities and relations (ended ones included) the scope covers.
    ///
    /// # Errors
    /// As [`entities`](GraphStore::entities).
    async fn graph_counts(&self, scope: &Scope) -> Result<(u64, u64)>;

    /// Removes every entity and relation the scope covers, and says how many.
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

    async fn delete_graph(&self, scope: &Scope) -> Result<(u64, u64)> {
        (**self).delete_graph(scope).await
    }
}
