use std::{
    collections::{BTreeSet, HashMap},
    convert::Infallible,
    ops::ControlFlow,
};

use crate::{
    Cursor, Direction, Entity, EntityId, Error, ErrorKind, GraphBatch, GraphQuery, MemoryId, Page, Path, Relation,
    RelationId, Result, Scope,
    index::walk::{self, Step, Steps, Visit},
    score::names::{Name, folded},
};

/// Entities, relations, and the ways to find them.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) entities: HashMap<EntityId, Stored>,
    pub(super) relations: HashMap<RelationId, Relation>,
    /// The entities by each of their names, folded.
    pub(super) by_name: HashMap<String, BTreeSet<EntityId>>,
    /// The relations at each entity that has any, by id.
    pub(super) touching: HashMap<EntityId, BTreeSet<RelationId>>,
    pub(super) by_source: HashMap<MemoryId, BTreeSet<RelationId>>,
    /// What each reader's scope covers, for every scope that covers any.
    pub(super) readers: HashMap<Scope, Covered>,
}

#[derive(Debug)]
pub(super) struct Stored {
    pub(super) entity: Entity,
    pub(super) names: Vec<Name>,
}

#[derive(Debug, Default)]
pub(super) struct Covered {
    pub(super) entities: BTreeSet<EntityId>,
    pub(super) relations: BTreeSet<RelationId>,
}

impl Graph {
    /// Checks what a valid batch asks of what is stored. After it [`apply`](Graph::apply) cannot fail.
    pub(super) fn check(&self, batch: &GraphBatch) -> Result<()> {
        for entity in &batch.entities {
            if self.entities.get(&entity.id).is_some_and(|stored| stored.entity.scope != entity.scope) {
                return Err(Error::invalid("the scope of a stored entity never changes"));
            }
        }
        let new: HashMap<EntityId, &Scope> = batch.entities.iter().map(|entity| (entity.id, &entity.scope)).collect();
        for relation in &batch.relations {
            for end in [relation.subject, relation.object] {
                let scope = new.get(&end).copied().or(self.entities.get(&end).map(|stored| &stored.entity.scope));
                if !scope.is_some_and(|scope| scope.covers(&relation.scope)) {
                    return Err(Error::new(ErrorKind::Conflict, "an end of a relation is not there"));
                }
            }
            if let Some(stored) = self.relations.get(&relation.id) {
                relation.check_replaces(stored)?;
            }
        }
        Ok(())
    }

    pub(super) fn apply(&mut self, batch: &GraphBatch) {
        let GraphBatch { entities, relations, remove_relations, remove_entities } = batch;
        for entity in entities {
            for reader in entity.scope.readers() {
                self.readers.entry(reader).or_default().entities.insert(entity.id);
            }
            let names: Vec<Name> =
                std::iter::once(&entity.name).chain(&entity.aliases).map(|name| Name::of(name)).collect();
            self.unname(entity.id);
            for name in names.iter().map(Name::folded).filter(|name| !name.is_empty()) {
                self.by_name.entry(name.to_owned()).or_default().insert(entity.id);
            }
            self.entities.insert(entity.id, Stored { entity: entity.as_kept(), names });
        }
        for relation in relations {
            self.remove_relation(relation.id);
            self.put_relation(relation.as_kept());
        }
        remove_relations.iter().for_each(|id| self.remove_relation(*id));
        remove_entities.iter().for_each(|id| self.remove_entity(*id));
    }

    fn put_relation(&mut self, relation: Relation) {
        let id = relation.id;
        for reader in relation.scope.readers() {
            self.readers.entry(reader).or_default().relations.insert(id);
        }
        for end in [relation.subject, relation.object] {
            self.touching.entry(end).or_default().insert(id);
        }
        for source in &relation.sources {
            self.by_source.entry(*source).or_default().insert(id);
        }
        self.relations.insert(id, relation);
    }

    fn remove_relation(&mut self, id: RelationId) {
        let Some(relation) = self.relations.remove(&id) else { return };
        for end in [relation.subject, relation.object] {
            remove_from(&mut self.touching, &end, id);
        }
        for source in &relation.sources {
            remove_from(&mut self.by_source, source, id);
        }
        self.uncover(&relation.scope, |covered| covered.relations.remove(&id));
    }

