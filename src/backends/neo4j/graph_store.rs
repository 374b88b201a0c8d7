use async_trait::async_trait;

use super::{
    Neo4jStore,
    bolt::Transaction,
    locks, names,
    read::{self, Listed},
    rows, walk, write,
};
use crate::{
    Cursor, DEEPEST_WALK, Direction, Entity, EntityId, GraphBatch, GraphQuery, GraphStore, LONGEST_PATH, MemoryId,
    Page, Path, Relation, RelationId, Result, Scope, check_list, check_walk,
};

impl Neo4jStore {
    /// One column of what was read, in the crate's terms.
    fn told<T>(doing: &str, result: super::error::Result<T>) -> Result<T> {
        result.map_err(|error| error.told(doing))
    }

    async fn page<T>(
        &self,
        (doing, scope): (&'static str, &Scope),
        listed: Listed<'_>,
        after: Option<String>,
        limit: usize,
        read: fn(rows::Properties) -> super::error::Result<T>,
        id: fn(&T) -> String,
    ) -> Result<Page<T>> {
        let statements = vec![listed.count(scope), listed.page(scope, after, limit)];
        let mut results = self.read(doing, scope, statements).await?;
        let found = results.pop().unwrap_or_default();
        let total = Self::told(doing, rows::number(results.concat().first(), 0))?;
        Self::told(doing, read::page(total, found, limit, read, id))
    }
}

#[async_trait]
impl GraphStore for Neo4jStore {
    fn name(&self) -> &'static str {
        "neo4j"
    }

    async fn apply_graph(&self, batch: &GraphBatch) -> Result<()> {
        batch.validate().map_err(|error| error.with_backend("neo4j"))?;
        if batch.is_empty() {
            return Ok(());
        }
        self.run("writing the graph", |transaction: Transaction| write::apply(transaction, batch)).await
    }

    async fn entities(&self, scope: &Scope, ids: &[EntityId]) -> Result<Vec<Entity>> {
        scope.validate()?;
        let doing = "reading entities";
        let found = self.read(doing, scope, vec![read::entities(scope, ids)]).await?;
        Self::told(doing, read::in_order(found.concat(), ids))
    }

    async fn find_entities(&self, scope: &Scope, name: &str, limit: usize) -> Result<Vec<(Entity, f32)>> {
        scope.validate()?;
        let doing = "finding entities";
        let Some(statement) = names::find(scope, name, limit) else { return Ok(Vec::new()) };
        let found = self.read(doing, scope, vec![statement]).await?;
        Self::told(doing, found.concat().into_iter().map(names::found).collect())
    }

    async fn named(&self, scope: &Scope, names: &[String]) -> Result<Vec<Entity>> {
        scope.validate()?;
        let doing = "finding entities";
        let found = self.read(doing, scope, vec![names::named(scope, names)]).await?;
        Self::told(doing, read::entities_of(found.concat()))
    }

    async fn relations_at(
        &self,
        scope: &Scope,
        entities: &[EntityId],
        direction: Direction,
        query: &GraphQuery,
    ) -> Result<Vec<Relation>> {
        scope.validate()?;
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        let doing = "reading relations";
        let found = self.read(doing, scope, vec![read::relations_at(scope, entities, direction, query)]).await?;
        let mut relations = Self::told(doing, read::relations(found.concat()))?;
        let mut met = std::collections::HashSet::new();
        relations.retain(|relation| met.insert(relation.id));
        Ok(relations)
    }

    async fn list_entities(&self, scope: &Scope, after: Option<&Cursor>, limit: usize) -> Result<Page<Entity>> {
        let after: Option<EntityId> = check_list(scope, after, limit)?;
        let after = after.map(|id| id.to_string());
        let doing = ("listing entities", scope);
        self.page(doing, Listed::Entities, after, limit, rows::Properties::entity, |entity| entity.id.to_string()).await
    }

    async fn list_relations(
        &self,
        scope: &Scope,
        query: &GraphQuery,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Relation>> {
        let after: Option<RelationId> = check_list(scope, after, limit)?;
        let after = after.map(|id| id.to_string());
        let (doing, listed) = (("listing relations", scope), Listed::Relations(Some(query)));
        self.page(doing, listed, after, limit, rows::Properties::relation, |relation| relation.id.to_string()).await
    }

    async fn relations_of(&self, scope: &Scope, memories: &[MemoryId]) -> Result<Vec<Relation>> {
        scope.validate()?;
        let doing = "reading relations";
        let found = self.read(doing, scope, vec![read::relations_of(scope, memories)]).await?;
        Self::told(doing, read::relations(found.concat()))
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
        let lock = self.reading(scope);
        let work = |mut transaction: Transaction| {
            let lock = lock.clone();
            async move {
                locks::taken(&transaction.run(vec![lock]).await?.concat(), 1)?;
                let sees = walk::Seen { scope, query };
                let reached = walk::neighbours(&mut transaction, sees, start, depth, direction).await?;
                transaction.roll_back(Vec::new()).await?;
                Ok(reached)
            }
        };
        self.run("walking the graph", work).await
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
        if from == to {
            return Ok(Some(Path::new(to, Vec::new())));
        }
        let lock = self.reading(scope);
        let work = |mut transaction: Transaction| {
            let lock = lock.clone();
            async move {
                locks::taken(&transaction.run(vec![lock]).await?.concat(), 1)?;
                let sees = walk::Seen { scope, query };
                let path = walk::path(&mut transaction, sees, from, to, depth).await?;
                transaction.roll_back(Vec::new()).await?;
                Ok(path)
            }
        };
        self.run("looking for a path", work).await
    }

    async fn graph_counts(&self, scope: &Scope) -> Result<(u64, u64)> {
        scope.validate()?;
        let doing = "counting the graph";
        let statements = vec![Listed::Entities.count(scope), Listed::Relations(None).count(scope)];
        let counts = self.read(doing, scope, statements).await?.concat();
        let count = |place: usize| Self::told(doing, rows::number(counts.get(place), 0)).map(i64::cast_unsigned);
        Ok((count(0)?, count(1)?))
    }

    async fn relations_of_everyone(&self, after: Option<RelationId>, limit: usize) -> Result<Vec<Relation>> {
        let doing = "reading relations";
        let statement = read::relations_of_everyone(after, limit);
        let work = |transaction: Transaction| {
            let statement = statement.clone();
            async move { transaction.roll_back(vec![statement]).await }
        };
        let found = self.run(doing, work).await?;
        Self::told(doing, read::relations(found.concat()))
    }

    async fn delete_graph(&self, scope: &Scope) -> Result<(u64, u64)> {
        scope.validate()?;
        let (mut entities, mut relations) = (0, 0);
        loop {
            let work = |transaction: Transaction| write::delete_slice(transaction, scope);
            let deleted = self.run("deleting the graph", work).await?;
            entities += deleted.entities;
            relations += deleted.relations;
            if deleted.all {
                return Ok((entities, relations));
            }
        }
    }
}
