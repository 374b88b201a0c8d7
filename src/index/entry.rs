use std::{collections::HashSet, hash::Hash, sync::Arc};

use crate::{
    Attributes, Field, Filter, Memory, Metadata, Scope, Timestamp, Validity,
    types::{Content, Fields},
};

/// What the index keeps of a memory: what filters and ranking look at.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) attributes: Attributes,
    expires_at: Option<Timestamp>,
    categories: Box<[String]>,
    metadata: Option<Box<Metadata>>,
    slot: Option<Box<str>>,
}

/// How long an entry is shown, in a byte: passes over all of them do not touch the entries themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Gone,
    /// It has an end, which is to be compared.
    Ends,
    Lasting,
}

impl Entry {
    pub(super) fn new(memory: &Memory, texts: &mut SharedTexts) -> Self {
        let mut attributes = Attributes::from(memory);
        attributes.scope = shared(&mut texts.scopes, attributes.scope);
        attributes.speaker = attributes.speaker.map(|speaker| shared(&mut texts.speakers, speaker));
        Self {
            attributes,
            expires_at: memory.expires_at,
            categories: memory.categories.clone().into_boxed_slice(),
            metadata: (!memory.metadata.is_empty()).then(|| Box::new(memory.metadata.clone())),
            slot: memory.slot.as_deref().map(Box::from),
        }
    }

    pub(super) fn standing(&self) -> Standing {
        let ends = self.attributes.invalid_at.is_some() || self.expires_at.is_some();
        if ends { Standing::Ends } else { Standing::Lasting }
    }

    pub(super) fn bytes(&self) -> usize {
        let texts: usize = self.categories.iter().map(|text| text.len() + size_of::<String>()).sum();
        // A map node and its parts: JSON in memory is several times its text.
        let metadata = self.metadata.as_ref().map_or(0, |metadata| 120 * metadata.len() + 48);
        size_of::<Self>() + texts + metadata + self.slot.as_ref().map_or(0, |slot| slot.len())
    }
}

impl Fields for Entry {
    fn content(&self, field: &Field) -> Content<'_> {
        let attributes = &self.attributes;
        match field {
            Field::Kind => Content::Text(attributes.kind.as_str()),
            Field::Category => Content::Texts(&self.categories),
            Field::Importance => Content::Number(attributes.importance),
            Field::Pinned => Content::Flag(attributes.pinned),
            Field::Speaker => Content::text(attributes.speaker.as_deref()),
            Field::Trust => Content::Text(attributes.trust.as_str()),
            Field::Slot => Content::text(self.slot.as_deref()),
            Field::User => Content::text(attributes.scope.user_id()),
            Field::Agent => Content::text(attributes.scope.agent_id()),
            Field::Session => Content::text(attributes.scope.session_id()),
            Field::Ordinal => attributes.ordinal.map_or(Content::Missing, Content::Whole),
            Field::ObservedAt => Content::Time(attributes.observed_at),
            Field::ValidAt => Content::Time(attributes.valid_at),
            Field::InvalidAt => Content::time(attributes.invalid_at),
            Field::ExpiresAt => Content::time(self.expires_at),
            Field::CreatedAt => Content::Time(attributes.created_at),
            Field::UpdatedAt => Content::Time(attributes.updated_at),
            Field::Metadata(path) => {
                self.metadata.as_deref().map_or(Content::Missing, |metadata| Content::metadata(metadata, path))
            }
        }
    }
}

/// Texts that many memories share, one allocation for each.
#[derive(Debug, Default)]
pub(super) struct SharedTexts {
    scopes: HashSet<Arc<Scope>>,
    speakers: HashSet<Arc<str>>,
}

fn shared<T: Eq + Hash + ?Sized>(known: &mut HashSet<Arc<T>>, value: Arc<T>) -> Arc<T> {
    if let Some(known) = known.get(&value) {
        return Arc::clone(known);
    }
    known.insert(Arc::clone(&value));
    value
}

/// What a query admits.
pub(super) struct Admission<'q> {
    pub(super) filter: Option<&'q Filter>,
    pub(super) validity: Validity,
}

impl Admission<'_> {
    #[inline]
    pub(super) fn admits<'e>(&self, standing: Standing, entry: impl FnOnce() -> Option<&'e Entry>) -> bool {
        let timely = match (standing, self.validity) {
            (Standing::Gone, _) => return false,
            (_, Validity::Any) | (Standing::Lasting, Validity::Current(_)) => true,
            (Standing::Ends, Validity::Current(_)) | (_, Validity::At(_)) => false,
        };
        (timely && self.filter.is_none()) || entry().is_some_and(|entry| self.admits_entry(entry))
    }

    fn admits_entry(&self, entry: &Entry) -> bool {
        self.validity.admits(entry.attributes.valid_at, entry.attributes.invalid_at, entry.expires_at)
            && self.filter.is_none_or(|filter| filter.admits(entry))
    }
}
