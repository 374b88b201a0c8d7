use async_trait::async_trait;
use serde_json::{Value, json};

use super::BACKEND;
use crate::{
    Reranker, Result,
    http::{HttpClient, HttpError},
};

/// A reranker behind `/rerank`: [`OpenAi::reranker`](super::OpenAi::reranker).
///
/// All texts of a call go into one request, uncut: servers cut or refuse what is too long for the model.
#[derive(Debug, Clone)]
pub struct OpenAiReranker {
    http: HttpClient,
    name: String,
    model: String,
    logits: bool,
}

impl OpenAiReranker {
    pub(super) fn new(http: HttpClient, model: String) -> Self {
        Self { http, name: format!("{BACKEND}/{model}"), model, logits: false }
    }

    /// The server answers with logits, numbers of any size, as llama.cpp does for most models: each is turned into a
    /// relevance by `1 / (1 + e^−x)`. It cannot be told from the numbers, since small logits look like relevances.
    /// Default: it answers with relevances from 0 to 1.
    #[must_use]
    pub fn logits(mut self) -> Self {
        self.logits = true;
        self
    }

    fn relevance(&self, number: f64) -> Option<f32> {
        let relevance = if self.logits { 1.0 / (1.0 + (-number).exp()) } else { number };
        (0.0..=1.0).contains(&relevance).then_some(relevance as f32)
    }

    /// Reads `{"results": [{"index", "relevance_score"}]}`, and the bare list with `score` of other servers.
    fn read(&self, json: &Value, texts: usize) -> Result<Vec<f32>, HttpError> {
        let unusable = |message: &str| HttpError::unusable(BACKEND, message);
        let list = json.get("results").or_else(|| json.get("data")).unwrap_or(json).as_array();
        let list = list.ok_or_else(|| unusable("the answer holds no results"))?;
        let mut found = vec![None; texts];
        for item in list {
            let index = item.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
            let number = item.get("relevance_score").or_else(|| item.get("score")).and_then(Value::as_f64);
            let number = number.ok_or_else(|| unusable("a result has no score"))?;
            let relevance = self
                .relevance(number)
                .ok_or_else(|| unusable("a score is not between 0 and 1: does the server answer with logits?"))?;
            let slot = index.and_then(|index| found.get_mut(index));
            if slot.is_none_or(|slot| slot.replace(relevance).is_some()) {
                return Err(unusable("the indexes of the results are not those of the texts"));
            }
        }
        let all: Option<Vec<f32>> = found.into_iter().collect();
        all.ok_or_else(|| unusable("a text has no result"))
    }
}

#[async_trait]
impl Reranker for OpenAiReranker {
    fn name(&self) -> &str {
        &self.name
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let body = json!({ "model": self.model, "query": query, "documents": texts, "top_n": texts.len() });
        let private: Vec<&str> = [query].into_iter().chain(texts.iter().copied()).collect();
        let answer = self.http.post("/rerank", &body, &private).await;
        let answer = answer.and_then(|json| self.read(&json, texts.len()));
        answer.map_err(|error| error.told(&format!("reranking {} texts", texts.len())))
    }
}
