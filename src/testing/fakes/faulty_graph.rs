use std::sync::Arc;

use async_trait::async_trait;

use super::faulty_store::{FaultyStore, Switch};
use crate::{
    Cursor, Direction, Entity, EntityId, GraphBatch, GraphQuery, GraphStore, MemoryId, Page, Path, Relation,
    RelationId, Result, Scope, VectorStore,
};

/// The graph of a [`FaultyStore`], as its companion.
#[derive(Debug)]
pub(super) struct FaultyGraph {
    pub(super) inner: Arc<dyn GraphStore>,
    pub(super) switch: Switch,
}

macro_rules! hand_on {
    ($($head:tt)*) => {
        #[async_trait]
        #[deny(clippy::missing_trait_methods)]
        $($head)* {
        fn name(&self) -> &str {
            GraphStore::name(&self.inner)
        }

        async fn apply_graph(&self, batch: &GraphBatch) -> Result<()> {
            self.switch.write(self.inner.apply_graph(batch)).await
        }

        async fn entities(&self, scope: &Scope, ids: &[EntityId]) -> Result<Vec<Entity>> {
            self.switch.call(self.inner.entities(scope, ids)).await
        }

        async fn find_entities(&self, scope: &Scope, name: &str, limit: usize) -> Result<Vec<(Entity, f32)>> {
            self.switch.call(self.inner.find_entities(scope, name, limit)).await
        }

        async fn named(&self, scope: &Scope, names: &[String]) -> Result<Vec<Entity>> {
            self.switch.call(self.inner.named(scope, names)).await
        }

        async fn list_entities(&self, scope: &Scope, after: Option<&Cursor>, limit: usize) -> Result<Page<Entity>> {
            self.switch.call(self.inner.list_entities(scope, after, limit)).await
        }

        async fn list_relations(
            &self,
            scope: &Scope,
            query: &GraphQuery,
            after: Option<&Cursor>,
            limit: usize,
        ) -> Result<Page<Relation>> {
            self.switch.call(self.inner.list_relations(scope, query, after, limit)).await
        }

        async fn relations_of(&self, scope: &Scope, memories: &[MemoryId]) -> Result<Vec<Relation>> {
            self.switch.call(self.inner.relations_of(scope, memories)).await
        }

        async fn relations_at(
            &self,
            scope: &Scope,
            entities: &[EntityId],
            direction: Direction,
            query: &GraphQuery,
        ) -> Result<Vec<Relation>> {
            self.switch.call(self.inner.relations_at(scope, entities, direction, query)).await
        }

        async fn neighbours(
            &self,
            scope: &Scope,
            start: &[EntityId],
            depth: usize,
            direction: Direction,
            query: &GraphQuery,
        ) -> Result<Vec<Path>> {
            self.switch.call(self.inner.neighbours(scope, start, depth, direction, query)).await
        }

        async fn path(
            &self,
            scope: &Scope,
            from: EntityId,
            to: EntityId,
            depth: usize,
            query: &GraphQuery,
        ) -> Result<Option<Path>> {
            self.switch.call(self.inner.path(scope, from, to, depth, query)).await
        }

        async fn graph_counts(&self, scope: &Scope) -> Result<(u64, u64)> {
            self.switch.call(self.inner.graph_counts(scope)).await
        }

        async fn relations_of_everyone(&self, after: Option<RelationId>, limit: usize) -> Result<Vec<Relation>> {
            self.switch.call(self.inner.relations_of_everyone(after, limit)).await
        }

        async fn delete_graph(&self, scope: &Scope) -> Result<(u64, u64)> {
            self.switch.call(self.inner.delete_graph(scope)).await
        }
        }
    };
}

hand_on!(impl GraphStore for FaultyGraph);
hand_on!(impl<S: VectorStore + GraphStore> GraphStore for FaultyStore<S>);
