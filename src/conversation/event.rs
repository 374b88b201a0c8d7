use std::fmt;

use serde::Serialize;

use crate::{Error, ErrorKind, Scope, Timestamp, Usage};

/// Why the running summary could not be extended the last time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SummaryFailure {
    /// What can be done about it.
    pub kind: ErrorKind,
    /// The error's own line, without its causes.
    pub message: String,
    /// When it failed.
    pub at: Timestamp,
    /// How often it has failed in a row.
    pub failures: u32,
}

impl SummaryFailure {
    pub(super) fn new(error: &Error, at: Timestamp, failures: u32) -> Self {
        Self { kind: error.kind(), message: error.to_string(), at, failures }
    }

    pub(super) fn to_error(&self) -> Error {
        Error::new(self.kind, self.message.clone())
    }
}

/// What became of a conversation in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum ConversationEvent {
    /// The running summary was extended.
    #[non_exhaustive]
    Summarized {
        /// It covers every message with a smaller number.
        covers_before: u64,
        /// How many messages it did not cover before.
        messages: u64,
        /// Calls of a model that were made.
        model_calls: u32,
        /// What they cost.
        usage: Usage,
        /// Whether the summariser without a model stood in for one that kept failing.
        fallback: bool,
    },
    /// The running summary could not be extended, and will be tried again.
    Failed(SummaryFailure),
    /// Messages were dropped, since there were more exchanges than the limit.
    #[non_exhaustive]
    Dropped {
        /// How many messages.
        messages: u64,
        /// Whether the summary covers them.
        covered: bool,
    },
}

type Observe = dyn Fn(&Scope, &ConversationEvent) + Send + Sync;

/// What is told of it.
pub(crate) struct ConversationObserver(pub(crate) Box<Observe>);

impl fmt::Debug for ConversationObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConversationObserver(..)")
    }
}
