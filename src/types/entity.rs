use serde::{Deserialize, Serialize};

use super::{MemoryId, Metadata, Scope, Timestamp, id::id, truncate};
use crate::{Error, ErrorKind, Result};

id!(
    /// Names one entity for good.
    EntityId,
    "an entity id"
);
id!(
    /// Names one relation for good.
    RelationId,
    "a relation id"
);

/// A node of the graph: someone or something in the user's world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entity {
    /// Names it for good.
    pub id: EntityId,
    /// The parts it was stored with.
    pub scope: Scope,
    /// The name, spelled as it was first seen.
    pub name: String,
    /// Other names it goes by.
    pub aliases: Vec<String>,
    /// What it is, such as `person` or `place`; any text.
    pub entity_type: Option<String>,
    /// What is known about it, in a sentence or two.
    pub summary: Option<String>,
    /// The entity it was found to be the same as; what is believed of the two is believed of that one.
    pub merged_into: Option<EntityId>,
    /// A JSON object of the application's own.
    pub metadata: Metadata,
    /// When we first heard of it.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Entity {
    /// An entity with a name and nothing else.
    #[must_use]
    pub fn new(id: EntityId, scope: Scope, name: impl Into<String>, now: Timestamp) -> Self {
        let now = truncate(now);
        Self {
            id,
            scope,
            name: name.into(),
            aliases: Vec::new(),
            entity_type: None,
            summary: None,
            merged_into: None,
            metadata: Metadata::new(),
            created_at: now,
            updated_at: now,
        }
    }

    /// The entity as stores keep it: with times to the microsecond.
    pub(crate) fn as_kept(&self) -> Self {
        let (created_at, updated_at) = (truncate(self.created_at), truncate(self.updated_at));
        Self { created_at, updated_at, ..self.clone() }
    }
}

/// An edge of the graph: subject, predicate, object, from when until when.
///
/// World time is `valid_at` .. `invalid_at`, knowledge time `created_at` .. `expired_at`; both begin with their first
/// instant and end before their second.
///
/// A relation is a record of what was believed, so nothing of it but `expired_at`, `sources` and `seen_at` ever changes. That it
/// ended is a new belief: the old relation expires, and one that has an end takes its place
/// ([`invalidated`](Relation::invalidated)). So whoever asks what was believed before still sees it open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Relation {
    /// Names it for good.
    pub id: RelationId,
    /// The parts it was stored with.
    pub scope: Scope,
    /// The entity it starts from.
    pub subject: EntityId,
    /// What connects the two; any Unicode text.
    pub predicate: String,
    /// The entity it leads to.
    pub object: EntityId,
    /// The name the subject was told under, where that is not its own.
    pub subject_name: Option<String>,
    /// The name the object was told under, where that is not its own.
    pub object_name: Option<String>,
    /// Whether the subject has but one such object at a time, so that this ended what was believed before.
    pub single_valued: bool,
    /// The statement in words.
    pub fact: String,
    /// Since when it holds; `None` when not known.
    pub valid_at: Option<Timestamp>,
    /// When it ceased to hold; `None` while it holds.
    pub invalid_at: Option<Timestamp>,
    /// When we learned it.
    pub created_at: Timestamp,
    /// When we learned that it is not (or no longer) so; `None` while we believe it.
    pub expired_at: Option<Timestamp>,
    /// Other instants, after its beginning, at which it was said to hold, in order: what comes to light later does not cut it
    /// there. At most [`SEEN`](Self::SEEN) are kept, the last.
    pub seen_at: Vec<Timestamp>,
    /// The memories it rests on. That it goes with the last of them is up to the application.
    pub sources: Vec<MemoryId>,
}

impl Relation {
    /// Most instants that are kept of one relation, besides its beginning.
    pub const SEEN: usize = 32;

    /// A relation that holds, of unknown beginning.
    #[must_use]
    pub fn new(
        id: RelationId,
        scope: Scope,
        (subject, predicate, object): (EntityId, impl Into<String>, EntityId),
        fact: impl Into<String>,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            scope,
            subject,
            predicate: predicate.into(),
            object,
            subject_name: None,
            object_name: None,
            single_valued: false,
            fact: fact.into(),
            valid_at: None,
            invalid_at: None,
            created_at: truncate(now),
            expired_at: None,
            seen_at: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// What learning at `now` that the relation ended at `at` makes of it: the relation, expired at `now`, and its
    /// successor, believed since `now`, which ends at `at`. Both are to be stored in one batch, as
    /// [`GraphBatch::invalidate`](crate::GraphBatch::invalidate) does.
    #[must_use]
    pub fn invalidated(&self, successor: RelationId, at: Timestamp, now: Timestamp) -> (Self, Self) {
        let (at, now) = (truncate(at), truncate(now));
        let expired = Self { expired_at: Some(now), ..self.clone() };
        let ended = Self { id: successor, invalid_at: Some(at), created_at: now, expired_at: None, ..self.clone() };
        (expired, ended)
    }

    /// Checks that this may be stored in the place of `stored`, which has its id: for whoever writes a store.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) if it says something else than `stored` does (all but
    /// `expired_at`, `sources` and `seen_at`); [`Conflict`](ErrorKind::Conflict) if `stored` expired, and at another instant than
    /// this.
    pub fn check_replaces(&self, stored: &Self) -> Result<()> {
        let (this, stored) = (self.as_kept(), stored.as_kept());
        if this.scope != stored.scope {
            return Err(Error::invalid("the scope of a stored relation never changes"));
        }
        let (sources, seen_at) = (stored.sources.clone(), stored.seen_at.clone());
        let same = Self { expired_at: stored.expired_at, sources, seen_at, ..this.clone() };
        if same != stored {
            return Err(Error::invalid("of a stored relation only `expired_at`, `sources` and `seen_at` may change"));
        }
        if stored.expired_at.is_some() && this.expired_at != stored.expired_at {
            return Err(Error::new(ErrorKind::Conflict, "a relation expired meanwhile"));
        }
        Ok(())
    }

    /// The relation as stores keep it: with times to the microsecond.
    pub(crate) fn as_kept(&self) -> Self {
        Self {
            valid_at: self.valid_at.map(truncate),
            invalid_at: self.invalid_at.map(truncate),
            created_at: truncate(self.created_at),
            expired_at: self.expired_at.map(truncate),
            seen_at: self.seen_at.iter().copied().map(truncate).collect(),
            ..self.clone()
        }
    }
}
