use async_trait::async_trait;

use super::{embed::StaticTable, table::TableError};
use crate::{Embedder, EmbedderIdentity, Error, ErrorKind, Purpose, Result};

/// More text than this is embedded on a blocking thread: it takes milliseconds.
const INLINE_BYTES: usize = 64 * 1_024;

/// The built-in embedder: 128 dimensions, no download, microseconds a sentence.
///
/// A text is the weighted mean of its tokens' vectors, so it knows what words mean and not how they are put together.
/// The tokens were distilled from all-MiniLM-L6-v2 and are English; words of other languages are hashed, whole and in
/// parts, so that they are near to themselves and their inflections and to nothing else. A text without words, such as
/// an empty one, gets all zeros.
///
/// # Source
/// Distillation as in model2vec (Tulkens and van Dongen, 2024); weights by smooth inverse frequency (Arora, Liang and
/// Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017) with ranks by Zipf's law.
#[derive(Debug, Clone)]
pub struct StaticEmbedder {
    table: Result<&'static StaticTable, TableError>,
}

impl StaticEmbedder {
    /// The table that is part of the program. It is read once, in milliseconds.
    #[must_use]
    pub fn builtin() -> Self {
        Self { table: StaticTable::builtin() }
    }
}

#[async_trait]
impl Embedder for StaticEmbedder {
    fn identity(&self) -> EmbedderIdentity {
        // To be counted up with every change of a vector: stores remember it.
        EmbedderIdentity::new("ingrain/static-minilm-128-v1", 128)
    }

    async fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>> {
        let table = self
            .table
            .map_err(|cause| Error::new(ErrorKind::Internal, "reading the built-in token table").with_source(cause))?;
        if texts.iter().map(|text| text.len()).sum::<usize>() <= INLINE_BYTES {
            return Ok(texts.iter().map(|text| table.embed(text)).collect());
        }
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let work = move || texts.iter().map(|text| table.embed(text)).collect();
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|cause| Error::new(ErrorKind::Internal, "embedding was broken off").with_source(cause))
    }
}
