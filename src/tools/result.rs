use serde::Serialize;

use crate::{MemoryId, Message};

/// What a tool has to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// For the model: never blank, and no longer than [`max_result_chars`](super::MemoryTools::max_result_chars), or than
    /// 1,500 characters if it is an error.
    pub text: String,
    /// Whether the call could not be carried out through a fault of the model's; nothing was changed then.
    pub is_error: bool,
    /// The memories that were found or changed, in the order of the text.
    pub memories: Vec<MemoryId>,
    /// Whether anything was changed.
    pub changed: bool,
}

impl ToolResult {
    /// Words, and nothing found or changed.
    pub(super) fn said(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// The message that answers the call with this id.
    #[must_use]
    pub fn into_message(self, call: &str) -> Message {
        Message::tool(call, self.text)
    }
}
