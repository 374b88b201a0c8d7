//! Changes of a graph, gathered before they are written: what was read, what is new, what is believed no longer.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{
    meant::{Meant, ResolvedMention},
    periods::{Period, see, settle},
    told::{Told, predicate_of},
    write::Changes,
};
use crate::{
    Entity, EntityId, ExtractedRelation, GraphBatch, GraphStore, MemoryId, Relation, RelationId, Result, Scope,
    Timestamp, score::names::folded,
};

/// A graph and what is to become of it.
pub(crate) struct Web<'g> {
    pub(super) store: &'g dyn GraphStore,
    /// The scope of the user, whatever session is talked in: who and what there is in the world is no matter of
    /// sessions.
    pub(super) scope: Scope,
    pub(super) now: Timestamp,
    /// Predicates, folded, of which there is but one object at a time.
    pub(super) single_valued: &'g BTreeSet<String>,
    pub(super) entities: HashMap<EntityId, Entity>,
    /// The entities by each of their names, folded; those that lost a name since are still there.
    pub(super) by_name: HashMap<String, BTreeSet<EntityId>>,
    pub(super) stored_entities: HashMap<EntityId, Entity>,
    /// What is believed, in the order of ids.
    pub(super) believed: BTreeMap<RelationId, Relation>,
    /// What is believed, by subject and predicate.
    pub(super) told_of: HashMap<(EntityId, String), BTreeSet<RelationId>>,
    pub(super) stored: HashMap<RelationId, Relation>,
    /// The entities whose relations were read.
    pub(super) read: HashSet<EntityId>,
    /// Those of which the relations that they are the subject of were read.
    pub(super) read_from: HashSet<EntityId>,
    pub(super) batch: GraphBatch,
    /// Memories that nothing rests on any longer, and how many relations went with them.
    pub(super) forgotten: HashSet<MemoryId>,
    pub(super) gone: u64,
    /// What goes without a trace, and is there no more.
    pub(super) removed: HashSet<RelationId>,
    /// What open names mean, by the word of a model.
    pub(super) meant: Vec<Meant>,
    /// Those of them that were taken so, and how many cannot be any longer.
    pub(super) resolved: BTreeMap<String, ResolvedMention>,
    pub(super) unmet: BTreeSet<String>,
}

impl<'g> Web<'g> {
    pub(crate) fn new(
        store: &'g dyn GraphStore,
        scope: &Scope,
        now: Timestamp,
        single_valued: &'g BTreeSet<String>,
    ) -> Self {
        Self {
            store,
            scope: scope.across_sessions(),
            now,
            single_valued,
            entities: HashMap::new(),
            by_name: HashMap::new(),
            stored_entities: HashMap::new(),
            believed: BTreeMap::new(),
            told_of: HashMap::new(),
            stored: HashMap::new(),
            read: HashSet::new(),
            read_from: HashSet::new(),
            batch: GraphBatch::default(),
            forgotten: HashSet::new(),
            gone: 0,
            removed: HashSet::new(),
            meant: Vec::new(),
            resolved: BTreeMap::new(),
            unmet: BTreeSet::new(),
        }
    }

    /// Takes these names to mean these entities, where no rule says what they mean.
    pub(crate) fn taking(self, meant: &[Meant]) -> Self {
        Self { meant: meant.to_vec(), ..self }
    }

    /// The names that were taken for stored entities by that, and how many were not, since the entity is gone.
    pub(crate) fn resolved(&self) -> (Vec<ResolvedMention>, usize) {
        (self.resolved.values().cloned().collect(), self.unmet.len())
    }

    /// Takes in what a fact tells. A relation with a blank name or predicate, or one of over 1,024 bytes, tells
    /// nothing.
    pub(crate) async fn tell(&mut self, told: &Told<'_>) -> Result<()> {
        for relation in told.relations {
            let ExtractedRelation { subject, predicate, object, single_valued } = relation;
            let Some(key) = predicate_of(relation) else { continue };
            if key == ExtractedRelation::SAME_AS {
                self.same(subject, object, told.speaker).await?;
                continue;
            }
            let subject_id = self.entity(subject, Some(object), told.speaker).await?;
            let object_id = self.entity(object, Some(subject), told.speaker).await?;
            let is_single = *single_valued || self.single_valued.contains(&key);
            let mut new = self.relation((subject_id, predicate, object_id), told.text);
            new.sources = vec![told.memory];
            new.single_valued = is_single;
            new.subject_name = self.told_name(subject_id, &subject.name);
            new.object_name = self.told_name(object_id, &object.name);
            self.settle(new, &key, is_single, Period { from: Some(told.since), until: told.until }).await?;
        }
        Ok(())
    }

