//! What facts tell of whom.

use crate::{Entity, ExtractedRelation, Memory, MemoryId, Mention, Timestamp, Trust, score::names::folded};

/// Longest name that tells anything, in bytes.
const NAME: usize = 1_024;

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

impl<'a> Told<'a> {
    /// What a memory tells by itself, for as long as it holds.
    pub(crate) fn by(memory: &'a Memory, relations: &'a [ExtractedRelation]) -> Self {
        Self {
            relations,
            memory: memory.id,
            text: &memory.text,
            // The one who speaks for the user is the user: an assistant is not.
            speaker: memory.speaker.as_deref().filter(|_| memory.trust != Trust::Assistant),
            since: memory.valid_at,
            until: memory.invalid_at,
        }
    }
}

pub(super) fn names_of(mention: &Mention) -> impl Iterator<Item = &String> {
    std::iter::once(&mention.name).chain(&mention.aliases)
}

pub(super) fn entity_names(entity: &Entity) -> impl Iterator<Item = &String> {
    std::iter::once(&entity.name).chain(&entity.aliases)
}

/// The predicate of a relation, as predicates are compared; `None` if the relation tells nothing.
pub(crate) fn predicate_of(relation: &ExtractedRelation) -> Option<String> {
    let ExtractedRelation { subject, predicate, object, single_valued: _ } = relation;
    let mut names = names_of(subject).chain(names_of(object)).chain([predicate]);
    if names.any(|name| name.len() > NAME) || folded(&subject.name).is_empty() || folded(&object.name).is_empty() {
        return None;
    }
    Some(folded(predicate)).filter(|key| !key.is_empty())
}

/// Whether a name means the one who speaks.
pub(super) fn is_self(name: &str) -> bool {
    SELF.contains(&folded(name).as_str())
}

/// The mention, with the name of the one who speaks where it means that one.
pub(super) fn own_name(mention: &Mention, speaker: Option<&str>) -> Mention {
    if !is_self(&mention.name) {
        return mention.clone();
    }
    let mut own = Mention { name: speaker.unwrap_or(Mention::USER).to_owned(), ..mention.clone() };
    own.entity_type.get_or_insert_with(|| "person".to_owned());
    own
}
