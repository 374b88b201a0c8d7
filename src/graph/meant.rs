//! What open names were taken to mean, checked before anything is told of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{resolve::Sort, word::refusal};
use crate::{Entity, EntityId, KnownEntity, Meaning, Mention, OpenMention, score::names::folded};

/// A name that was taken for a stored entity on the word of a model.
///
/// Where it is not a name of the entity's yet, it has become an alias, under which
/// [`Graph::split`](crate::Graph::split) takes it back: what was told under it is then told of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResolvedMention {
    /// The name as it was told.
    pub name: String,
    /// The entity it was taken for.
    pub entity: EntityId,
    /// The name of that one.
    pub known_as: String,
}

/// A name, and the entity it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meant {
    name: String,
    sort: Sort,
    pub(super) entity: EntityId,
}

impl Meant {
    pub(super) fn is_of(&self, mention: &Mention) -> bool {
        self.name == folded(&mention.name) && self.sort.may_be(Sort::of_any(&mention.entity_type))
    }
}

/// What is told of a name in one relation.
#[derive(Debug)]
pub(super) struct Telling {
    pub(super) mention: Mention,
    pub(super) other: Mention,
    pub(super) predicate: String,
    pub(super) is_subject: bool,
    /// The name of the one who speaks, folded.
    pub(super) speaker: Option<String>,
}

/// Names that are open, as a model is asked about them.
#[derive(Debug, Default)]
pub(crate) struct Openings {
    pub(crate) mentions: Vec<OpenMention>,
    pub(crate) entities: Vec<KnownEntity>,
    /// What else is known of each of the mentions.
    grounds: Vec<Grounds>,
}

#[derive(Debug)]
struct Grounds {
    name: String,
    sort: Sort,
    /// The names that it is told to be related to.
    others: BTreeSet<String>,
    /// Whether the candidates have that very name.
    is_shared: bool,
}

impl Openings {
    /// The number of an entity, which is new here or not.
    pub(super) fn number_of(&mut self, entity: Entity) -> usize {
        self.entities.iter().position(|known| known.entity.id == entity.id).unwrap_or_else(|| {
            self.entities.push(KnownEntity::new(entity, Vec::new()));
            self.entities.len() - 1
        })
    }

    pub(super) fn push(
        &mut self,
        mention: OpenMention,
        (name, sort): (String, Sort),
        told: Vec<Telling>,
        is_shared: bool,
    ) {
        self.mentions.push(mention);
        let others = told.iter().map(|told| folded(&told.other.name)).collect();
        self.grounds.push(Grounds { name, sort, others, is_shared });
    }

    /// The meanings that hold, and why the others do not; what is left is decided by the rules.
    pub(crate) fn judge(&self, meanings: &[Meaning]) -> (Vec<Meant>, Vec<String>) {
        let (mut meant, mut rejected) = (BTreeMap::new(), Vec::new());
        let mut contradicted = BTreeSet::new();
        // Each mention is good for one.
        let most = 2 * self.mentions.len() + 16;
        for Meaning { mention, entity } in meanings.iter().take(most) {
            match self.verdict(*mention, *entity) {
                Err(reason) => rejected.push(format!("mention {mention}: {reason}")),
                Ok(()) => {
                    if meant.insert(*mention, *entity).is_some_and(|before| before != *entity) {
                        contradicted.insert(*mention);
                    }
                }
            }
        }
        for mention in contradicted {
            meant.remove(&mention);
            rejected.push(format!("mention {mention}: several meanings of one name"));
        }
        let is_of_one = |(mention, entity): (&usize, &Option<usize>)| {
            meant.iter().any(|(other, theirs)| {
                other != mention && entity.is_some() && theirs == entity && self.are_related(*mention, *other)
            })
        };
        let of_one: Vec<usize> = meant.iter().filter(|pair| is_of_one(*pair)).map(|(mention, _)| *mention).collect();
        for mention in of_one {
            meant.remove(&mention);
            rejected.push(format!("mention {mention}: both ends of a relation taken for one"));
        }
        let known = meant.into_iter().filter_map(|(mention, entity)| {
            let Grounds { name, sort, .. } = self.grounds.get(mention)?;
            let entity = self.entities.get(entity?)?.entity.id;
            Some(Meant { name: name.clone(), sort: *sort, entity })
        });
        (known.collect(), rejected)
    }

    fn verdict(&self, mention: usize, entity: Option<usize>) -> Result<(), &'static str> {
        let (open, grounds) =
            self.mentions.get(mention).zip(self.grounds.get(mention)).ok_or("a name that is not open")?;
        let Some(entity) = entity else {
            // Else a model that is in doubt would make another of the name each time it is told.
            return if grounds.is_shared { Err("another of a name that several have already") } else { Ok(()) };
        };
        let known = self.entities.get(entity).ok_or("an entity that was not shown")?;
        if open.candidates.contains(&entity) {
            return Ok(());
        }
        Err(refusal(&open.mention, &known.entity, true).unwrap_or("an entity that nothing connects it with"))
    }

    fn are_related(&self, one: usize, other: usize) -> bool {
        let names = |mention: usize| self.grounds.get(mention);
        names(one).zip(names(other)).is_some_and(|(one, other)| one.others.contains(&other.name))
    }
}
