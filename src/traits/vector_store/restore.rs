//! Between the engine, which knows by what memories are found and holds the embedder, and a store that has lost some of it.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::{EmbedderIdentity, IndexKey, Memory, Result};

/// Whoever has an embedder, and knows by what memories are found: keys that a store has lost cannot be made without.
#[async_trait]
pub(crate) trait KeyRestorer: Send + Sync {
    /// Whose vectors it gives.
    fn embedder(&self) -> EmbedderIdentity;

    /// All keys of a memory, in their order, from what is left of them.
    async fn restored(&self, memory: &Memory, left: LeftKeys) -> Result<Vec<IndexKey>>;
}

/// What is left of the keys of a memory.
#[derive(Debug, Default)]
pub(crate) struct LeftKeys {
    /// How many there were, by numbers from 0.
    pub(crate) count: u64,
    /// Those whose text can be read, by their numbers.
    pub(crate) known: BTreeMap<i64, KeptKey>,
}

/// A key whose text can be read.
#[derive(Debug)]
pub(crate) struct KeptKey {
    pub(crate) text: String,
    /// `None` for one that cannot be used.
    pub(crate) vector: Option<Vec<f32>>,
}
