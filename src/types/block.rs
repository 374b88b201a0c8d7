use serde::{Deserialize, Serialize};

use super::{Memory, MemoryId, MemoryKind, Scope, Timestamp};
use crate::{Error, Result};

/// Most characters of a label: as many as a prompt shows of a name.
const LABEL: usize = 64;
/// Most characters of a text, unless the block says otherwise.
const LIMIT: usize = 2_000;
/// The label of the [profile](crate::Profile), which nobody writes.
pub(crate) const PROFILE: &str = "profile";

/// Keys of the metadata, for what a memory has no field for.
const DESCRIPTION: &str = "block.description";
const MOST: &str = "block.limit";
const READ_ONLY: &str = "block.read_only";

/// A labelled text of core memory: shown in every prompt, written by the application and, if it may, by the agent.
///
/// It is kept as a memory of the kind [`Block`](MemoryKind::Block), whose [slot](Memory::slot) is the label. A label is up
/// to 64 characters, without controls and not blank; labels are compared byte for byte, and `profile` is that of the
/// [`Profile`](crate::Profile).
///
/// ```
/// use ingrain::Block;
/// let persona = Block::new("persona", "I answer briefly.").description("How the assistant speaks").limit(500);
/// let rules = Block::new("rules", "Never book without asking.").read_only(true);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Block {
    /// Names it within its scope.
    pub label: String,
    /// The text. While it is blank it is not shown in prompts.
    pub text: String,
    /// What it is for: tells an agent what to write into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Most characters (Unicode scalar values) of the text.
    pub limit: usize,
    /// Whether only the application may change it, and no tool.
    pub read_only: bool,
    /// The memory it is kept as; `None` for one that was not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// When it was last changed; `None` for one that was not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

impl Block {
    /// A block of at most 2,000 characters, which an agent may change. An empty text is one for the agent to fill.
    #[must_use]
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
            description: None,
            limit: LIMIT,
            read_only: false,
            id: None,
            updated_at: None,
        }
    }

    /// What it is for. Default: not said.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Most characters of the text. Default 2,000.
    #[must_use]
    pub fn limit(mut self, characters: usize) -> Self {
        self.limit = characters;
        self
    }

    /// Whether only the application may change it, and no tool. Default: no.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// How many characters the text has, of those that it may have.
    #[must_use]
    pub fn characters(&self) -> usize {
        self.text.chars().count()
    }

    pub(crate) fn validate(&self) -> Result<()> {
        check_label(&self.label)?;
        let characters = self.characters();
        if characters > self.limit {
            return Err(Error::invalid(format!(
                "the text of a block has {characters} characters, and its limit is {}",
                self.limit
            )));
        }
        Ok(())
    }

    /// The block that a memory keeps, if it keeps one with a label.
    pub(crate) fn of(memory: &Memory) -> Option<Self> {
        if memory.kind != MemoryKind::Block {
            return None;
        }
        let Memory { metadata, slot, text, id, updated_at, .. } = memory;
        let limit = metadata.get(MOST).and_then(serde_json::Value::as_u64);
        Some(Self {
            label: slot.clone()?,
            text: text.clone(),
            description: metadata.get(DESCRIPTION).and_then(|value| value.as_str()).map(str::to_owned),
            limit: limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(LIMIT),
            read_only: metadata.get(READ_ONLY).and_then(serde_json::Value::as_bool).unwrap_or(false),
            id: Some(*id),
            updated_at: Some(*updated_at),
        })
    }

    /// Writes it into the memory that keeps it; whatever else that says stays.
    pub(crate) fn write_to(&self, memory: &mut Memory) {
        let Self { label, text, description, limit, read_only, id: _, updated_at: _ } = self;
        memory.kind = MemoryKind::Block;
        memory.slot = Some(label.clone());
        memory.text.clone_from(text);
        let mut set = |key: &str, value: Option<serde_json::Value>| match value {
            Some(value) => memory.metadata.insert(key.to_owned(), value),
            None => memory.metadata.remove(key),
        };
        set(DESCRIPTION, description.clone().map(Into::into));
        set(MOST, Some((*limit).into()));
        set(READ_ONLY, read_only.then(|| true.into()));
    }
}

