//! What implements the traits: one folder each, one feature each.

mod hashing;
mod in_memory;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "static-embedder")]
mod static_embedder;
#[cfg(feature = "tiktoken")]
mod tiktoken;

pub use hashing::HashingEmbedder;
pub use in_memory::InMemoryStore;
#[cfg(feature = "sqlite")]
pub use sqlite::{Durability, SqliteStore, SqliteStoreBuilder};
#[cfg(feature = "static-embedder")]
pub use static_embedder::StaticEmbedder;
#[cfg(feature = "tiktoken")]
pub use tiktoken::TiktokenCounter;
