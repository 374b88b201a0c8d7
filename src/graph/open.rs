//! Which names stay open: those that no rule decides, and the few stored entities that each may mean.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    meant::{Openings, Telling},
    names::{described, word_set},
    resolve::{Sort, resolve},
    told::{entity_names, is_self, names_of, own_name, predicate_of},
    web::Web,
    word::refusal,
};
use crate::{
    Direction, Entity, EntityId, ExtractedRelation, GraphQuery, KnownEntity, MemoryId, Mention, OpenMention, Result,
    score::names::{Name, folded},
};

/// Most names that are left open, and most entities that each may mean: what a model is shown of them takes a few hundred
/// tokens at most.
const MENTIONS: usize = 6;
const CANDIDATES: usize = 3;
/// Most names that are looked up.
const LOOKED_UP: usize = 16;
/// Entities looked up for one name.
const LIKELY: usize = 10;
/// Relations that are looked over at the other end of a relation, the newest.
const FEW: usize = 100;
/// Relations whose words are shown of an entity, the newest.
const TOLD: usize = 2;
/// Least letters of a word that two names have in common by no chance.
const WORD: usize = 3;
/// What a connection is worth, beside likenesses of 0 to 1.
const LINK: f32 = 0.5;
/// The likeness of names that share a word, or of which one is the initials of the other.
const SHARED: f32 = 0.4;

/// The relations of a new fact.
#[derive(Debug)]
pub(crate) struct Spoken<'a> {
    pub(crate) relations: &'a [ExtractedRelation],
    pub(crate) speaker: Option<&'a str>,
    /// Memories near the fact.
    pub(crate) near: Vec<MemoryId>,
}

/// One name, and all that is told of it.
struct Group {
    name: String,
    sort: Sort,
    mention: Mention,
    fact: usize,
    told: Vec<Telling>,
}

