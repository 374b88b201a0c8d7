use std::{convert::Infallible, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{MemoryId, Metadata, Scope, Timestamp};

/// What sort of memory it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// A turn of a conversation, word for word (episodic).
    Episode,
    /// A short account of an exchange or session (episodic).
    Summary,
    /// Something known about the user's world (semantic).
    Fact,
    /// A fact about what the user wants or likes (semantic).
    Preference,
    /// How something is done (procedural).
    Procedure,
    /// What several episodes or facts add up to.
    Observation,
    /// A labelled block of core memory, shown in every prompt.
    Block,
    /// A kind of the application's own; its name is not one of the above.
    Custom(String),
}

impl MemoryKind {
    /// The kind in snake case; for [`MemoryKind::Custom`] its own name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Episode => "episode",
            Self::Summary => "summary",
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Procedure => "procedure",
            Self::Observation => "observation",
            Self::Block => "block",
            Self::Custom(name) => name,
        }
    }

    /// Whether it says what is known, rather than what happened: what new facts are held against.
    #[must_use]
    pub const fn is_semantic(&self) -> bool {
        matches!(self, Self::Fact | Self::Preference | Self::Procedure | Self::Observation)
    }
}

impl From<&str> for MemoryKind {
    fn from(name: &str) -> Self {
        match name {
            "episode" => Self::Episode,
            "summary" => Self::Summary,
            "fact" => Self::Fact,
            "preference" => Self::Preference,
            "procedure" => Self::Procedure,
            "observation" => Self::Observation,
            "block" => Self::Block,
            custom => Self::Custom(custom.to_owned()),
        }
    }
}

impl From<String> for MemoryKind {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
    }
}

/// As a filter's value.
impl From<MemoryKind> for serde_json::Value {
    fn from(kind: MemoryKind) -> Self {
        kind.as_str().into()
    }
}

impl FromStr for MemoryKind {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Infallible> {
        Ok(Self::from(name))
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for MemoryKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for MemoryKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::from(name.as_str()))
    }
}

/// Whose word a memory rests on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trust {
    /// The user said it.
    #[default]
    User,
    /// The model said it.
    Assistant,
    /// A tool, a web page or another outside text said it.
    Tool,
    /// The application brought it in.
    Imported,
}

impl Trust {
    /// The level in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Imported => "imported",
        }
    }
}

/// What a memory was made from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The application's own id of a message.
    Message(String),
    /// Another memory, such as the episode a fact was read from.
    Memory(MemoryId),
    /// A turn that a summary tells of and that [faded](crate::Maintenance::forget_below) since: the summary outlives it.
    Faded(MemoryId),
}

/// One stored unit: a turn of a conversation, a fact, a summary.
///
/// World time is `valid_at` .. `invalid_at`; knowledge time is `created_at` and the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Memory {
    /// Names it for good.
    pub id: MemoryId,
    /// The parts it was stored with.
    pub scope: Scope,
    /// What sort of memory it is.
    pub kind: MemoryKind,
    /// The text, byte for byte as it came.
    pub text: String,
    /// Labels of the application's or the model's choosing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// A JSON object of the application's own.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// How much it matters, 0 to 1; 0.5 where nothing is known. As it was given:
    /// [`effective_importance`](crate::score::decay::DecayPolicy::effective_importance) is what time leaves of it. For filters of
    /// your own; a search weighs it only if [that is chosen](crate::score::decay::DecayForm::Additive).
    pub importance: f32,
    /// Whether it is exempt from [fading](crate::score::decay).
    #[serde(default)]
    pub pinned: bool,
    /// Who said it, by name, where a conversation has several people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Whose word it rests on.
    #[serde(default)]
    pub trust: Trust,
    /// The single-valued slot the fact fills, such as `user.home`: of the current memories of a scope that share a
    /// slot, the newer supersedes the older. Of a block it is the label, which nothing supersedes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// What it was made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Its place in its session (in its scope, if that names no session), counting from 0. An episode that is stored
    /// without one gets the place after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u64>,
    /// When it was said or seen: the message's own time.
    pub observed_at: Timestamp,
    /// Since when it holds in the world.
    pub valid_at: Timestamp,
    /// When it ceased to hold, not before `valid_at`; `None` while it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid_at: Option<Timestamp>,
    /// The memory that replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// From when on it is no longer shown by default; `None` for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When we learned it.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// How often it was recalled, as far as that was [counted](crate::MemoryEngine::touch).
    #[serde(default)]
    pub access_count: u64,
    /// When it was last recalled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accessed_at: Option<Timestamp>,
    /// Grows by one with each change, from 1, also of its keys; recalling is no change. A write may demand the revision
    /// it has read.
    pub revision: u64,
}

impl Memory {
    /// A fact, valid and observed at `now`, with defaults everywhere else: importance 0.5, trust of the user,
    /// revision 1.
    #[must_use]
    pub fn new(id: MemoryId, scope: Scope, text: impl Into<String>, now: Timestamp) -> Self {
        let now = super::truncate(now);
        Self {
            id,
            scope,
            kind: MemoryKind::Fact,
            text: text.into(),
            categories: Vec::new(),
            metadata: Metadata::new(),
            importance: 0.5,
            pinned: false,
            speaker: None,
            trust: Trust::User,
            slot: None,
            sources: Vec::new(),
            ordinal: None,
            observed_at: now,
            valid_at: now,
            invalid_at: None,
            superseded_by: None,
            expires_at: None,
            created_at: now,
            updated_at: now,
            access_count: 0,
            accessed_at: None,
            revision: 1,
        }
    }
}
