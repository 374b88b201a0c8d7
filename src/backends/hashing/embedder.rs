use async_trait::async_trait;

use super::table::HashingTable;
use crate::{Embedder, EmbedderIdentity, Purpose, Result};

/// Texts are alike if they share letters: character n-grams, hashed into a vector of length 1. Knows no meaning; for
/// tests, examples and builds without the built-in table. Equal everywhere and in every release; an empty text gets
/// all zeros.
#[derive(Debug, Clone)]
pub struct HashingEmbedder(HashingTable);

impl HashingEmbedder {
    /// With vectors of this width; 0 counts as 1.
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        Self(HashingTable::new(dimensions))
    }
}

#[async_trait]
impl Embedder for HashingEmbedder {
    fn identity(&self) -> EmbedderIdentity {
        let dimensions = self.0.dimensions();
        EmbedderIdentity::new(format!("ingrain/hashing-{dimensions}-v1"), dimensions)
    }

    async fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| self.0.embed(text)).collect())
    }
}
