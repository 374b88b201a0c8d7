use async_trait::async_trait;

use super::InMemoryStore;
use crate::{
    Cursor, DEEPEST_WALK, Direction, Entity, EntityId, GraphBatch, GraphQuery, GraphStore, LONGEST_PATH, MemoryId,
    Page, Path, Relation, RelationId, Result, Scope, check_list, check_walk,
};

#[async_trait]
impl GraphStore for InMemoryStore {
    fn name(&self) -> &'static str {
        "in_memory"
    }

    async fn apply_graph(&self, batch: &GraphBatch) -> Result<()> {
        self.write().apply_graph(batch).map_err(|error| error.with_backend("in_memory"))
    }

    async fn entities(&self, scope: &Scope, ids: &[EntityId]) -> Result<Vec<Entity>> {
        scope.validate()?;
        let state = self.read();
        Ok(ids.iter().filter_map(|id| state.graph.entity(scope, *id)).cloned().collect())
    }

    async fn find_entities(&self, scope: &Scope, name: &str, limit: usize) -> Result<Vec<(Entity, f32)>> {
        scope.validate()?;
        Ok(self.read().graph.find(scope, name, limit))
    }

    async fn named(&self, scope: &Scope, names: &[String]) -> Result<Vec<Entity>> {
        scope.validate()?;
        Ok(self.read().graph.named(scope, names))
    }

    async fn list_entities(&self, scope: &Scope, after: Option<&Cursor>, limit: usize) -> Result<Page<Entity>> {
        let after = check_list(scope, after, limit)?;
        Ok(self.read().graph.list_entities(scope, after, limit))
    }

    async fn list_relations(
        &self,
        scope: &Scope,
        query: &GraphQuery,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Relation>> {
        let after = check_list(scope, after, limit)?;
        Ok(self.read().graph.list_relations(scope, query, after, limit))
    }

    async fn relations_of(&self, scope: &Scope, memories: &[MemoryId]) -> Result<Vec<Relation>> {
        scope.validate()?;
        Ok(self.read().graph.relations_of(scope, memories))
    }

    async fn relations_at(
        &self,
        scope: &Scope,
        entities: &[EntityId],
        direction: Direction,
        query: &GraphQuery,
    ) -> Result<Vec<Relation>> {
        scope.validate()?;
        Ok(self.read().graph.relations_at(scope, entities, direction, query))
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
        Ok(self.read().graph.neighbours(scope, start, depth, direction, query))
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
        Ok(self.read().graph.path(scope, from, to, depth, query))
    }

    async fn graph_counts(&self, scope: &Scope) -> Result<(u64, u64)> {
        scope.validate()?;
        Ok(self.read().graph.counts(scope))
    }

    async fn relations_of_everyone(&self, after: Option<RelationId>, limit: usize) -> Result<Vec<Relation>> {
        Ok(self.read().graph.of_everyone(after, limit))
    }

    async fn delete_graph(&self, scope: &Scope) -> Result<(u64, u64)> {
        scope.validate()?;
        Ok(self.write().delete_graph(scope))
    }
}
