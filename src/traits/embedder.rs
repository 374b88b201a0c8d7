use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Result};

/// What an embedder is, so that a store can tell that it was filled by another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EmbedderIdentity {
    /// Names model and version. Two embedders with one name give the same vectors.
    pub name: String,
    /// The width of every vector, at least 1.
    pub dimensions: usize,
}

impl EmbedderIdentity {
    /// An identity.
    #[must_use]
    pub fn new(name: impl Into<String>, dimensions: usize) -> Self {
        Self { name: name.into(), dimensions }
    }

    /// The error of a store that is bound to this embedder and was opened with `other`.
    #[must_use]
    pub fn mismatch(&self, other: &Self) -> Error {
        Error::new(
            ErrorKind::EmbedderMismatch,
            format!(
                "the store was filled by embedder `{}` with {} dimensions, and cannot be used with `{}` with {}; \
                 `Reembed` changes it",
                self.name, self.dimensions, other.name, other.dimensions
            ),
        )
    }
}

/// What a text is embedded for; some models want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// To be found.
    Document,
    /// To find with.
    Query,
}

/// Turns texts into vectors.
///
/// The contract: one vector per text, in the order of the texts; every vector has `identity().dimensions` finite
/// numbers; equal texts for the same purpose give equal vectors. Vectors need not have length 1 (similarity is the
/// cosine), and a text the model knows nothing of may get all zeros, which is near to nothing. An empty list gives an
/// empty list without a request. A text longer than the model takes is the embedder's to cut or pool.
///
/// Cancelling the future leaves nothing behind.
#[async_trait]
pub trait Embedder: Debug + Send + Sync + 'static {
    /// Name and width. Constant over the life of the embedder, and answered without a request.
    fn identity(&self) -> EmbedderIdentity;

    /// The vectors of `texts`.
    ///
    /// # Errors
    /// [`ProviderUnreachable`](ErrorKind::ProviderUnreachable), [`ProviderRefused`](ErrorKind::ProviderRefused) or
    /// [`RateLimited`](ErrorKind::RateLimited) from a remote embedder;
    /// [`UnusableModelOutput`](ErrorKind::UnusableModelOutput) when what came back breaks the contract.
    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Embedder + ?Sized> Embedder for Arc<T> {
    fn identity(&self) -> EmbedderIdentity {
        (**self).identity()
    }

    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        (**self).embed(texts, purpose).await
    }
}

/// Conveniences over any [`Embedder`].
#[async_trait]
pub trait EmbedderExt: Embedder {
    /// The vector of one text.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    async fn embed_one(&self, text: &str, purpose: Purpose) -> Result<Vec<f32>> {
        let mut vectors = self.embed_checked(&[text], purpose).await?;
        vectors.pop().ok_or_else(|| broken(self.identity(), "no vector for one text"))
    }

    /// As [`Embedder::embed`], and the contract is checked: number, width and finiteness. The engine calls this one,
    /// so that a faulty embedder is an error and never a broken index.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    async fn embed_checked(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = self.embed(texts, purpose).await?;
        let identity = self.identity();
        if vectors.len() != texts.len() {
            let what = format!("{} vectors for {} texts", vectors.len(), texts.len());
            return Err(broken(identity, &what));
        }
        for vector in &vectors {
            if vector.len() != identity.dimensions {
                let what = format!("a vector of {} dimensions instead of {}", vector.len(), identity.dimensions);
                return Err(broken(identity, &what));
            }
            if !vector.iter().all(|number| number.is_finite()) {
                return Err(broken(identity, "a vector with a number that is not finite"));
            }
        }
        Ok(vectors)
    }
}

impl<T: Embedder + ?Sized> EmbedderExt for T {}

fn broken(identity: EmbedderIdentity, what: &str) -> Error {
    Error::new(ErrorKind::UnusableModelOutput, format!("the embedder returned {what}")).with_backend(identity.name)
}