    fn remove_entity(&mut self, id: EntityId) {
        self.unname(id);
        let Some(Stored { entity, .. }) = self.entities.remove(&id) else { return };
        for relation in self.touching.get(&id).cloned().unwrap_or_default() {
            self.remove_relation(relation);
        }
        self.uncover(&entity.scope, |covered| covered.entities.remove(&id));
    }

    /// Forgets the names of a stored entity.
    fn unname(&mut self, id: EntityId) {
        let Some(stored) = self.entities.get(&id) else { return };
        for name in &stored.names {
            remove_from(&mut self.by_name, name.folded(), id);
        }
    }

    fn uncover(&mut self, scope: &Scope, remove: impl Fn(&mut Covered) -> bool) {
        for reader in scope.readers() {
            let Some(covered) = self.readers.get_mut(&reader) else { continue };
            remove(covered);
            if covered.entities.is_empty() && covered.relations.is_empty() {
                self.readers.remove(&reader);
            }
        }
    }

    pub(super) fn delete_all(&mut self, scope: &Scope) -> (u64, u64) {
        let counts = self.counts(scope);
        let Some(Covered { entities, relations }) = self.readers.get(scope) else { return counts };
        let (entities, relations) = (entities.clone(), relations.clone());
        relations.into_iter().for_each(|id| self.remove_relation(id));
        entities.into_iter().for_each(|id| self.remove_entity(id));
        counts
    }

    pub(super) fn counts(&self, scope: &Scope) -> (u64, u64) {
        self.readers
            .get(scope)
            .map_or((0, 0), |covered| (covered.entities.len() as u64, covered.relations.len() as u64))
    }

    pub(super) fn entity(&self, scope: &Scope, id: EntityId) -> Option<&Entity> {
        self.entities.get(&id).map(|stored| &stored.entity).filter(|entity| scope.covers(&entity.scope))
    }

    pub(super) fn find(&self, scope: &Scope, name: &str, limit: usize) -> Vec<(Entity, f32)> {
        let wanted = Name::of(name);
        if wanted.folded().is_empty() {
            return Vec::new();
        }
        let covered = self.readers.get(scope).into_iter().flat_map(|covered| &covered.entities);
        let mut found: Vec<(&Entity, f32)> = covered
            .filter_map(|id| self.entities.get(id))
            .map(|Stored { entity, names }| {
                let likeness = names.iter().map(|name| name.likeness(&wanted)).fold(0.0, f32::max);
                (entity, likeness)
            })
            .filter(|(_, likeness)| *likeness > 0.0)
            .collect();
        found.sort_by(|(left, a), (right, b)| b.total_cmp(a).then(left.id.cmp(&right.id)));
        found.into_iter().take(limit).map(|(entity, likeness)| (entity.clone(), likeness)).collect()
    }

    pub(super) fn named(&self, scope: &Scope, names: &[String]) -> Vec<Entity> {
        // Every search asks for the runs of its words: where there is no graph, that costs one look.
        if self.readers.get(scope).is_none_or(|covered| covered.entities.is_empty()) {
            return Vec::new();
        }
        let named = names.iter().filter_map(|name| self.by_name.get(&folded(name))).flatten();
        let ids: BTreeSet<EntityId> = named.copied().collect();
        ids.into_iter().filter_map(|id| self.entity(scope, id)).cloned().collect()
    }

    pub(super) fn list_entities(&self, scope: &Scope, after: Option<EntityId>, limit: usize) -> Page<Entity> {
        let Some(Covered { entities, .. }) = self.readers.get(scope) else { return Page::new(Vec::new(), None, 0) };
        let entity = |id: &EntityId| self.entities.get(id).map(|stored| &stored.entity);
        page(entities.iter().filter_map(entity), |entity| entity.id, after, limit)
    }

    pub(super) fn list_relations(
        &self,
        scope: &Scope,
        query: &GraphQuery,
        after: Option<RelationId>,
        limit: usize,
    ) -> Page<Relation> {
        let Some(Covered { relations, .. }) = self.readers.get(scope) else { return Page::new(Vec::new(), None, 0) };
        let relations = relations.iter().filter_map(|id| self.relations.get(id));
        page(relations.filter(|relation| query.admits(relation)), |relation| relation.id, after, limit)
    }

