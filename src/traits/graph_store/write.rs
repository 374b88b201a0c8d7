use std::collections::HashSet;

use crate::{Entity, EntityId, Error, Relation, RelationId, Result, Timestamp, types::check_metadata};

/// Changes of a graph that belong together. Nothing in it is applied unless all of it is.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct GraphBatch {
    /// Entities to store or replace, by id. The scope of a stored entity never changes.
    pub entities: Vec<Entity>,
    /// Relations to store, or to replace by id: of a stored one only `expired_at`, once, `sources` and `seen_at` may change (see
    /// [`Relation::check_replaces`]). Both ends must exist, here or in the store, in a scope that covers the relation's
    /// or equals it.
    pub relations: Vec<Relation>,
    /// Relations to remove, without a trace; for a relation that ended or was never so, see
    /// [`invalidate`](GraphBatch::invalidate) and [`expire`](GraphBatch::expire). Ids alone: whoever names one has read
    /// it in its scope. One that is not there is passed over.
    pub remove_relations: Vec<RelationId>,
    /// Entities to remove, with every relation that begins or ends there. One that is not there is passed over.
    pub remove_entities: Vec<EntityId>,
}

impl GraphBatch {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { entities, relations, remove_relations, remove_entities } = self;
        entities.is_empty() && relations.is_empty() && remove_relations.is_empty() && remove_entities.is_empty()
    }

    /// Adds that we learned at `now` that the relation, as it was read, ended at `at`: it expires, and `successor`, the
    /// same but for its end, is believed instead. Of several writers that end one relation, the first gets through and
    /// the others hear of a [`Conflict`](crate::ErrorKind::Conflict).
    pub fn invalidate(&mut self, relation: &Relation, successor: RelationId, at: Timestamp, now: Timestamp) {
        let (expired, ended) = relation.invalidated(successor, at, now);
        self.relations.extend([expired, ended]);
    }

    /// Adds that we learned at `now` that the relation, as it was read, was never so.
    pub fn expire(&mut self, relation: &Relation, now: Timestamp) {
        self.relations.push(Relation { expired_at: Some(now), ..relation.clone() });
    }

    /// Checks what can be checked without reading the store: for whoever writes one.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument): a bad scope, an id twice, a blank name, alias or
    /// predicate, metadata nested deeper than 64, an end before the beginning on either axis of time, a relation at an
    /// entity that the batch removes.
    pub fn validate(&self) -> Result<()> {
        let Self { entities, relations, remove_relations, remove_entities } = self;
        let mut ids = HashSet::new();
        for entity in entities {
            check_entity(entity)?;
            if !ids.insert(entity.id) {
                return Err(Error::invalid("a graph batch holds an entity twice"));
            }
        }
        let removed: HashSet<EntityId> = remove_entities.iter().copied().collect();
        if removed.len() < remove_entities.len() || !removed.is_disjoint(&ids) {
            return Err(Error::invalid("a graph batch holds an entity twice"));
        }
        let mut ids = HashSet::new();
        for relation in relations {
            check_relation(relation)?;
            if !ids.insert(relation.id) {
                return Err(Error::invalid("a graph batch holds a relation twice"));
            }
            if removed.contains(&relation.subject) || removed.contains(&relation.object) {
                return Err(Error::invalid("a graph batch removes an end of a relation that it stores"));
            }
        }
        if !remove_relations.iter().all(|id| ids.insert(*id)) {
            return Err(Error::invalid("a graph batch holds a relation twice"));
        }
        Ok(())
    }
}

/// What every stored entity is, by itself: what a write that says otherwise is refused for, and what looking a store
/// through holds its entities against.
pub(crate) fn check_entity(entity: &Entity) -> Result<()> {
    entity.scope.validate()?;
    check_metadata(&entity.metadata)?;
    if is_blank(&entity.name) || entity.aliases.iter().any(|alias| is_blank(alias)) {
        return Err(Error::invalid("a name of an entity is blank"));
    }
    Ok(())
}

/// As [`check_entity`], of a relation.
pub(crate) fn check_relation(relation: &Relation) -> Result<()> {
    relation.scope.validate()?;
    if is_blank(&relation.predicate) {
        return Err(Error::invalid("the predicate of a relation is blank"));
    }
    if relation.valid_at.zip(relation.invalid_at).is_some_and(|(from, until)| until < from) {
        return Err(Error::invalid("a relation ends before it begins"));
    }
    if relation.expired_at.is_some_and(|expired| expired < relation.created_at) {
        return Err(Error::invalid("a relation expires before it is created"));
    }
    Ok(())
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
