//! The graph's part of an import.

use std::collections::{BTreeMap, HashMap};

use super::{
    TransferReport,
    import::{Import, OnClash, in_store},
};
use crate::{
    Entity, EntityId, Error, ErrorKind, GraphBatch, GraphStore, Memory, MemoryId, Relation, Result, Scope,
    graph::{Changed, Changes, GraphPart, Web},
};

/// Entities of wider scopes, until something that is imported is told of them.
#[derive(Debug, Default)]
pub(super) struct Wider(HashMap<EntityId, Entity>);

impl Wider {
    pub(super) fn keep(&mut self, entity: Entity) {
        self.0.insert(entity.id, entity);
    }
}

impl Import {
    /// What becomes of relations that rest on memories which are replaced by what they were, or will be.
    pub(super) async fn followed(&self, changed: &Changed) -> Result<Changes> {
        let Some(part) = self.engine.graph_part().filter(|_| !changed.is_empty()) else {
            return Ok(Changes::default());
        };
        let mut web = self.web(part, &self.scope);
        web.follow(changed, &*self.engine.0.store).await.map_err(in_store)?;
        Ok(web.into_changes())
    }

    pub(super) async fn has_no_relations(&self) -> Result<bool> {
        let Some(part) = self.engine.graph_part() else { return Ok(true) };
        part.store.graph_counts(&self.scope).await.map(|(_, relations)| relations == 0).map_err(in_store)
    }

    fn web<'e>(&'e self, part: GraphPart<'e>, scope: &Scope) -> Web<'e> {
        Web::new(part.store, scope, self.engine.0.clock.now(), part.single_valued)
    }

    pub(super) async fn graph(&self, report: &mut TransferReport) -> Result<()> {
        let entities: Vec<&Entity> = self.waiting.entities.iter().map(|read| &read.it).collect();
        let waiting: Vec<&Relation> = self.waiting.relations.iter().map(|read| &read.it).collect();
        let Some(part) = self.engine.graph_part() else {
            report.skipped += (entities.len() + waiting.len()) as u64;
            return Ok(());
        };
        if entities.is_empty() && waiting.is_empty() {
            return Ok(());
        }
        let mut relations = Vec::new();
        for relation in self.resting(&waiting).await? {
            match relation {
                Some(relation) => relations.push(relation),
                None => report.skipped += 1,
            }
        }
        let (covered, wider): (Vec<Relation>, Vec<Relation>) =
            relations.into_iter().partition(|relation| self.scope.covers(&relation.scope));
        let is_empty = self.is_first == Some(true);
        let mut batch = self.entities(part.store, &entities, report).await?;
        let new = self.wider_entities(part.store, &wider, report).await?;
        batch.entities.extend(new);
        if is_empty {
            // There is nothing they could be at odds with.
            batch.relations.clone_from(&covered);
        }
        let written = part.store.apply_graph(&batch).await;
        match written {
            Ok(()) if is_empty => report.relations += covered.len() as u64,
            Ok(()) => self.adopt(part, covered, report).await?,
            Err(error) if is_empty && is_refusal(&error) => {
                // An end of one is missing.
                batch.relations.clear();
                part.store.apply_graph(&batch).await.map_err(in_store)?;
                self.adopt(part, covered, report).await?;
            }
            Err(error) => return Err(in_store(error)),
        }
        self.adopt(part, wider, report).await
    }

