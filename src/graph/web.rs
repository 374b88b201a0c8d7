//! Changes of a graph, gathered before they are written: what was read, what is new, what is believed no longer.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{
    meant::{Meant, ResolvedMention},
    periods::{Period, see, settle},
    resolve::{Likely, may_be_spelled, resolve},
    told::{Told, entity_names, names_of, own_name, predicate_of},
    word::refusal,
    write::Changes,
};
use crate::{
    Direction, Entity, EntityId, ExtractedRelation, GraphBatch, GraphQuery, GraphStore, MemoryId, Mention, Relation,
    RelationId, Result, Scope, Timestamp, score::names::folded,
};

/// Most relations that are read at one entity.
const RELATIONS: usize = 1_000_000;
/// An entity with fewer has few relations.
const FEW: usize = 100;
/// Entities looked up for one name.
const LIKELY: usize = 10;
/// Entities that are new here are looked over for other spellings, if there are no more of them.
const NEW: usize = 64;

/// A graph and what is to become of it.
pub(crate) struct Web<'g> {
    pub(super) store: &'g dyn GraphStore,
    /// The scope of the user, whatever session is talked in: who and what there is in the world is no matter of sessions.
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
    meant: Vec<Meant>,
    /// Those of them that were taken so, and how many cannot be any longer.
    resolved: BTreeMap<String, ResolvedMention>,
    unmet: BTreeSet<String>,
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

    /// Takes in what a fact tells. A relation with a blank name or predicate, or one of over 1,024 bytes, tells nothing.
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

    /// The entity a name means, which may be new.
    async fn entity(&mut self, mention: &Mention, other: Option<&Mention>, speaker: Option<&str>) -> Result<EntityId> {
        let mention = own_name(mention, speaker);
        let likely = self.likely(&mention, other.map(|other| own_name(other, speaker)).as_ref()).await?;
        let found = resolve(&mention, &likely).map(|entity| entity.id);
        if let Some(id) = self.by_word(&mention, found, &likely).await?.or(found) {
            self.enrich(id, &mention);
            return Ok(id);
        }
        let mut entity = Entity::new(EntityId::new(self.now), self.scope.clone(), mention.name.trim(), self.now);
        entity.aliases =
            mention.aliases.iter().map(|alias| alias.trim().to_owned()).filter(|alias| !alias.is_empty()).collect();
        entity.entity_type = mention.entity_type;
        let id = entity.id;
        self.entities.insert(id, entity);
        self.index(id);
        // Nothing of it is stored.
        self.read.insert(id);
        Ok(id)
    }

    /// The entity that a model took the name for, if that may still be. Of entities that have that very name, told meanwhile
    /// perhaps, it may be any; else what a rule says stands.
    async fn by_word(
        &mut self,
        mention: &Mention,
        found: Option<EntityId>,
        likely: &[Likely],
    ) -> Result<Option<EntityId>> {
        let Some(id) = self.meant.iter().find(|meant| meant.is_of(mention)).map(|meant| meant.entity) else {
            return Ok(None);
        };
        if found.is_some() && !likely.iter().any(|likely| likely.entity.id == id && likely.likeness >= 1.0) {
            return Ok(None);
        }
        self.read_entities(&[id]).await?;
        let may_be = |entity: &&Entity| entity.merged_into.is_none() && refusal(mention, entity, true).is_none();
        let key = folded(&mention.name);
        match self.entities.get(&id).filter(may_be) {
            Some(entity) => {
                let (name, known_as) = (mention.name.trim().to_owned(), entity.name.clone());
                self.resolved.entry(key).or_insert(ResolvedMention { name, entity: id, known_as });
                Ok(Some(id))
            }
            None => {
                self.unmet.insert(key);
                Ok(None)
            }
        }
    }

    /// The entities that a name may mean: those with an equal name, and if that is none of them, those whose name it may be
    /// another spelling of.
    pub(super) async fn likely(&mut self, mention: &Mention, other: Option<&Mention>) -> Result<Vec<Likely>> {
        let equal = self.equal(mention).await?;
        // The neighbour is looked for where it can matter: an equal name alone decides.
        let known = self.likely_of(&equal, 1.0, other.filter(|_| equal.len() > 1)).await?;
        if resolve(mention, &known).is_some() {
            return Ok(known);
        }
        let Some(other) = other else { return Ok(known) };
        let mut spelled: BTreeSet<EntityId> = BTreeSet::new();
        for name in names_of(mention) {
            for (entity, _) in self.store.find_entities(&self.scope, name, LIKELY).await? {
                spelled.insert(entity.id);
                self.know(entity);
            }
        }
        if self.entities.len() - self.stored_entities.len().min(self.entities.len()) <= NEW {
            spelled.extend(self.entities.keys().filter(|id| !self.stored_entities.contains_key(id)));
        }
        let may_be = |id: &EntityId| {
            let entity = self.entities.get(id).filter(|entity| entity.merged_into.is_none());
            entity.is_some_and(|entity| !equal.contains(id) && may_be_spelled(mention, entity))
        };
        spelled.retain(may_be);
        let spelled = self.likely_of(&spelled, 0.0, Some(other)).await?;
        Ok(known.into_iter().chain(spelled).collect())
    }

    /// The entities with a name that is equal to one of the mention.
    pub(super) async fn equal(&mut self, mention: &Mention) -> Result<BTreeSet<EntityId>> {
        let names: Vec<String> = names_of(mention).map(|name| folded(name)).collect();
        for entity in self.store.named(&self.scope, &names).await? {
            self.know(entity);
        }
        let is_named = |entity: &&Entity| entity_names(entity).any(|name| names.contains(&folded(name)));
        let found = names.iter().filter_map(|name| self.by_name.get(name)).flatten();
        let unmerged = found.filter_map(|id| self.entities.get(id)).filter(|entity| entity.merged_into.is_none());
        Ok(unmerged.filter(is_named).map(|entity| entity.id).collect())
    }

    async fn likely_of(
        &mut self,
        ids: &BTreeSet<EntityId>,
        likeness: f32,
        other: Option<&Mention>,
    ) -> Result<Vec<Likely>> {
        let mut likely = Vec::new();
        for id in ids {
            let shares_neighbour = match other {
                Some(other) => self.has_neighbour(*id, other).await?,
                None => false,
            };
            likely.extend(self.entities.get(id).map(|entity| Likely {
                entity: entity.clone(),
                likeness,
                shares_neighbour,
            }));
        }
        Ok(likely)
    }

    /// Takes note of a stored entity, unless it is known, and perhaps changed. One of a narrower scope, such as that of one
    /// agent of the user's, is another's here.
    pub(super) fn know(&mut self, entity: Entity) {
        if !entity.scope.covers(&self.scope) {
            return;
        }
        let id = entity.id;
        if let std::collections::hash_map::Entry::Vacant(place) = self.entities.entry(entity.id) {
            self.stored_entities.insert(id, entity.clone());
            place.insert(entity);
            self.index(id);
        }
    }

    /// Whether an entity is related to one of that name.
    pub(super) async fn has_neighbour(&mut self, id: EntityId, other: &Mention) -> Result<bool> {
        self.read_at(id).await?;
        let ends = self.believed.values().filter(|relation| relation.subject == id || relation.object == id);
        let ends: Vec<EntityId> =
            ends.map(|relation| if relation.subject == id { relation.object } else { relation.subject }).collect();
        self.read_entities(&ends).await?;
        let wanted = folded(&other.name);
        let is_named = |entity: &Entity| entity_names(entity).any(|name| folded(name) == wanted);
        Ok(ends.iter().filter_map(|end| self.entities.get(end)).any(is_named))
    }

    /// Two names of one: the second becomes an alias of the first. If each has an entity, these are two that happen to
    /// have a name in common, until somebody [merges](crate::Graph::merge) them.
    async fn same(&mut self, one: &Mention, other: &Mention, speaker: Option<&str>) -> Result<()> {
        let alias = own_name(other, speaker);
        if !self.equal(&alias).await?.is_empty() {
            return Ok(());
        }
        let id = self.entity(one, None, speaker).await?;
        self.enrich(id, &alias);
        Ok(())
    }

    /// Takes over what a mention tells of an entity.
    pub(super) fn enrich(&mut self, id: EntityId, mention: &Mention) {
        let Some(entity) = self.entities.get_mut(&id) else { return };
        let mut changed = false;
        for name in std::iter::once(&mention.name).chain(&mention.aliases) {
            let key = folded(name);
            let known = std::iter::once(&entity.name).chain(&entity.aliases).any(|known| folded(known) == key);
            if !key.is_empty() && !known {
                entity.aliases.push(name.trim().to_owned());
                changed = true;
            }
        }
        if entity.entity_type.is_none() && mention.entity_type.is_some() {
            entity.entity_type.clone_from(&mention.entity_type);
            changed = true;
        }
        if changed {
            entity.updated_at = self.now;
            self.index(id);
        }
    }

    /// The name something was told under, where that is not its own.
    pub(super) fn told_name(&self, id: EntityId, name: &str) -> Option<String> {
        let entity = self.entities.get(&id)?;
        (folded(&entity.name) != folded(name)).then(|| name.trim().to_owned())
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

    /// Reads what is believed from one entity to another, at the end that has few relations, if either has: an add to what
    /// is known of a hub costs no more as the hub grows.
    async fn read_between(&mut self, subject: EntityId, object: EntityId) -> Result<()> {
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
            if let std::collections::hash_map::Entry::Vacant(place) = self.stored.entry(relation.id) {
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