    /// Holds a relation against what is believed of its subject.
    pub(super) async fn settle(&mut self, mut new: Relation, key: &str, is_single: bool, told: Period) -> Result<()> {
        if is_single {
            self.read_from(new.subject).await?;
        } else {
            self.read_between(new.subject, new.object).await?;
        }
        let known = self.told_of.get(&(new.subject, key.to_owned())).into_iter().flatten();
        let known = known.filter_map(|id| self.believed.get(id)).filter(|known| new.scope.covers(&known.scope));
        let (same, others): (Vec<&Relation>, Vec<&Relation>) = known.partition(|known| known.object == new.object);
        let settled = settle(told, &same, if is_single { &others } else { &[] });
        let mut seen: Vec<Timestamp> = told.from.into_iter().chain(new.seen_at.iter().copied()).collect();
        for known in settled.joined.iter().filter_map(|id| self.believed.get(id)) {
            let unknown: Vec<MemoryId> = known.sources.iter().copied().filter(|id| !new.sources.contains(id)).collect();
            new.sources.extend(unknown);
            seen.extend(known.valid_at.iter().chain(&known.seen_at));
        }
        for (id, parts) in &settled.cut {
            self.replace(*id, parts);
        }
        for id in &settled.joined {
            self.disbelieve(*id);
        }
        if let Some(known) = settled.repeats.and_then(|id| self.believed.get_mut(&id)) {
            seen.iter().for_each(|at| see(known, *at));
            let unknown: Vec<MemoryId> = new.sources.iter().copied().filter(|id| !known.sources.contains(id)).collect();
            known.sources.extend(unknown);
        }
        if let Some(Period { from, until }) = settled.period {
            (new.valid_at, new.invalid_at) = (from, until);
            new.seen_at.clear();
            seen.iter().for_each(|at| see(&mut new, *at));
            self.believe(new);
        }
        Ok(())
    }

    /// What is to be written.
    pub(crate) fn into_changes(self) -> Changes {
        let Self { now, entities, stored_entities, believed, stored, mut batch, forgotten, gone, .. } = self;
        let new_entities = entities.keys().copied().filter(|id| !stored_entities.contains_key(id)).collect();
        let new_relations = believed.keys().copied().filter(|id| !stored.contains_key(id)).collect();
        for entity in entities.into_values() {
            if stored_entities.get(&entity.id) != Some(&entity) {
                batch.entities.push(entity);
            }
        }
        for (id, relation) in &stored {
            match believed.get(id) {
                // A clock may step back, or have stood still while another wrote.
                None => {
                    let mut relation = relation.clone();
                    relation.sources.retain(|source| !forgotten.contains(source));
                    batch.expire(&relation, now.max(relation.created_at));
                }
                Some(kept) if kept != relation => batch.relations.push(kept.clone()),
                Some(_) => {}
            }
        }
        batch.relations.extend(believed.into_values().filter(|relation| !stored.contains_key(&relation.id)));
        batch.entities.sort_by_key(|entity| entity.id);
        batch.relations.sort_by_key(|relation| relation.id);
        Changes { batch, new_entities, new_relations, gone }
    }

    fn relation(&self, (subject, predicate, object): (EntityId, &str, EntityId), fact: &str) -> Relation {
        let ends = (subject, predicate.trim(), object);
        Relation::new(RelationId::new(self.now), self.scope.clone(), ends, fact, self.now)
    }

    /// Puts parts of a relation in its place.
    pub(super) fn replace(&mut self, id: RelationId, parts: &[Period]) {
        let Some(old) = self.disbelieve(id) else { return };
        for Period { from, until } in parts {
            let mut part = Relation {
                id: RelationId::new(self.now),
                valid_at: *from,
                invalid_at: *until,
                created_at: self.now.max(old.created_at),
                seen_at: Vec::new(),
                ..old.clone()
            };
            old.seen_at.iter().for_each(|at| see(&mut part, *at));
            self.believe(part);
        }
    }

    pub(super) fn believe(&mut self, relation: Relation) {
        let place = (relation.subject, folded(&relation.predicate));
        self.told_of.entry(place).or_default().insert(relation.id);
        self.believed.insert(relation.id, relation);
    }

    pub(super) fn disbelieve(&mut self, id: RelationId) -> Option<Relation> {
        let relation = self.believed.remove(&id)?;
        if let Some(ids) = self.told_of.get_mut(&(relation.subject, folded(&relation.predicate))) {
            ids.remove(&id);
        }
        Some(relation)
    }
}
