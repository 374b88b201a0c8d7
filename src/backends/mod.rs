//! What implements the traits: one folder each, one feature each.

#[cfg(feature = "anthropic")]
mod anthropic;
mod hashing;
mod in_memory;
#[cfg(feature = "neo4j")]
mod neo4j;
#[cfg(feature = "ollama")]
mod ollama;
#[cfg(feature = "openai")]
mod openai;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "static-embedder")]
mod static_embedder;
#[cfg(feature = "tiktoken")]
mod tiktoken;

#[cfg(feature = "anthropic")]
pub use anthropic::{Anthropic, AnthropicBuilder};
pub use hashing::HashingEmbedder;
pub use in_memory::InMemoryStore;
#[cfg(feature = "neo4j")]
pub use neo4j::{Neo4jStore, Neo4jStoreBuilder};
#[cfg(feature = "ollama")]
pub use ollama::{Ollama, OllamaBuilder, OllamaEmbedder};
#[cfg(feature = "openai")]
pub use openai::{OpenAi, OpenAiBuilder, OpenAiEmbedder, OpenAiReranker};
#[cfg(feature = "sqlite")]
pub use sqlite::{Durability, Salvaged, SqliteStore, SqliteStoreBuilder};
#[cfg(feature = "static-embedder")]
pub use static_embedder::StaticEmbedder;
#[cfg(feature = "tiktoken")]
pub use tiktoken::TiktokenCounter;
