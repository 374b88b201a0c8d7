//! The nouns: what is stored, whose it is, and what came in.

mod block;
mod entity;
mod filter;
mod history;
mod id;
mod memory;
mod message;
mod page;
pub(crate) mod quarantine;
mod scope;
mod secret;
mod time;
mod usage;

pub use block::Block;
pub(crate) use block::{PROFILE, block_id, block_order, check_label};
pub use entity::{Entity, EntityId, Relation, RelationId};
pub use filter::{Comparison, Field, Filter};
pub(crate) use filter::{Content, Fields};
pub use history::{Actor, CallId, EventKind, HistoryEvent, Stamp};
pub use id::{IdSource, MemoryId};
pub use memory::{Memory, MemoryKind, Source, Trust};
pub use message::{Message, Role, ToolCall};
pub use page::{Cursor, Page};
pub use scope::Scope;
pub use secret::Secret;
pub(crate) use time::truncate;
pub use time::{TimeRange, Timestamp, Validity};
pub use usage::Usage;

/// A JSON object: the metadata of a memory or message. Nested at most 64 deep.
pub type Metadata = serde_json::Map<String, serde_json::Value>;

/// Deepest nesting of metadata: JSON readers have a limit of their own, and what is stored must be readable.
const METADATA_DEPTH: usize = 64;

/// # Errors
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for metadata that is nested too deep.
pub(crate) fn check_metadata(metadata: &Metadata) -> crate::Result<()> {
    // A stack of our own: a value as deep as the caller likes must not use up the thread's.
    let mut rest: Vec<(&serde_json::Value, usize)> = metadata.values().map(|value| (value, 1)).collect();
    while let Some((value, depth)) = rest.pop() {
        if depth > METADATA_DEPTH {
            return Err(crate::Error::invalid(format!("metadata is nested deeper than {METADATA_DEPTH}")));
        }
        match value {
            serde_json::Value::Array(values) => rest.extend(values.iter().map(|value| (value, depth + 1))),
            serde_json::Value::Object(values) => rest.extend(values.values().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}
