use serde::{Deserialize, Serialize};

use super::{MemoryId, Metadata, Scope, Timestamp, id::id};

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