    pub(super) fn of_everyone(&self, after: Option<RelationId>, limit: usize) -> Vec<Relation> {
        let mut ids: Vec<RelationId> = self.relations.keys().copied().filter(|id| Some(*id) > after).collect();
        ids.sort_unstable();
        ids.into_iter().take(limit).filter_map(|id| self.relations.get(&id)).cloned().collect()
    }

    pub(super) fn relations_of(&self, scope: &Scope, memories: &[MemoryId]) -> Vec<Relation> {
        let ids: BTreeSet<RelationId> =
            memories.iter().filter_map(|memory| self.by_source.get(memory)).flatten().copied().collect();
        let relations = ids.iter().filter_map(|id| self.relations.get(id));
        relations.filter(|relation| scope.covers(&relation.scope)).cloned().collect()
    }

    pub(super) fn relations_at(
        &self,
        scope: &Scope,
        entities: &[EntityId],
        direction: Direction,
        query: &GraphQuery,
    ) -> Vec<Relation> {
        let steps = Seen { graph: self, scope, query };
        walk::relations_at(&steps, entities, direction, query.limit).unwrap_or_else(|never| match never {})
    }

    pub(super) fn neighbours(
        &self,
        scope: &Scope,
        start: &[EntityId],
        depth: usize,
        direction: Direction,
        query: &GraphQuery,
    ) -> Vec<Path> {
        let steps = Seen { graph: self, scope, query };
        walk::neighbours(&steps, start, depth, direction, query.limit).unwrap_or_else(|never| match never {})
    }

    pub(super) fn path(
        &self,
        scope: &Scope,
        from: EntityId,
        to: EntityId,
        depth: usize,
        query: &GraphQuery,
    ) -> Option<Path> {
        walk::path(&Seen { graph: self, scope, query }, from, to, depth).unwrap_or_else(|never| match never {})
    }
}

/// What a walk sees.
struct Seen<'g> {
    graph: &'g Graph,
    scope: &'g Scope,
    query: &'g GraphQuery,
}

impl Steps for Seen<'_> {
    type Error = Infallible;

    fn each(&self, at: EntityId, direction: Direction, visit: &mut Visit<'_, Infallible>) -> Result<(), Infallible> {
        let touching = self.graph.touching.get(&at).into_iter().flatten().rev();
        for relation in touching.filter_map(|id| self.graph.relations.get(id)) {
            let out = relation.subject == at;
            let to = if out { relation.object } else { relation.subject };
            let led = match direction {
                Direction::Out => out,
                Direction::In => relation.object == at,
                Direction::Both => true,
            };
            if !led || !self.scope.covers(&relation.scope) || !self.query.admits(relation) {
                continue;
            }
            let step = Step { id: relation.id, to, relation: &|| Ok(relation.clone()) };
            if visit(step)? == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn relation(&self, id: RelationId) -> Result<Option<Relation>, Infallible> {
        Ok(self.graph.relations.get(&id).cloned())
    }
}

fn remove_from<K, Q, I>(sets: &mut HashMap<K, BTreeSet<I>>, key: &Q, id: I)
where
    K: std::hash::Hash + Eq + std::borrow::Borrow<Q>,
    Q: std::hash::Hash + Eq + ?Sized,
    I: Ord,
{
    if let Some(ids) = sets.get_mut(key) {
        ids.remove(&id);
        if ids.is_empty() {
            sets.remove(key);
        }
    }
}

/// The page of `all`, which is in id order, that begins after an id.
fn page<'g, T: Clone + 'g, I: Ord + ToString>(
    all: impl Iterator<Item = &'g T> + Clone,
    id: impl Fn(&T) -> I,
    after: Option<I>,
    limit: usize,
) -> Page<T> {
    let total = all.clone().count() as u64;
    let mut rest = all.skip_while(|item| after.as_ref().is_some_and(|after| id(item) <= *after));
    let items: Vec<T> = rest.by_ref().take(limit).cloned().collect();
    let next = rest.next().and(items.last()).map(|last| Cursor::from_text(id(last).to_string()));
    Page::new(items, next, total)
}
