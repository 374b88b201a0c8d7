use serde::{Deserialize, Serialize};

use super::{Metadata, Timestamp};

/// Who a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the application.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl Role {
    /// The role in lower case, as providers spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A model's wish to run a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The provider's id of the call, repeated by the result.
    pub id: String,
    /// The tool's name as the model gave it.
    pub name: String,
    /// The arguments as the model sent them, unparsed: what a model sends is not always JSON.
    pub arguments: String,
}

impl ToolCall {
    /// A call of `name`.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}

/// One turn of a conversation: what comes in through `add`, and what is sent to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// Who it comes from.
    pub role: Role,
    /// The text, byte for byte.
    pub text: String,
    /// The application's own id of the message, kept as provenance. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The speaker's name, where a conversation has several people. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// When it was said; relative dates in it count from here. Default: when it is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The tool calls an assistant message asks for. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// For a tool message: the call it answers. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Kept on the episode made of this message. Default empty.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

impl Message {
    /// A message of `role`.
    #[must_use]
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
            id: None,
            speaker: None,
            at: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            metadata: Metadata::new(),
        }
    }

    /// What the application tells the model.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(Role::System, text)
    }

    /// What the person says.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, text)
    }

    /// What the model says.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, text)
    }

    /// The result of the tool call with id `call`.
    #[must_use]
    pub fn tool(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call.into()), ..Self::new(Role::Tool, text) }
    }

    /// Sets the application's own id. Default none.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Names the speaker. Default none.
    #[must_use]
    pub fn from_speaker(mut self, speaker: impl Into<String>) -> Self {
        self.speaker = Some(speaker.into());
        self
    }

    /// Says when it was said. Default: when it is added.
    #[must_use]
    pub fn at(mut self, at: Timestamp) -> Self {
        self.at = Some(at);
        self
    }

    /// Adds a tool call. Default none.
    #[must_use]
    pub fn with_tool_call(mut self, call: ToolCall) -> Self {
        self.tool_calls.push(call);
        self
    }

    /// Sets the metadata. Default empty.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }
}

/// Bare text is what the user said.
impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::user(text)
    }
}
