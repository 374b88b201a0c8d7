use async_trait::async_trait;
use serde_json::{Value, json};

use super::BACKEND;
use crate::{
    Embedder, EmbedderIdentity, Purpose, Result,
    http::{EmbedBatch, HttpClient, HttpError, Limits, embed_in_batches, vector},
};

/// An embedder behind `/api/embed`: [`Ollama::embedder`](super::Ollama::embedder).
///
/// Ollama cuts what is longer than the model takes; before that a text is cut at 32,000 bytes, and by halves should the
/// server still find it too long. Blank texts get zeros. Batches are sent one after the other; a call that fails gives no
/// vectors at all.
#[derive(Debug, Clone)]
pub struct OllamaEmbedder {
    http: HttpClient,
    model: String,
    identity: EmbedderIdentity,
    batch: usize,
    query_prefix: String,
    document_prefix: String,
}

impl OllamaEmbedder {
    pub(super) fn new(http: HttpClient, model: String, dimensions: usize) -> Self {
        let identity = EmbedderIdentity::new(format!("{BACKEND}/{model}"), dimensions);
        Self { http, model, identity, batch: 64, query_prefix: String::new(), document_prefix: String::new() }
    }

    /// Most texts of one request, at least 1. Default 64.
    #[must_use]
    pub fn batch_size(mut self, texts: usize) -> Self {
        self.batch = texts.max(1);
        self
    }

    /// What is put before queries and before texts to be found, for models that were trained with such marks:
    /// nomic-embed-text wants `search_query: ` and `search_document: `. They make other vectors, and so become part of
    /// the identity. Default none.
    #[must_use]
    pub fn prefixes(mut self, query: impl Into<String>, document: impl Into<String>) -> Self {
        (self.query_prefix, self.document_prefix) = (query.into(), document.into());
        self.identity.name = format!("{BACKEND}/{} ({:?}, {:?})", self.model, self.query_prefix, self.document_prefix);
        self
    }
}

#[async_trait]
impl Embedder for OllamaEmbedder {
    fn identity(&self) -> EmbedderIdentity {
        self.identity.clone()
    }

    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let prefix = match purpose {
            Purpose::Query => &self.query_prefix,
            Purpose::Document => &self.document_prefix,
        };
        let limits = Limits { texts: self.batch, bytes: 200_000, text_bytes: 32_000 };
        let vectors = embed_in_batches(self, BACKEND, prefix, texts, self.identity.dimensions, limits);
        vectors.await.map_err(|error| error.told(&format!("embedding {} texts", texts.len())))
    }
}

#[async_trait]
impl EmbedBatch for OllamaEmbedder {
    async fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, HttpError> {
        // Servers that do not know `dimensions` pass over it; the width is checked in any case.
        let body = json!({ "model": self.model, "input": texts, "dimensions": self.identity.dimensions });
        let json = self.http.post("/api/embed", &body, texts).await?;
        let unusable = |message: &str| HttpError::unusable(BACKEND, message);
        let list = json.get("embeddings").and_then(Value::as_array);
        let list = list.ok_or_else(|| unusable("the answer holds no vectors"))?;
        let vectors: Option<Vec<Vec<f32>>> = list.iter().map(vector).collect();
        vectors.ok_or_else(|| unusable("a vector is not a list of finite numbers"))
    }
}
