//! A deterministic embedder without a model.

mod embedder;
mod table;

pub use embedder::HashingEmbedder;
