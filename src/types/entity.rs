use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{MemoryId, Metadata, Scope, Timestamp, id::new_v7};
use crate::{Error, Result};

macro_rules! graph_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id; ids sort by the time they were made.
            #[must_use]
            pub fn new(at: Timestamp) -> Self {
                Self(new_v7(at))
            }

            /// The id with these 16 bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// The 16 bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            /// # Errors
            /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when the text is no UUID.
            fn from_str(text: &str) -> Result<Self> {
                Uuid::try_parse(text)
                    .map(Self)
                    .map_err(|cause| Error::invalid(concat!($what, " must be a UUID")).with_source(cause))
            }
        }
    };
}

graph_id!(
    /// Names one entity for good.
    EntityId,
    "an entity id"
);
graph_id!(
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
        let now = super::truncate(now);
        Self {
            id,
            scope,
            name: name.into(),
            aliases: Vec::new(),
            entity_type: None,
            summary: None,
            metadata: Metadata::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

/// An edge of the graph: subject, predicate, object, from when until when.
///
/// World time is `valid_at` .. `invalid_at`, knowledge time `created_at` .. `expired_at`.
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
    /// The memories it rests on; it ends with the last of them.
    pub sources: Vec<MemoryId>,
}

impl Relation {
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
            fact: fact.into(),
            valid_at: None,
            invalid_at: None,
            created_at: super::truncate(now),
            expired_at: None,
            sources: Vec::new(),
        }
    }
}
