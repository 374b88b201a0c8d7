use std::{collections::HashSet, hash::Hash, sync::Arc};

use super::dictionary::QuickState;
use crate::{
    Attributes, Field, Filter, Memory, MemoryKind, Metadata, Scope, TimeRange, Timestamp, Validity,
    cues::Cues,
    types::{Content, Fields},
};

/// What the index keeps of a memory: what filters and ranking look at.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) attributes: Attributes,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) categories: Box<[String]>,
    /// `None` for empty metadata.
    pub(crate) metadata: Option<Box<Metadata>>,
    pub(crate) slot: Option<Box<str>>,
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
    /// The entry of a memory whose text has these cues.
    pub(crate) fn new(memory: &Memory, cues: Cues) -> Self {
        Self {
            attributes: Attributes::with_cues(memory, cues),
            expires_at: memory.expires_at,
            categories: memory.categories.clone().into_boxed_slice(),
            metadata: (!memory.metadata.is_empty()).then(|| Box::new(memory.metadata.clone())),
            slot: memory.slot.as_deref().map(Box::from),
        }
    }

    /// When it was said, for a turn; when it held, for anything else.
    pub(super) fn span(&self) -> Span {
        let Attributes { kind, observed_at, valid_at, invalid_at, .. } = &self.attributes;
        if *kind == MemoryKind::Episode {
            return Span { from: minute(*observed_at), until: minute(*observed_at) };
        }
        Span { from: minute(*valid_at), until: invalid_at.map_or(i32::MAX, minute) }
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

/// A stretch of time in whole minutes since 1970, both ends included: a pass over these tells off nearly all that do not
/// [lie in](Attributes::lies_in) a range, without touching the entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    from: i32,
    until: i32,
}

impl Span {
    /// `false` only for what surely does not lie in the range: cutting off never changes which of two times comes first,
    /// it may make them equal.
    #[inline]
    pub(super) fn may_lie_in(self, range: Self) -> bool {
        self.from <= range.until && self.until >= range.from
    }
}

impl From<TimeRange> for Span {
    fn from(range: TimeRange) -> Self {
        Self { from: minute(range.start()), until: minute(range.end()) }
    }
}

fn minute(at: Timestamp) -> i32 {
    let minutes = at.timestamp().div_euclid(60);
    i32::try_from(minutes).unwrap_or(if minutes < 0 { i32::MIN } else { i32::MAX })
}

/// Texts that many memories share, one allocation for each.
#[derive(Debug, Default)]
pub(super) struct SharedTexts {
    scopes: Shared<Scope>,
    speakers: Shared<str>,
}

impl SharedTexts {
    pub(super) fn share(&mut self, attributes: &mut Attributes) {
        self.scopes.share(&mut attributes.scope);
        if let Some(speaker) = &mut attributes.speaker {
            self.speakers.share(speaker);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let parts = |scope: &Arc<Scope>| {
            let parts = [scope.user_id(), scope.agent_id(), scope.session_id()];
            parts.into_iter().flatten().map(|part| part.len() + OVERHEAD).sum::<usize>()
        };
        let scopes: usize = self.scopes.known.iter().map(|scope| size_of::<Scope>() + parts(scope) + 16).sum();
        let speakers: usize = self.speakers.known.iter().map(|speaker| speaker.len() + 16).sum();
        scopes + speakers + (self.scopes.known.len() + self.speakers.known.len()) * (OVERHEAD + 32)
    }
}

/// What the allocator takes for one allocation beyond its bytes, about.
pub(super) const OVERHEAD: usize = 16;

#[derive(Debug)]
struct Shared<T: ?Sized> {
    known: HashSet<Arc<T>, QuickState>,
    /// Neighbours mostly have the same.
    last: Option<Arc<T>>,
}

impl<T: ?Sized> Default for Shared<T> {
    fn default() -> Self {
        Self { known: HashSet::default(), last: None }
    }
}

impl<T: Eq + Hash + ?Sized> Shared<T> {
    fn share(&mut self, value: &mut Arc<T>) {
        if let Some(last) = self.last.as_ref().filter(|last| Arc::ptr_eq(last, value) || *last == value) {
            *value = Arc::clone(last);
            return;
        }
        match self.known.get(value) {
            Some(known) => *value = Arc::clone(known),
            None => drop(self.known.insert(Arc::clone(value))),
        }
        self.last = Some(Arc::clone(value));
    }
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
            (_, Validity::Any) | (Standing::Lasting, Validity::Current(_) | Validity::CurrentOrHeld(..)) => true,
            (Standing::Ends, Validity::Current(_) | Validity::CurrentOrHeld(..)) | (_, Validity::At(_)) => false,
        };
        (timely && self.filter.is_none()) || entry().is_some_and(|entry| self.admits_entry(entry))
    }

    fn admits_entry(&self, entry: &Entry) -> bool {
        self.validity.admits(entry.attributes.valid_at, entry.attributes.invalid_at, entry.expires_at)
            && self.filter.is_none_or(|filter| filter.admits(entry))
    }
}