impl Web<'_> {
    /// The names that stay open. Nothing is changed by it: what comes of them is for [`tell`](Web::tell).
    pub(crate) async fn open(&mut self, facts: &[Spoken<'_>]) -> Result<Openings> {
        let mut openings = Openings::default();
        for group in groups(facts).into_iter().take(LOOKED_UP) {
            if openings.mentions.len() == MENTIONS {
                break;
            }
            let equal = self.equal(&group.mention).await?;
            let is_of_sort = |id: &EntityId| self.entities.get(id).is_some_and(|one| group.sort.may_be(sort_of(one)));
            let fitting: BTreeSet<EntityId> = equal.iter().copied().filter(is_of_sort).collect();
            let candidates = match fitting.len() {
                0 => self.candidates(&group, &equal, facts).await?,
                1 => continue,
                _ if self.is_told_apart(&group, &fitting).await? => continue,
                _ => fitting.iter().copied().take(CANDIDATES).collect(),
            };
            if !candidates.is_empty() {
                let known: Vec<Entity> = candidates.iter().filter_map(|id| self.entities.get(id)).cloned().collect();
                let Group { name, sort, mention, fact, told } = group;
                let candidates = known.into_iter().map(|entity| openings.number_of(entity)).collect();
                openings.push(OpenMention::new(mention, fact, candidates), (name, sort), told, !fitting.is_empty());
            }
        }
        for KnownEntity { entity, told, .. } in &mut openings.entities {
            let query = GraphQuery::at(self.now).limit(TOLD);
            let found = self.store.relations_at(&self.scope, &[entity.id], Direction::Both, &query).await?;
            *told = found.into_iter().take(TOLD).map(|relation| relation.fact).collect();
            told.dedup();
        }
        Ok(openings)
    }

    /// Whether a neighbour tells which of several of one name is meant.
    async fn is_told_apart(&mut self, group: &Group, fitting: &BTreeSet<EntityId>) -> Result<bool> {
        for told in &group.told {
            let mut sharing = 0;
            for id in fitting {
                sharing += usize::from(self.has_neighbour(*id, &told.other).await?);
            }
            if sharing == 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The entities of another name that a name may mean, likest first; none if a rule decides.
    async fn candidates(
        &mut self,
        group: &Group,
        equal: &BTreeSet<EntityId>,
        facts: &[Spoken<'_>],
    ) -> Result<Vec<EntityId>> {
        for told in &group.told {
            let likely = self.likely(&told.mention, Some(&told.other)).await?;
            if resolve(&told.mention, &likely).is_some() {
                return Ok(Vec::new());
            }
        }
        let (pool, beside) = self.pool(group, facts).await?;
        let mut ranked: Vec<(f32, EntityId)> = Vec::new();
        for (id, is_linked) in pool {
            let fits = |entity: &&Entity| {
                let is_other = entity.merged_into.is_none() && !equal.contains(&id) && !beside.contains(&id);
                is_other && !entity_names(entity).any(|name| group.told.iter().any(|told| told.is_speaker(name)))
            };
            let Some(entity) = self.entities.get(&id).filter(fits) else { continue };
            let Some(likeness) = likeness(&group.mention, entity, is_linked) else { continue };
            if refusal(&group.mention, entity, true).is_some() {
                continue;
            }
            let needs_neighbour = refusal(&group.mention, entity, false).is_some();
            if !needs_neighbour || self.shares_neighbour(id, group).await? {
                ranked.push((likeness, id));
            }
        }
        ranked.sort_by(|(one, left), (other, right)| other.total_cmp(one).then_with(|| right.cmp(left)));
        Ok(ranked.into_iter().take(CANDIDATES).map(|(_, id)| id).collect())
    }

    /// Entities that a name is looked for among, each with whether something connects the two: what stands in the same
    /// relation to the other end, and what memories near the fact are about. And the other ends themselves.
    async fn pool(
        &mut self,
        group: &Group,
        facts: &[Spoken<'_>],
    ) -> Result<(BTreeMap<EntityId, bool>, BTreeSet<EntityId>)> {
        let (mut pool, mut beside) = (BTreeMap::new(), BTreeSet::new());
        let noun = described(&group.mention.name);
        for name in names_of(&group.mention).chain(&noun) {
            for (entity, _) in self.store.find_entities(&self.scope, name, LIKELY).await? {
                pool.entry(entity.id).or_insert(false);
                self.know(entity);
            }
        }
        for told in &group.told {
            let others = self.equal(&told.other).await?;
            let sort = Sort::of_any(&told.other.entity_type);
            let is_of_sort = |id: &EntityId| self.entities.get(id).is_some_and(|one| sort.may_be(sort_of(one)));
            let others: Vec<EntityId> = others.into_iter().filter(is_of_sort).collect();
            beside.extend(others.iter().copied());
            let [other] = others.as_slice() else { continue };
            let direction = if told.is_subject { Direction::In } else { Direction::Out };
            let few = GraphQuery::any_time().limit(FEW);
            for relation in self.store.relations_at(&self.scope, &[*other], direction, &few).await? {
                if folded(&relation.predicate) == told.predicate {
                    pool.insert(if told.is_subject { relation.subject } else { relation.object }, true);
                }
            }
        }
        let near = facts.get(group.fact).map(|fact| fact.near.as_slice()).unwrap_or_default();
        let resting = self.store.relations_of(&self.scope, near).await?;
        let believed = resting.iter().filter(|relation| relation.expired_at.is_none());
        pool.extend(believed.flat_map(|relation| [(relation.subject, true), (relation.object, true)]));
        self.read_entities(&pool.keys().copied().collect::<Vec<_>>()).await?;
        Ok((pool, beside))
    }

    /// Whether the entity is related to something that the name is told of, and that is not the one who speaks: that one is
    /// related to everybody.
    async fn shares_neighbour(&mut self, id: EntityId, group: &Group) -> Result<bool> {
        for told in group.told.iter().filter(|told| !told.is_speaker(&told.other.name)) {
            if self.has_neighbour(id, &told.other).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The names of the facts, each once, in order. A name that is told with what it is and without is one.
fn groups(facts: &[Spoken<'_>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    // What is told to be the same is no question.
    let mut settled: BTreeSet<String> = BTreeSet::new();
    for (fact, Spoken { relations, speaker, .. }) in facts.iter().enumerate() {
        for relation in *relations {
            let Some(predicate) = predicate_of(relation) else { continue };
            let (subject, object) = (own_name(&relation.subject, *speaker), own_name(&relation.object, *speaker));
            if predicate == ExtractedRelation::SAME_AS {
                settled.extend([folded(&subject.name), folded(&object.name)]);
                continue;
            }
            for (is_subject, mention, other) in [(true, &subject, &object), (false, &object, &subject)] {
                let told = Telling {
                    mention: mention.clone(),
                    other: other.clone(),
                    predicate: predicate.clone(),
                    is_subject,
                    speaker: speaker.map(folded),
                };
                if told.is_speaker(&mention.name) {
                    continue;
                }
                let (name, sort) = (folded(&mention.name), Sort::of_any(&mention.entity_type));
                match groups.iter_mut().find(|group| group.name == name && group.sort.may_be(sort)) {
                    Some(group) => {
                        if group.mention.entity_type.is_none() {
                            group.mention.entity_type.clone_from(&mention.entity_type);
                            group.sort = sort;
                        }
                        group.told.push(told);
                    }
                    None => groups.push(Group { name, sort, mention: mention.clone(), fact, told: vec![told] }),
                }
            }
        }
    }
    groups.retain(|group| !settled.contains(&group.name));
    groups
}

fn sort_of(entity: &Entity) -> Sort {
    Sort::of_any(&entity.entity_type)
}

impl Telling {
    /// Whether a name is that of the one who speaks.
    fn is_speaker(&self, name: &str) -> bool {
        is_self(name) || self.speaker.as_ref() == Some(&folded(name))
    }
}

/// How likely a name is to mean the entity, above 0; `None` if there is no reason to ask. Names that have something in
/// common are one reason; where only a connection is, one name must be short for something or a mere description.
fn likeness(mention: &Mention, entity: &Entity, is_linked: bool) -> Option<f32> {
    // What is told without saying what it is may be a thing as well, unless it is written as a name.
    let is_written_small = || mention.name.trim().starts_with(char::is_lowercase);
    let may_be_person = match &mention.entity_type {
        Some(own) => Sort::of(own) == Sort::Person,
        None => !is_written_small(),
    };
    let is_person = may_be_person && sort_of(entity) == Sort::Person;
    let of_one_type = || {
        let of = |entity_type: &Option<String>| entity_type.as_deref().map(folded);
        of(&mention.entity_type).is_some_and(|own| of(&entity.entity_type) == Some(own))
    };
    let is_its_type = |noun: String| entity.entity_type.as_deref().is_some_and(|sort| folded(sort) == noun);
    let (mut alike, mut may_be_short) = (0.0_f32, false);
    for name in names_of(mention) {
        for known in entity_names(entity) {
            alike = alike.max(in_common(name, known));
            may_be_short |= (is_person && is_short_for(name, known))
                || described(name).is_some_and(|noun| is_its_type(noun) || of_one_type())
                || (described(known).is_some() && of_one_type());
        }
    }
    let linked = if is_linked { LINK } else { 0.0 };
    (alike > 0.0 || (is_linked && may_be_short)).then_some(alike + linked)
}

/// What two names have in common, from 0 for nothing to 1.
fn in_common(one: &str, other: &str) -> f32 {
    let plain = |name: &str| described(name).unwrap_or_else(|| folded(name));
    let (one, other) = (plain(one), plain(other));
    let alike = Name::of(&one).likeness(&Name::of(&other));
    let (ours, theirs) = (word_set(&one), word_set(&other));
    let is_word = |word: &&String| word.chars().filter(|letter| letter.is_alphabetic()).count() >= WORD;
    let shares_word = ours.intersection(&theirs).any(|word| is_word(&word));
    let is_shared = shares_word || are_initials(&one, &other) || are_initials(&other, &one);
    if is_shared { alike.max(SHARED) } else { alike }
}

/// Whether the one is made of the first letters of the words of the other, of three at least.
fn are_initials(one: &str, other: &str) -> bool {
    let initials: String = other.split_whitespace().filter_map(|word| word.chars().next()).collect();
    initials.chars().count() >= WORD && one.replace('.', "") == initials
}

/// Whether one of the two is a single word and the other is not.
fn is_short_for(one: &str, other: &str) -> bool {
    let (one, other) = (word_set(one).len(), word_set(other).len());
    one.min(other) == 1 && one != other
}
