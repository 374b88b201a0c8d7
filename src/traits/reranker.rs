use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;

use crate::Result;

/// Judges how well texts answer a query, more exactly and more slowly than search does.
///
/// The contract: one relevance per text, in the order of the texts, each in 0 to 1 and comparable between calls; no
/// texts give an empty list without a request. It only reads, so cancelling is safe.
#[async_trait]
pub trait Reranker: Debug + Send + Sync + 'static {
    /// Names the model: for explanations and errors.
    fn name(&self) -> &str;

    /// The relevance of each of `texts` to `query`.
    ///
    /// # Errors
    /// What the model's client reports, and [`UnusableModelOutput`](crate::ErrorKind::UnusableModelOutput) when the
    /// answer breaks the contract.
    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Reranker + ?Sized> Reranker for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>> {
        (**self).rerank(query, texts).await
    }
}
