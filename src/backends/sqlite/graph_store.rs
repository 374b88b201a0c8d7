use async_trait::async_trait;

use super::{SqliteStore, graph_read, graph_write, names};
use crate::{
    Cursor, DEEPEST_WALK, Direction, Entity, EntityId, GraphBatch, GraphQuery, GraphStore, LONGEST_PATH, MemoryId,
    Page, Path, Relation, RelationId, Result, Scope, check_list, check_walk, index::walk,
};

#[async_trait]
impl GraphStore for SqliteStore {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    async fn apply_graph(&self, batch: &GraphBatch) -> Result<()> {
        batch.validate().map_err(|error| error.with_backend("sqlite"))?;
        let batch = batch.clone();
        self.blocking("writing the graph", move |inner| {
            if batch.is_empty() {
                return Ok(());
            }
            inner.connections.write(|connection| graph_write::apply(connection, &batch))
        })
        .await
    }

    async fn entities(&self, scope: &Scope, ids: &[EntityId]) -> Result<Vec<Entity>> {
        scope.validate()?;
        let (scope, ids) = (scope.clone(), ids.to_vec());
        self.reading("reading entities", move |connection| graph_read::entities(connection, &scope, &ids)).await
    }

    async fn find_entities(&self, scope: &Scope, name: &str, limit: usize) -> Result<Vec<(Entity, f32)>> {
        scope.validate()?;
        let (scope, name) = (scope.clone(), name.to_owned());
        self.reading("finding entities", move |connection| names::find(connection, &scope, &name, limit)).await
    }

    async fn named(&self, scope: &Scope, names: &[String]) -> Result<Vec<Entity>> {
        scope.validate()?;
        let (scope, names) = (scope.clone(), names.to_vec());
        self.reading("finding entities", move |connection| names::named(connection, &scope, &names)).await
    }

    async fn list_entities(&self, scope: &Scope, after: Option<&Cursor>, limit: usize) -> Result<Page<Entity>> {
        let after = check_list(scope, after, limit)?;
        let scope = scope.clone();
        self.reading("listing entities", move |connection| graph_read::list_entities(connection, &scope, after, limit))
            .await
    }

    async fn list_relations(
        &self,
        scope: &Scope,
        query: &GraphQuery,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Relation>> {
        let after = check_list(scope, after, limit)?;
        let (scope, query) = (scope.clone(), *query);
        self.reading("listing relations", move |connection| {
            graph_read::list_relations(connection, &scope, &query, after, limit)
        })
        .await
    }

    async fn relations_of(&self, scope: &Scope, memories: &[MemoryId]) -> Result<Vec<Relation>> {
        scope.validate()?;
        let (scope, memories) = (scope.clone(), memories.to_vec());
        self.reading("reading relations", move |connection| graph_read::relations_of(connection, &scope, &memories))
            .await
    }

    async fn relations_at(
        &self,
        scope: &Scope,
        entities: &[EntityId],
        direction: Direction,
        query: &GraphQuery,
    ) -> Result<Vec<Relation>> {
        scope.validate()?;
        let (scope, entities, query) = (scope.clone(), entities.to_vec(), *query);
        self.reading("reading relations", move |connection| {
            let steps = graph_read::Walk::new(connection, &scope, &query);
            walk::relations_at(&steps, &entities, direction, query.limit)
        })
        .await
    }

    async fn neighbours(
        &self,
        scope: &Scope,
        start: &[EntityId],
        depth: usize,
        direction: Direction,
        query: &GraphQuery,
    ) -> Result<Vec<Path>> {
        check_walk(scope, depth, DEEPEST_WALK)?;
        let (scope, start, query) = (scope.clone(), start.to_vec(), *query);
        self.reading("walking the graph", move |connection| {
            let steps = graph_read::Walk::new(connection, &scope, &query);
            walk::neighbours(&steps, &start, depth, direction, query.limit)
        })
        .await
    }

    async fn path(
        &self,
        scope: &Scope,
        from: EntityId,
        to: EntityId,
        depth: usize,
        query: &GraphQuery,
    ) -> Result<Option<Path>> {
        check_walk(scope, depth, LONGEST_PATH)?;
        let (scope, query) = (scope.clone(), *query);
        self.reading("looking for a path", move |connection| {
            walk::path(&graph_read::Walk::new(connection, &scope, &query), from, to, depth)
        })
        .await
    }

    async fn graph_counts(&self, scope: &Scope) -> Result<(u64, u64)> {
        scope.validate()?;
        let scope = scope.clone();
        self.reading("counting the graph", move |connection| graph_read::counts(connection, &scope)).await
    }

    async fn relations_of_everyone(&self, after: Option<RelationId>, limit: usize) -> Result<Vec<Relation>> {
        self.reading("reading relations", move |connection| graph_read::relations_of_everyone(connection, after, limit))
            .await
    }

    async fn delete_graph(&self, scope: &Scope) -> Result<(u64, u64)> {
        scope.validate()?;
        let scope = scope.clone();
        self.writing("deleting the graph", move |connection| graph_write::delete_all(connection, &scope)).await
    }
}
