use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::BACKEND;
use crate::{
    Embedder, EmbedderIdentity, Purpose, Result,
    http::{Body, EmbedBatch, HttpClient, HttpError, Limits, Parameter, Refused, embed_in_batches, vector},
};

const DIMENSIONS: Parameter =
    Parameter { name: "dimensions", words: &["dimensions", "dimension", "matryoshka"], has_range: false };

/// An embedder behind `/embeddings`: [`OpenAi::embedder`](super::OpenAi::embedder).
///
/// A text that is longer than the model takes is cut: at 32,000 bytes, and then by halves for as long as the server finds
/// it too long. Blank texts get zeros. Batches are sent one after the other; a call that fails gives no vectors at all.
///
/// Its identity is the model's name without the server, so a store that was filled through one server is open to
/// another that serves the same model under the same name.
#[derive(Debug, Clone)]
pub struct OpenAiEmbedder {
    http: HttpClient,
    model: String,
    identity: EmbedderIdentity,
    batch: usize,
    query_prefix: String,
    document_prefix: String,
    refused: Arc<Refused>,
}

impl OpenAiEmbedder {
    pub(super) fn new(http: HttpClient, model: String, dimensions: usize) -> Self {
        let identity = EmbedderIdentity::new(format!("{BACKEND}/{model}"), dimensions);
        let (query_prefix, document_prefix) = (String::new(), String::new());
        Self { http, model, identity, batch: 128, query_prefix, document_prefix, refused: Arc::default() }
    }

    /// Most texts of one request, at least 1. Default 128.
    #[must_use]
    pub fn batch_size(mut self, texts: usize) -> Self {
        self.batch = texts.max(1);
        self
    }

    /// What is put before queries and before texts to be found, for models that were trained with such marks: E5 wants
    /// `query: ` and `passage: `, nomic-embed-text `search_query: ` and `search_document: `. They make other vectors, and
    /// so become part of the identity. Default none.
    #[must_use]
    pub fn prefixes(mut self, query: impl Into<String>, document: impl Into<String>) -> Self {
        (self.query_prefix, self.document_prefix) = (query.into(), document.into());
        self.identity.name = format!("{BACKEND}/{} ({:?}, {:?})", self.model, self.query_prefix, self.document_prefix);
        self
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
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
impl EmbedBatch for OpenAiEmbedder {
    async fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, HttpError> {
        loop {
            let mut body = Body::new(&self.refused);
            body.set("model", self.model.as_str());
            body.set("input", texts);
            body.offer(DIMENSIONS, "dimensions", self.identity.dimensions);
            let (body, sent) = body.done();
            match self.http.post("/embeddings", &body, texts).await {
                Ok(json) => return read(&json, texts),
                Err(error) if self.refused.learn(&error, &sent) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The vectors in the order of their texts: by the index that each names, or as they came where none does.
fn read(json: &Value, texts: &[&str]) -> Result<Vec<Vec<f32>>, HttpError> {
    let unusable = |message: &str| HttpError::unusable(BACKEND, message);
    let data = json.get("data").and_then(Value::as_array).ok_or_else(|| unusable("the answer holds no vectors"))?;
    if data.len() != texts.len() {
        return Err(unusable(&format!("{} vectors came for {} texts", data.len(), texts.len())));
    }
    let mut vectors = vec![None; data.len()];
    for (place, item) in data.iter().enumerate() {
        let index = item.get("index").map_or(Some(place as u64), Value::as_u64);
        let found = item.get("embedding").and_then(vector);
        let found = found.ok_or_else(|| unusable("a vector is not a list of finite numbers"))?;
        let slot = index.and_then(|index| usize::try_from(index).ok()).and_then(|index| vectors.get_mut(index));
        if slot.is_none_or(|slot| slot.replace(found).is_some()) {
            return Err(unusable("the indexes of the vectors are not those of the texts"));
        }
    }
    Ok(vectors.into_iter().flatten().collect())
}