pub(crate) fn check_label(label: &str) -> Result<()> {
    if label.trim().is_empty() {
        return Err(Error::invalid("the label of a block is blank"));
    }
    if label.chars().count() > LABEL || label.chars().any(char::is_control) {
        return Err(Error::invalid(format!(
            "the label of a block is longer than {LABEL} characters, or holds a control"
        )));
    }
    if label == PROFILE {
        return Err(Error::invalid("the label `profile` is that of the profile, which is made of facts"));
    }
    Ok(())
}

/// What blocks are ordered by: pinned ones first, then as they were made.
pub(crate) fn block_order(memory: &Memory) -> (bool, Timestamp, MemoryId) {
    (!memory.pinned, memory.created_at, memory.id)
}

/// The id of the block with this label in a scope: the same wherever and whenever it is made, so that of two who make it
/// at once one finds that it is there.
///
/// # Source
/// RFC 9562, section 5.5 (version 5): SHA-1 over a namespace, made up once for this, and a name. The parts of the name
/// are led by their lengths, so that no two lists of parts give one name.
pub(crate) fn block_id(scope: &Scope, label: &str) -> MemoryId {
    const NAMESPACE: uuid::Uuid = uuid::Uuid::from_u128(0x6f2d_9c1e_5b7a_4e08_9d43_1fa6_c08b_e275);
    let mut name = Vec::new();
    for part in [scope.user_id(), scope.agent_id(), scope.session_id(), Some(label)] {
        // What is not named has no length at all.
        name.extend(part.map_or(u64::MAX, |part| part.len() as u64).to_be_bytes());
        name.extend(part.unwrap_or_default().as_bytes());
    }
    MemoryId::from_bytes(uuid::Uuid::new_v5(&NAMESPACE, &name).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metadata;

    #[test]
    fn a_memory_keeps_all_of_a_block() {
        let now = Timestamp::from_timestamp(1_739_174_400, 0).unwrap_or_default();
        let scope = Scope::user("ann");
        let block = Block::new("persona", "Is kind").description("How it speaks").limit(7).read_only(true);
        let mut memory = Memory::new(block_id(&scope, "persona"), scope, "", now);
        memory.metadata = Metadata::from_iter([("mine".to_owned(), 1.into())]);
        block.write_to(&mut memory);
        assert_eq!(memory.metadata.len(), 4, "what else is there stays");
        let back = Block::of(&memory).map(|block| Block { id: None, updated_at: None, ..block });
        assert_eq!(back, Some(block));
        Block::new("persona", "x").write_to(&mut memory);
        assert_eq!(memory.metadata.len(), 2, "what is not said is taken out");
        memory.kind = MemoryKind::Fact;
        assert_eq!(Block::of(&memory), None);
    }

    #[test]
    fn ids_are_those_of_scope_and_label_alone() {
        let ann = Scope::user("ann");
        let all = [
            block_id(&ann, "persona"),
            block_id(&ann, "person"),
            block_id(&Scope::user("an"), "npersona"),
            block_id(&Scope::agent("ann"), "persona"),
            block_id(&ann.clone().with_session("1"), "persona"),
        ];
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        // For good: a store that was written years ago must be found again.
        assert_eq!(all.map(|id| id.to_string())[0], "da069dcb-9029-5dfa-bfe6-ef742a0c0c83");
    }

    #[test]
    fn odd_labels_are_refused() {
        let long = "x".repeat(LABEL + 1);
        for bad in ["", " ", "a\nb", "\u{0}", &long, "profile"] {
            assert!(check_label(bad).is_err(), "{bad:?}");
        }
        assert!(check_label(&"ж".repeat(LABEL)).is_ok());
        assert!(Block::new("a", "жук").limit(3).validate().is_ok());
        assert!(Block::new("a", "жуки").limit(3).validate().is_err_and(|error| error.to_string().contains('3')));
    }
}
