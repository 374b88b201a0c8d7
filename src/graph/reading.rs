//! What a web reads of the stored graph, each part once.

use std::collections::hash_map::Entry;

use super::{told::entity_names, web::Web};
use crate::{Direction, Entity, EntityId, GraphQuery, MemoryId, Relation, Result, score::names::folded};

/// Most relations that are read at one entity.
const RELATIONS: usize = 1_000_000;
/// An entity with fewer has few relations.
const FEW: usize = 100;

impl Web<'_> {
    /// Takes note of a stored entity, unless it is known, and perhaps changed. One of a narrower scope, such as that of
    /// one agent of the user's, is another's here.
    pub(super) fn know(&mut self, entity: Entity) {
        if !entity.scope.covers(&self.scope) {
            return;
        }
        let id = entity.id;
        if let Entry::Vacant(place) = self.entities.entry(entity.id) {
            self.stored_entities.insert(id, entity.clone());
            place.insert(entity);
            self.index(id);
        }
    }

    /// Finds an entity by its names from now on.
    pub(super) fn index(&mut self, id: EntityId) {
        if let Some(entity) = self.entities.get(&id) {
            for name in entity_names(entity) {
                self.by_name.entry(folded(name)).or_default().insert(id);
            }
        }
    }

    /// Reads what is believed of an entity as the subject: what is related to a hub is not looked at for it.
    pub(super) async fn read_from(&mut self, id: EntityId) -> Result<()> {
        if !self.read.contains(&id) && self.read_from.insert(id) {
            let query = GraphQuery::any_time().limit(RELATIONS);
            let found = self.store.relations_at(&self.scope, &[id], Direction::Out, &query).await?;
            self.take(found);
        }
        Ok(())
    }

    /// Reads what is believed from one entity to another, at the end that has few relations, if either has: an add to
    /// what is known of a hub costs no more as the hub grows.
    pub(super) async fn read_between(&mut self, subject: EntityId, object: EntityId) -> Result<()> {
        if self.read.contains(&subject) || self.read_from.contains(&subject) || self.read.contains(&object) {
            return Ok(());
        }
        let few = GraphQuery::any_time().limit(FEW);
        for (id, direction) in [(subject, Direction::Out), (object, Direction::In)] {
            let mut found = self.store.relations_at(&self.scope, &[id], direction, &few).await?;
            if found.len() < FEW {
                found.retain(|relation| relation.subject == subject && relation.object == object);
                self.take(found);
                return Ok(());
            }
        }
        self.read_from(subject).await
    }

    /// Reads what is believed of an entity.
    pub(super) async fn read_at(&mut self, id: EntityId) -> Result<()> {
        if self.read.insert(id) {
            let query = GraphQuery::any_time().limit(RELATIONS);
            let found = self.store.relations_at(&self.scope, &[id], Direction::Both, &query).await?;
            self.take(found);
        }
        Ok(())
    }

    /// Reads what is believed because of memories; all that was, too.
    pub(super) async fn read_of(&mut self, memories: &[MemoryId]) -> Result<Vec<Relation>> {
        let found = self.store.relations_of(&self.scope, memories).await?;
        self.take(found.iter().filter(|relation| relation.expired_at.is_none()).cloned().collect());
        Ok(found)
    }

    pub(super) fn take(&mut self, found: Vec<Relation>) {
        for relation in found {
            if self.removed.contains(&relation.id) {
                continue;
            }
            if let Entry::Vacant(place) = self.stored.entry(relation.id) {
                place.insert(relation.clone());
                self.believe(relation);
            }
        }
    }

    pub(super) async fn read_entities(&mut self, ids: &[EntityId]) -> Result<()> {
        let unread: Vec<EntityId> = ids.iter().copied().filter(|id| !self.entities.contains_key(id)).collect();
        if !unread.is_empty() {
            for entity in self.store.entities(&self.scope, &unread).await? {
                self.know(entity);
            }
        }
        Ok(())
    }
}
