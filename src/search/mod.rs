//! [`MemoryEngine::search`](crate::MemoryEngine::search): candidates → fuse → rank.
//!
//! A time that the query names is another arm of the candidates, and another part of the score.

mod candidates;
mod fuse;
mod hit;
mod rank;
mod request;
mod rerank;
mod speakers;
mod times;
mod update;
mod words;

use times::Times;

pub use hit::{Hit, Part, ScorePart};
pub use request::{SearchMode, SearchRequest};

use crate::{Embedder, Error, Reranker, Result, Scope, Stage, Timestamp, VectorStore, score::fusion::Weights};

/// What a search runs on.
pub(crate) struct SearchContext<'a> {
    pub(crate) store: &'a dyn VectorStore,
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) reranker: Option<&'a dyn Reranker>,
    pub(crate) weights: Weights,
    pub(crate) now: Timestamp,
    /// The vector of the query, if whoever searches has it already.
    pub(crate) vector: Option<Vec<f32>>,
}

pub(crate) async fn search(context: &SearchContext<'_>, scope: &Scope, request: &SearchRequest) -> Result<Vec<Hit>> {
    scope.validate()?;
    request.validate()?;
    if request.limit == 0 {
        return Ok(Vec::new());
    }
    let in_search = |error: Error| error.with_stage(Stage::Search);
    let times = Times::named(context, request);
    let candidates = candidates::propose(context, scope, request, &times).await?;
    let scored = fuse::fuse(&request.query, candidates, request.mode, context.weights, &times);
    let hits = rank::rank(context, scope, request, scored).await.map_err(in_search)?;
    if request.record_access && !hits.is_empty() {
        let ids: Vec<_> = hits.iter().map(|hit| hit.memory.id).collect();
        context.store.record_access(scope, &ids, context.now).await.map_err(in_search)?;
    }
    Ok(hits)
}
