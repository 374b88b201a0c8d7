//! What a graph no longer knows when memories are gone: their relations and, if no trace is to be left, the names that
//! nothing else tells.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{
    asked::runs,
    follow::{Changed, Held, hull},
    periods::Period,
    told::{entity_names, is_self},
    web::Web,
};
use crate::{
    Direction, Entity, EntityId, GraphQuery, Memory, MemoryId, Relation, RelationId, Result, Scope, SearchQuery,
    Validity, VectorStore, score::names::folded, text::is_unspaced,
};

/// Relations that are read at a time.
const RELATIONS: usize = 1_000_000;

/// Memories that are looked over for a name, those first that its words fit best.
const SAID: usize = 32;

/// What is left of memories that go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Trace<'t> {
    /// The names they told stay.
    Names,
    /// Nothing: these are all the texts that the memories ever had.
    Nothing(&'t [String]),
}

impl Web<'_> {
    /// Takes memories away from what rests on them, in all scopes that a relation of theirs may have: what rests on nothing
    /// else goes without a trace, and an entity with it that is in no relation any more and of which nothing else is known.
    /// What stays is told in the words of a memory that stays, and ends with the last of these.
    pub(crate) async fn forget(
        &mut self,
        scopes: &[Scope],
        forgotten: &[MemoryId],
        trace: Trace<'_>,
        memories: &dyn VectorStore,
    ) -> Result<()> {
        self.forgotten.extend(forgotten);
        let mut resting: BTreeMap<RelationId, (Relation, Scope)> = BTreeMap::new();
        for scope in scopes {
            for relation in self.store.relations_of(scope, forgotten).await? {
                resting.insert(relation.id, (relation, scope.clone()));
            }
        }
        // Which entities they told of, and where those are read.
        let mut touched: BTreeMap<EntityId, Scope> = BTreeMap::new();
        let (mut removed, mut gone, mut staying) = (HashSet::new(), Vec::new(), Vec::new());
        for (relation, scope) in resting.into_values() {
            touched.extend([relation.subject, relation.object].map(|end| (end, scope.clone())));
            if relation.sources.iter().all(|source| self.forgotten.contains(source)) {
                removed.insert(relation.id);
                gone.extend(Some(relation).filter(|relation| relation.expired_at.is_none()));
            } else {
                staying.push(self.trimmed(relation, &scope, trace, memories, &mut removed).await?);
            }
        }
        self.gone += removed.len() as u64 - staying.iter().filter(|kept| kept.is_copy).count() as u64;
        for (id, scope) in &touched {
            for entity in self.store.entities(scope, &[*id]).await? {
                // One more than are removed: then one that is not is among them, if there is any.
                let query = GraphQuery::any_time().expired_too().limit(removed.len() + 1);
                let left = self.store.relations_at(&entity.scope, &[*id], Direction::Both, &query).await?;
                let is_plain = entity.summary.is_none() && entity.metadata.is_empty();
                let is_alone = left.iter().all(|relation| removed.contains(&relation.id));
                if is_plain && is_alone && !staying.iter().any(|kept| is_at(&kept.relation, *id)) {
                    self.batch.remove_entities.push(*id);
                }
            }
        }
        if let Trace::Nothing(texts) = trace {
            self.forget_names(scopes, touched, texts, &removed, &staying, memories).await?;
        }
        // Only now: what is believed anew is at odds with nothing above.
        for Kept { relation, held, .. } in staying.iter().filter(|kept| kept.relation.expired_at.is_none()) {
            let (known, after) = (Period::of(relation), hull(relation, held, |held| held.after));
            let wanted = after.map_or(known, |after| known.following(None, after));
            if wanted != known {
                self.retell(relation.clone(), known, wanted, false).await?;
            }
        }
        self.removed.extend(removed.iter().copied());
        self.release(gone, &Changed::new(), memories).await?;
        self.batch.remove_relations.extend(removed);
        self.batch.remove_relations.sort_unstable();
        Ok(())
    }

    /// A relation without the memories that go.
    async fn trimmed(
        &mut self,
        stored: Relation,
        scope: &Scope,
        trace: Trace<'_>,
        memories: &dyn VectorStore,
        removed: &mut HashSet<RelationId>,
    ) -> Result<Kept> {
        let mut relation = stored.clone();
        relation.sources.retain(|source| !self.forgotten.contains(source));
        let left = memories.get(scope, &relation.sources).await?;
        let mut is_copy = false;
        if let Some(first) = left.first().filter(|_| left.iter().all(|memory| memory.text != relation.fact)) {
            relation.fact.clone_from(&first.text);
            is_copy = true;
        }
        if matches!(trace, Trace::Nothing(_)) {
            for name in [&mut relation.subject_name, &mut relation.object_name] {
                let is_told = |name: &String| left.iter().any(|memory| tells(memory, name));
                if name.as_ref().is_some_and(|name| !is_told(name)) {
                    *name = None;
                    is_copy = true;
                }
            }
        }
        let held = left.iter().map(|memory| (memory.id, Held::unchanged(memory))).collect();
        if is_copy {
            // A stored relation keeps its words, so another takes its place.
            removed.insert(stored.id);
            relation.id = RelationId::new(self.now);
        }
        match (is_copy, relation.expired_at) {
            (_, Some(_)) => self.batch.relations.push(relation.clone()),
            (true, None) => self.believe(relation.clone()),
            (false, None) => {
                self.stored.insert(stored.id, stored);
                self.believe(relation.clone());
            }
        }
        Ok(Kept { relation, held, is_copy })
    }

    /// Takes away what entities are called, and said to be, in nothing that stays. A name of an entity that the memories told
    /// of goes if nothing that is left tells it, for nobody knows that they did not; the last one stays.
    async fn forget_names(
        &mut self,
        scopes: &[Scope],
        touched: BTreeMap<EntityId, Scope>,
        texts: &[String],
        removed: &HashSet<RelationId>,
        staying: &[Kept],
        memories: &dyn VectorStore,
    ) -> Result<()> {
        let mut entities: BTreeMap<EntityId, Entity> = BTreeMap::new();
        for (id, scope) in &touched {
            let found = self.store.entities(scope, &[*id]).await?;
            // What was told of one is an alias of the one it was merged into.
            let merged: Vec<EntityId> = found.iter().filter_map(|entity| entity.merged_into).collect();
            let into = self.store.entities(scope, &merged).await?;
            entities.extend(found.into_iter().chain(into).map(|entity| (entity.id, entity)));
        }
        // That two names are one is told without a relation.
        let names: Vec<String> = texts.iter().flat_map(|text| runs(text)).collect();
        for scope in scopes {
            entities.extend(self.store.named(scope, &names).await?.into_iter().map(|entity| (entity.id, entity)));
        }
        for entity in entities.into_values() {
            if self.batch.remove_entities.contains(&entity.id) {
                continue;
            }
            let is_said = |word: &str| texts.iter().any(|text| contains(text, word));
            let is_touched = touched.contains_key(&entity.id);
            let mut doubtful: BTreeSet<&String> =
                entity.aliases.iter().filter(|alias| is_touched || is_said(alias)).collect();
            doubtful.extend(Some(&entity.name).filter(|_| !entity.aliases.is_empty()));
            doubtful.retain(|name| !is_self(name));
            let is_type_said = entity.entity_type.as_deref().is_some_and(is_said);
            if doubtful.is_empty() && !is_type_said {
                continue;
            }
            let told = self.told_of_entity(&entity, removed, staying, memories).await?;
            let mut names: Vec<String> = Vec::new();
            for name in entity_names(&entity) {
                let is_told = !doubtful.contains(name) || told.tells(name);
                if is_told || self.is_said(&entity.scope, name, memories).await? {
                    names.push(name.clone());
                }
            }
            let mut left = entity.clone();
            if let Some((first, rest)) = names.split_first() {
                (left.name, left.aliases) = (first.clone(), rest.to_vec());
            } else {
                left.aliases.clear();
            }
            if let Some(sort) = entity.entity_type.as_ref().filter(|sort| is_type_said && !told.tells(sort))
                && !self.is_said(&entity.scope, sort, memories).await?
            {
                left.entity_type = None;
            }
            if left != entity {
                left.updated_at = self.now;
                self.batch.entities.push(left);
            }
        }
        Ok(())
    }

    /// Whether a memory that stays has the words in its text, be there a relation that rests on it or not.
    async fn is_said(&self, scope: &Scope, words: &str, memories: &dyn VectorStore) -> Result<bool> {
        let query = SearchQuery::new(scope.clone(), self.now).validity(Validity::Any).words(words).limit(SAID);
        let found = memories.search(&query).await?;
        let ids: Vec<MemoryId> =
            found.into_iter().map(|found| found.id).filter(|id| !self.forgotten.contains(id)).collect();
        Ok(memories.get(scope, &ids).await?.iter().any(|memory| tells(memory, words)))
    }

    /// What is left that tells of an entity.
    async fn told_of_entity(
        &self,
        entity: &Entity,
        removed: &HashSet<RelationId>,
        staying: &[Kept],
        memories: &dyn VectorStore,
    ) -> Result<Telling> {
        let query = GraphQuery::any_time().expired_too().limit(RELATIONS);
        let mut left = self.store.relations_at(&entity.scope, &[entity.id], Direction::Both, &query).await?;
        left.retain(|relation| !removed.contains(&relation.id));
        left.retain(|relation| staying.iter().all(|kept| kept.relation.id != relation.id));
        let mut told = Telling::default();
        for relation in &left {
            for (end, name) in [(relation.subject, &relation.subject_name), (relation.object, &relation.object_name)] {
                if end == entity.id {
                    told.names.insert(folded(name.as_ref().unwrap_or(&entity.name)));
                }
            }
        }
        let staying = staying.iter().map(|kept| &kept.relation).filter(|relation| is_at(relation, entity.id));
        let sources: BTreeSet<MemoryId> =
            left.iter().chain(staying).flat_map(|relation| relation.sources.iter().copied()).collect();
        told.memories = memories.get(&entity.scope, &sources.into_iter().collect::<Vec<_>>()).await?;
        Ok(told)
    }
}