    /// The relations with the memories that are there of those they rest on. `None` for one that rests on none of them any
    /// longer, or that is of a wider scope and no matter of this one.
    async fn resting(&self, relations: &[&Relation]) -> Result<Vec<Option<Relation>>> {
        let sources: Vec<MemoryId> = relations.iter().flat_map(|relation| relation.sources.iter().copied()).collect();
        let found = self.engine.0.store.get(&self.scope, &sources).await.map_err(in_store)?;
        let there: HashMap<MemoryId, &Memory> = found.iter().map(|memory| (memory.id, memory)).collect();
        let resting = |relation: &Relation| {
            let mut relation = relation.clone();
            if relation.sources.is_empty() {
                return Some(relation).filter(|relation| self.scope.covers(&relation.scope));
            }
            relation.sources.retain(|source| there.contains_key(source));
            let knows =
                |source: &MemoryId| there.get(source).is_some_and(|memory| relation.scope.covers(&memory.scope));
            let is_own = self.scope.covers(&relation.scope) && !relation.sources.is_empty();
            (is_own || relation.sources.iter().any(knows)).then_some(relation)
        };
        Ok(relations.iter().map(|relation| resting(relation)).collect())
    }

    /// What is written of entities.
    async fn entities(
        &self,
        graph: &dyn GraphStore,
        entities: &[&Entity],
        report: &mut TransferReport,
    ) -> Result<GraphBatch> {
        let mut batch = GraphBatch::default();
        let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id).collect();
        let there = graph.entities(&self.scope, &ids).await.map_err(in_store)?;
        for entity in entities {
            if self.on_clash != OnClash::Replace && there.iter().any(|stored| stored.id == entity.id) {
                report.skipped += 1;
            } else {
                report.entities += 1;
                batch.entities.push((*entity).clone());
            }
        }
        Ok(batch)
    }

    /// The ends of relations of wider scopes: new, or with the names that they are not known by.
    async fn wider_entities(
        &self,
        graph: &dyn GraphStore,
        relations: &[Relation],
        report: &mut TransferReport,
    ) -> Result<Vec<Entity>> {
        let mut entities: BTreeMap<EntityId, Entity> = BTreeMap::new();
        let ends = relations.iter().flat_map(|relation| [relation.subject, relation.object]);
        for entity in ends.filter_map(|end| self.wider.0.get(&end)) {
            let there = graph.entities(&entity.scope, &[entity.id]).await.map_err(in_store)?.pop();
            let mut known = there.clone().unwrap_or_else(|| entity.clone());
            for name in std::iter::once(&entity.name).chain(&entity.aliases) {
                if *name != known.name && !known.aliases.contains(name) {
                    known.aliases.push(name.clone());
                }
            }
            known.entity_type = known.entity_type.or_else(|| entity.entity_type.clone());
            if there.as_ref() != Some(&known) && entities.insert(entity.id, known).is_none() {
                report.entities += u64::from(there.is_none());
            }
        }
        Ok(entities.into_values().collect())
    }

    /// Takes relations in beside those that are there.
    async fn adopt(&self, part: GraphPart<'_>, relations: Vec<Relation>, report: &mut TransferReport) -> Result<()> {
        let mut by_scope: BTreeMap<Scope, Vec<Relation>> = BTreeMap::new();
        for relation in relations {
            by_scope.entry(relation.scope.across_sessions()).or_default().push(relation);
        }
        for (scope, relations) in by_scope {
            let count = relations.len() as u64;
            let news = match self.adopted(part, &scope, relations.clone()).await {
                // One says something else here, or an end of it is missing: the others go in one by one.
                Err(error) if is_refusal(&error) => {
                    let mut news = 0;
                    for relation in relations {
                        match self.adopted(part, &scope, vec![relation]).await {
                            Ok(one) => news += one,
                            Err(error) if is_refusal(&error) => {}
                            Err(error) => return Err(in_store(error)),
                        }
                    }
                    news
                }
                news => news.map_err(in_store)?,
            };
            report.relations += news;
            report.skipped += count - news;
        }
        Ok(())
    }

    async fn adopted(&self, part: GraphPart<'_>, scope: &Scope, relations: Vec<Relation>) -> Result<u64> {
        let mut web = self.web(part, scope);
        let news = web.adopt(relations, &*self.engine.0.store).await?;
        part.store.apply_graph(&web.into_changes().batch).await?;
        Ok(news)
    }
}

fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::Conflict)
}
