//! One line of an export: an object whose `type` says what it holds.

use serde::{Deserialize, Serialize};

use super::TransferReport;
use crate::{Entity, HistoryEvent, Memory, MemoryId, Message, QueuedAdd, Relation, RunningSummary, Scope, Timestamp};

/// The version of the format. It grows when a reader of the one before could misread a line.
pub(super) const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    /// The first.
    Ingrain {
        version: u32,
        scope: Scope,
        exported_at: Timestamp,
    },
    /// A memory, the texts it is found by (`null` for its own) and what happened to it.
    Memory {
        memory: Box<Memory>,
        keys: Vec<Option<String>>,
        history: Vec<HistoryEvent>,
    },
    /// What happened to a memory that was removed.
    Removed {
        memory: MemoryId,
        history: Vec<HistoryEvent>,
    },
    /// Comes before every relation at it.
    Entity {
        entity: Entity,
    },
    Relation {
        relation: Relation,
    },
    /// A conversation begins: its first messages that are left, and the summary.
    Conversation {
        name: Scope,
        first: u64,
        messages: Vec<Message>,
        summary: Option<RunningSummary>,
    },
    /// A conversation goes on.
    Messages {
        name: Scope,
        first: u64,
        messages: Vec<Message>,
    },
    QueuedAdd {
        add: Box<QueuedAdd>,
    },
    /// The last: how much came before it.
    End {
        counts: TransferReport,
    },
}
