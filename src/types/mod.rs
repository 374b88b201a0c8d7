//! The nouns: what is stored, whose it is, and what came in.

mod entity;
mod filter;
mod history;
mod id;
mod memory;
mod message;
mod page;
mod scope;
mod secret;
mod time;

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
pub use time::{Timestamp, Validity};

/// A JSON object: the metadata of a memory or message.
pub type Metadata = serde_json::Map<String, serde_json::Value>;
