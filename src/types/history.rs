use serde::{Deserialize, Serialize};

use super::{MemoryId, Scope, Timestamp, id::id};

id!(
    /// Names one call of the engine: all events a call caused carry the same.
    CallId,
    "a call id"
);

/// What happened to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// It was stored.
    Add,
    /// Its text, metadata or other fields changed.
    Update,
    /// A newer memory replaced it: its validity ended.
    Supersede,
    /// It was removed, or withdrawn: its validity ended without a successor.
    Delete,
}

impl EventKind {
    /// The kind in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Update => "update",
            Self::Supersede => "supersede",
            Self::Delete => "delete",
        }
    }
}

/// Who caused a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Actor {
    /// The application, by a direct call.
    App,
    /// The rules, while adding.
    Rules,
    /// A model, while adding.
    Model,
    /// A model, by a tool call.
    Agent,
    /// Maintenance.
    Maintenance,
}

impl Actor {
    /// The actor in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Rules => "rules",
            Self::Model => "model",
            Self::Agent => "agent",
            Self::Maintenance => "maintenance",
        }
    }
}

/// When, by whom, why and in which call a change was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// When the change was made (knowledge time).
    pub at: Timestamp,
    /// Who caused it.
    pub actor: Actor,
    /// Which call caused it.
    pub call: CallId,
    /// Why, in words, where there is more to say than the kind of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Stamp {
    /// A stamp without a reason.
    #[must_use]
    pub fn new(at: Timestamp, actor: Actor, call: CallId) -> Self {
        Self { at, actor, call, reason: None }
    }

    /// Gives the reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// One change of one memory, written in the same atomic write as the change itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryEvent {
    /// The memory.
    pub memory: MemoryId,
    /// The scope the memory is stored in.
    pub scope: Scope,
    /// What happened.
    pub kind: EventKind,
    /// The text before; `None` when there was none.
    pub old_text: Option<String>,
    /// The text after; `None` when there is none.
    pub new_text: Option<String>,
    /// When, by whom and why.
    pub stamp: Stamp,
}

impl HistoryEvent {
    /// An event.
    #[must_use]
    pub fn new(
        memory: MemoryId,
        scope: Scope,
        kind: EventKind,
        old_text: Option<String>,
        new_text: Option<String>,
        stamp: Stamp,
    ) -> Self {
        Self { memory, scope, kind, old_text, new_text, stamp }
    }
}