/// A relation that rests on other memories as well.
struct Kept {
    relation: Relation,
    /// How long those hold.
    held: Changed,
    /// Whether it takes the place of the stored one, which had other words.
    is_copy: bool,
}

/// What tells the names of an entity.
#[derive(Default)]
struct Telling {
    /// Folded.
    names: BTreeSet<String>,
    memories: Vec<Memory>,
}

impl Telling {
    fn tells(&self, name: &str) -> bool {
        self.names.contains(&folded(name)) || self.memories.iter().any(|memory| tells(memory, name))
    }
}

fn tells(memory: &Memory, name: &str) -> bool {
    let is_speaker = |speaker: &String| folded(speaker) == folded(name);
    contains(&memory.text, name) || memory.speaker.as_ref().is_some_and(is_speaker)
}

fn is_at(relation: &Relation, id: EntityId) -> bool {
    relation.subject == id || relation.object == id
}

/// Whether a text has a name in it, as words of its own where blanks part words.
fn contains(text: &str, name: &str) -> bool {
    let (text, name) = (folded(text), folded(name));
    let is_word = |char: Option<char>| char.is_some_and(|char| char.is_alphanumeric() && !is_unspaced(char));
    !name.is_empty()
        && text.match_indices(&name).any(|(at, found)| {
            let (before, after) = (text.get(..at), text.get(at + found.len()..));
            let (before, after) =
                (before.and_then(|text| text.chars().last()), after.and_then(|text| text.chars().next()));
            let is_inside = is_word(before) && is_word(name.chars().next());
            let goes_on = is_word(after) && is_word(name.chars().last());
            !is_inside && !goes_on
        })
}
