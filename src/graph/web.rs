//! Changes of a graph, gathered before they are written: what was read, what is new, what is believed no longer.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{
    periods::{Period, see, settle},
    resolve::{Likely, resolve},
    write::Changes,
};
use crate::{
    Direction, Entity, EntityId, Error, ErrorKind, ExtractedRelation, GraphBatch, GraphQuery, GraphStore, MemoryId,
    Mention, Relation, RelationId, Result, Scope, Timestamp, VectorStore, score::names::folded,
};

/// Most relations that are read at one entity.
const RELATIONS: usize = 10_000;
/// Entities looked up for one name.
const LIKELY: usize = 10;

/// Names by which the one who speaks is meant.
const SELF: [&str; 5] = [Mention::USER, "the user", "i", "me", "myself"];

/// A fact with its relations, and the memory it went into.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    pub(crate) relations: &'a [ExtractedRelation],
    pub(crate) memory: MemoryId,
    pub(crate) text: &'a str,
    pub(crate) speaker: Option<&'a str>,
    /// Since when it holds, and until when if that was told.
    pub(crate) since: Timestamp,
    pub(crate) until: Option<Timestamp>,
}

/// A graph and what is to become of it.
pub(crate) struct Web<'g> {
    store: &'g dyn GraphStore,
    /// The scope of the user, whatever session is talked in: who and what there is in the world is no matter of sessions.
    scope: Scope,
    now: Timestamp,
    /// Predicates, folded, of which there is but one object at a time.
    single_valued: &'g BTreeSet<String>,
    entities: HashMap<EntityId, Entity>,
    stored_entities: HashMap<EntityId, Entity>,
    /// What is believed, in the order of ids.
    believed: BTreeMap<RelationId, Relation>,
    stored: HashMap<RelationId, Relation>,
    /// The entities whose relations were read.
    read: HashSet<EntityId>,
    batch: GraphBatch,
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
            stored_entities: HashMap::new(),
            believed: BTreeMap::new(),
            stored: HashMap::new(),
            read: HashSet::new(),
            batch: GraphBatch::default(),
        }
    }

    /// Takes in what a fact tells. A relation with a blank name or predicate tells nothing.
    pub(crate) async fn tell(&mut self, told: &Told<'_>) -> Result<()> {
        for relation in told.relations {
            let ExtractedRelation { subject, predicate, object, single_valued } = relation;
            let key = folded(predicate);
            if key.is_empty() || folded(&subject.name).is_empty() || folded(&object.name).is_empty() {
                continue;
            }
            if key == ExtractedRelation::SAME_AS {
                self.same(subject, object, told.speaker).await?;
                continue;
            }
            let subject_id = self.entity(subject, Some(object), told.speaker).await?;
            let object_id = self.entity(object, Some(subject), told.speaker).await?;
            let is_single = *single_valued || self.single_valued.contains(&key);
            let mut new = self.relation((subject_id, predicate, object_id), told.text);
            new.sources = vec![told.memory];
            new.subject_name = self.told_name(subject_id, &subject.name);
            new.object_name = self.told_name(object_id, &object.name);
            self.settle(new, &key, is_single, Period { from: Some(told.since), until: told.until }).await?;
        }
        Ok(())
    }

    /// Holds a relation against what is believed of its subject.
    async fn settle(&mut self, mut new: Relation, key: &str, is_single: bool, told: Period) -> Result<()> {
        self.read_at(new.subject).await?;
        let known =
            self.believed.values().filter(|known| known.subject == new.subject && folded(&known.predicate) == key);
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
            self.believed.remove(id);
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
            self.believed.insert(new.id, new);
        }
        Ok(())
    }

    /// Ends what rests on memories that have ended, each at an instant, and on none that still holds.
    pub(crate) async fn end(
        &mut self,
        ended: &HashMap<MemoryId, Timestamp>,
        added: &HashSet<MemoryId>,
        memories: &dyn VectorStore,
    ) -> Result<()> {
        self.read_of(&ended.keys().copied().collect::<Vec<_>>()).await?;
        let resting: Vec<Relation> = self
            .believed
            .values()
            .filter(|relation| relation.sources.iter().any(|source| ended.contains_key(source)))
            .cloned()
            .collect();
        let mut unsure: Vec<MemoryId> = resting.iter().flat_map(|relation| relation.sources.iter().copied()).collect();
        unsure.retain(|source| !ended.contains_key(source) && !added.contains(source));
        unsure.sort_unstable();
        unsure.dedup();
        let found = memories.get(&self.scope, &unsure).await?;
        let holding: HashSet<MemoryId> = found
            .into_iter()
            .filter(|memory| memory.invalid_at.is_none_or(|end| end > self.now))
            .map(|memory| memory.id)
            .chain(added.iter().copied().filter(|id| !ended.contains_key(id)))
            .collect();
        for relation in resting {
            if relation.sources.iter().any(|source| holding.contains(source)) {
                continue;
            }
            let Some(end) = relation.sources.iter().filter_map(|source| ended.get(source)).max() else { continue };
            if relation.invalid_at.is_some_and(|until| until <= *end) {
                continue;
            }
            let period = Period { from: relation.valid_at, until: Some(*end) };
            self.replace(relation.id, if period.is_empty() { &[] } else { std::slice::from_ref(&period) });
        }
        Ok(())
    }

    /// Takes memories away from what rests on them, in all scopes that a relation of theirs may have: what rests on nothing
    /// else goes without a trace, and an entity with it that is in no relation any more and of which nothing else is known.
    /// What stays is told in the words of a memory that stays.
    pub(crate) async fn forget(
        &mut self,
        scopes: &[Scope],
        forgotten: &[MemoryId],
        memories: &dyn VectorStore,
    ) -> Result<()> {
        let gone: HashSet<&MemoryId> = forgotten.iter().collect();
        let (mut removed, mut bereft) = (HashSet::new(), BTreeMap::new());
        let mut staying: BTreeMap<RelationId, (Relation, Scope)> = BTreeMap::new();
        for scope in scopes {
            for mut relation in self.store.relations_of(scope, forgotten).await? {
                relation.sources.retain(|source| !gone.contains(source));
                if relation.sources.is_empty() {
                    bereft.extend([relation.subject, relation.object].map(|end| (end, scope.clone())));
                    removed.insert(relation.id);
                } else {
                    staying.insert(relation.id, (relation, scope.clone()));
                }
            }
        }
        for (id, (relation, scope)) in staying {
            let texts = memories.get(&scope, &relation.sources).await?;
            let says_it = texts.iter().any(|memory| memory.text == relation.fact);
            match texts.into_iter().next().filter(|_| !says_it) {
                // A stored relation keeps its words, so another takes its place.
                Some(memory) => {
                    removed.insert(id);
                    let copy = Relation { id: RelationId::new(self.now), fact: memory.text, ..relation };
                    self.batch.relations.push(copy);
                }
                None => self.batch.relations.push(relation),
            }
        }
        for (id, scope) in bereft {
            for entity in self.store.entities(&scope, &[id]).await? {
                // One more than are removed: then one that is not is among them, if there is any.
                let query = GraphQuery::any_time().expired_too().limit(removed.len() + 1);
                let left = self.store.relations_at(&entity.scope, &[id], Direction::Both, &query).await?;
                let is_end = |relation: &Relation| relation.subject == id || relation.object == id;
                let is_plain = entity.summary.is_none() && entity.metadata.is_empty();
                let is_alone = left.iter().all(|relation| removed.contains(&relation.id));
                if is_plain && is_alone && !self.batch.relations.iter().any(is_end) {
                    self.batch.remove_entities.push(id);
                }
            }
        }
        self.batch.remove_relations.extend(removed);
        self.batch.remove_relations.sort_unstable();
        Ok(())
    }

    /// Makes one of two: what is believed of the other is believed of the one that is kept, and its names become aliases.
    /// Both must be there.
    pub(crate) async fn merge(&mut self, kept: EntityId, other: EntityId) -> Result<()> {
        let gone = self.known(other).await?;
        let names = Mention { name: gone.name.clone(), aliases: gone.aliases.clone(), entity_type: gone.entity_type };
        self.known(kept).await?;
        self.move_relations(other, kept, &gone.name, |_| true).await?;
        self.enrich(kept, &names);
        if let Some(entity) = self.entities.get_mut(&other) {
            (entity.merged_into, entity.updated_at) = (Some(kept), self.now);
        }
        Ok(())
    }

    /// Makes two of one: what was told of it under that name is believed of another, which is the one it had been merged
    /// with, or a new one. The id of that one.
    pub(crate) async fn split(&mut self, id: EntityId, name: &str) -> Result<EntityId> {
        let one = self.known(id).await?;
        let key = folded(name);
        if folded(&one.name) == key || !one.aliases.iter().any(|alias| folded(alias) == key) {
            return Err(Error::invalid("the entity has no such alias"));
        }
        let alike = self.store.named(&self.scope, std::slice::from_ref(&key)).await?;
        let merged = alike.into_iter().find(|entity| entity.merged_into == Some(id) && folded(&entity.name) == key);
        let other = match merged {
            Some(mut entity) => {
                self.stored_entities.insert(entity.id, entity.clone());
                entity.merged_into = None;
                entity
            }
            None => {
                let mut entity = Entity::new(EntityId::new(self.now), self.scope.clone(), name.trim(), self.now);
                entity.entity_type.clone_from(&one.entity_type);
                entity
            }
        };
        let theirs: Vec<String> = std::iter::once(&other.name).chain(&other.aliases).map(|name| folded(name)).collect();
        let other_id = other.id;
        self.entities.insert(other_id, Entity { updated_at: self.now, ..other });
        if let Some(entity) = self.entities.get_mut(&id) {
            entity.aliases.retain(|alias| !theirs.contains(&folded(alias)));
            entity.updated_at = self.now;
        }
        self.move_relations(id, other_id, &one.name, |told| told.is_some_and(|told| theirs.contains(&folded(told))))
            .await?;
        Ok(other_id)
    }

    /// Believes of another entity what is believed of this one and was told under a name that is `meant`.
    async fn move_relations(
        &mut self,
        from: EntityId,
        to: EntityId,
        own_name: &str,
        meant: impl Fn(Option<&str>) -> bool,
    ) -> Result<()> {
        self.read_at(from).await?;
        self.read_at(to).await?;
        let is_moved = |end: EntityId, told: &Option<String>| end == from && meant(told.as_deref());
        let moved: Vec<Relation> = self
            .believed
            .values()
            .filter(|known| is_moved(known.subject, &known.subject_name) || is_moved(known.object, &known.object_name))
            .cloned()
            .collect();
        for old in moved {
            let Some(old) = self.believed.remove(&old.id) else { continue };
            let mut new = Relation { id: RelationId::new(self.now), created_at: self.now, ..old.clone() };
            for (end, told) in [(&mut new.subject, &mut new.subject_name), (&mut new.object, &mut new.object_name)] {
                if is_moved(*end, told) {
                    *end = to;
                    let name = told.take().unwrap_or_else(|| own_name.to_owned());
                    *told = self.told_name(to, &name);
                }
            }
            let (key, period) = (folded(&new.predicate), Period::of(&old));
            let is_single = self.single_valued.contains(&key);
            self.settle(new, &key, is_single, period).await?;
        }
        Ok(())
    }

    /// An entity that is there and was not merged with another.
    async fn known(&mut self, id: EntityId) -> Result<Entity> {
        self.read_entities(&[id]).await?;
        let entity = self.entities.get(&id).filter(|entity| entity.merged_into.is_none()).cloned();
        entity.ok_or_else(|| Error::new(ErrorKind::NotFound, "the scope has no such entity"))
    }

    /// What is to be written.
    pub(crate) fn into_changes(self) -> Changes {
        let Self { now, entities, stored_entities, believed, stored, mut batch, .. } = self;
        let new_entities = entities.keys().copied().filter(|id| !stored_entities.contains_key(id)).collect();
        let new_relations = believed.keys().copied().filter(|id| !stored.contains_key(id)).collect();
        for entity in entities.into_values() {
            if stored_entities.get(&entity.id) != Some(&entity) {
                batch.entities.push(entity);
            }
        }
        for (id, relation) in &stored {
            match believed.get(id) {
                None => batch.expire(relation, now),
                Some(kept) if kept != relation => batch.relations.push(kept.clone()),
                Some(_) => {}
            }
        }
        batch.relations.extend(believed.into_values().filter(|relation| !stored.contains_key(&relation.id)));
        batch.entities.sort_by_key(|entity| entity.id);
        batch.relations.sort_by_key(|relation| relation.id);
        Changes { batch, new_entities, new_relations }
    }

    /// The entity a name means, which may be new.
    async fn entity(&mut self, mention: &Mention, other: Option<&Mention>, speaker: Option<&str>) -> Result<EntityId> {
        let mention = own_name(mention, speaker);
        let likely = self.likely(&mention, other.map(|other| own_name(other, speaker)).as_ref()).await?;
        if let Some(found) = resolve(&mention, &likely) {
            let id = found.id;
            self.enrich(id, &mention);
            return Ok(id);
        }
        let mut entity = Entity::new(EntityId::new(self.now), self.scope.clone(), mention.name.trim(), self.now);
        entity.aliases =
            mention.aliases.iter().map(|alias| alias.trim().to_owned()).filter(|alias| !alias.is_empty()).collect();
        entity.entity_type = mention.entity_type;
        let id = entity.id;
        self.entities.insert(id, entity);
        // Nothing of it is stored.
        self.read.insert(id);
        Ok(id)
    }

    /// The entities that a name may mean.
    async fn likely(&mut self, mention: &Mention, other: Option<&Mention>) -> Result<Vec<Likely>> {
        let mut likeness: BTreeMap<EntityId, f32> = BTreeMap::new();
        for name in std::iter::once(&mention.name).chain(&mention.aliases) {
            for (entity, like) in self.store.find_entities(&self.scope, name, LIKELY).await? {
                if entity.merged_into.is_some() {
                    continue;
                }
                self.stored_entities.entry(entity.id).or_insert_with(|| entity.clone());
                let known = self.entities.entry(entity.id).or_insert(entity);
                let best = likeness.entry(known.id).or_default();
                *best = best.max(like);
            }
            let wanted = crate::score::names::Name::of(name);
            for entity in self.entities.values().filter(|entity| entity.merged_into.is_none()) {
                let names = std::iter::once(&entity.name).chain(&entity.aliases);
                let like = names.map(|name| crate::score::names::Name::of(name).likeness(&wanted)).fold(0.0, f32::max);
                if like > 0.0 {
                    let best = likeness.entry(entity.id).or_default();
                    *best = best.max(like);
                }
            }
        }
        // The neighbour is looked for where it can matter: an equal name alone decides.
        let equal = likeness.values().filter(|like| **like >= 1.0).count();
        let mut likely = Vec::new();
        for (id, likeness) in likeness {
            let shares_neighbour = match other {
                Some(other) if equal != 1 => self.has_neighbour(id, other).await?,
                _ => false,
            };
            if let Some(entity) = self.entities.get(&id) {
                likely.push(Likely { entity: entity.clone(), likeness, shares_neighbour });
            }
        }
        Ok(likely)
    }

    /// Whether an entity is related to one of that name.
    async fn has_neighbour(&mut self, id: EntityId, other: &Mention) -> Result<bool> {
        self.read_at(id).await?;
        let ends = self.believed.values().filter(|relation| relation.subject == id || relation.object == id);
        let ends: Vec<EntityId> =
            ends.map(|relation| if relation.subject == id { relation.object } else { relation.subject }).collect();
        self.read_entities(&ends).await?;
        let wanted = folded(&other.name);
        let is_named =
            |entity: &Entity| std::iter::once(&entity.name).chain(&entity.aliases).any(|name| folded(name) == wanted);
        Ok(ends.iter().filter_map(|end| self.entities.get(end)).any(is_named))
    }

    /// Two names of one: the second becomes an alias of the first. If each has an entity, these are two that happen to
    /// have a name in common, until somebody [merges](crate::Graph::merge) them.
    async fn same(&mut self, one: &Mention, other: &Mention, speaker: Option<&str>) -> Result<()> {
        let alias = own_name(other, speaker);
        let known = self.likely(&alias, None).await?;
        if known.iter().any(|likely| likely.likeness >= 1.0) {
            return Ok(());
        }
        let id = self.entity(one, None, speaker).await?;
        self.enrich(id, &alias);
        Ok(())
    }

    /// Takes over what a mention tells of an entity.
    fn enrich(&mut self, id: EntityId, mention: &Mention) {
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
        }
    }

    /// The name something was told under, where that is not its own.
    fn told_name(&self, id: EntityId, name: &str) -> Option<String> {
        let entity = self.entities.get(&id)?;
        (folded(&entity.name) != folded(name)).then(|| name.trim().to_owned())
    }

    fn relation(&self, (subject, predicate, object): (EntityId, &str, EntityId), fact: &str) -> Relation {
        let ends = (subject, predicate.trim(), object);
        Relation::new(RelationId::new(self.now), self.scope.clone(), ends, fact, self.now)
    }

    /// Puts parts of a relation in its place.
    fn replace(&mut self, id: RelationId, parts: &[Period]) {
        let Some(old) = self.believed.remove(&id) else { return };
        for Period { from, until } in parts {
            let mut part = Relation {
                id: RelationId::new(self.now),
                valid_at: *from,
                invalid_at: *until,
                created_at: self.now,
                seen_at: Vec::new(),
                ..old.clone()
            };
            old.seen_at.iter().for_each(|at| see(&mut part, *at));
            self.believed.insert(part.id, part);
        }
    }

    /// Reads what is believed of an entity.
    async fn read_at(&mut self, id: EntityId) -> Result<()> {
        if self.read.insert(id) {
            let query = GraphQuery::any_time().limit(RELATIONS);
            let found = self.store.relations_at(&self.scope, &[id], Direction::Both, &query).await?;
            self.take(found);
        }
        Ok(())
    }

    /// Reads what is believed because of memories.
    async fn read_of(&mut self, memories: &[MemoryId]) -> Result<()> {
        let found = self.store.relations_of(&self.scope, memories).await?;
        self.take(found.into_iter().filter(|relation| relation.expired_at.is_none()).collect());
        Ok(())
    }

    fn take(&mut self, found: Vec<Relation>) {
        for relation in found {
            if let std::collections::hash_map::Entry::Vacant(place) = self.stored.entry(relation.id) {
                place.insert(relation.clone());
                self.believed.insert(relation.id, relation);
            }
        }
    }

    async fn read_entities(&mut self, ids: &[EntityId]) -> Result<()> {
        let unread: Vec<EntityId> = ids.iter().copied().filter(|id| !self.entities.contains_key(id)).collect();
        if !unread.is_empty() {
            for entity in self.store.entities(&self.scope, &unread).await? {
                self.stored_entities.insert(entity.id, entity.clone());
                self.entities.insert(entity.id, entity);
            }
        }
        Ok(())
    }
}

/// The mention, with the name of the one who speaks where it means that one.
fn own_name(mention: &Mention, speaker: Option<&str>) -> Mention {
    let name = folded(&mention.name);
    if !SELF.contains(&name.as_str()) {
        return mention.clone();
    }
    let mut own = Mention { name: speaker.unwrap_or(Mention::USER).to_owned(), ..mention.clone() };
    own.entity_type.get_or_insert_with(|| "person".to_owned());
    own
}
