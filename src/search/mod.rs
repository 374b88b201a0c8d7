//! [`MemoryEngine::search`](crate::MemoryEngine::search): candidates → fuse → rank.
//!
//! A time that the query names is another arm of the candidates, and another part of the score; so is what the graph leads
//! to from the entities that the query names.

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

use std::collections::HashMap;

use crate::{
    Embedder, Error, GraphStore, MemoryId, Reranker, Result, Scope, Stage, Timestamp, Validity, VectorStore,
    graph::{Led, When, expand},
    score::{decay::DecayPolicy, fusion::Weights},
    types::truncate,
};

/// What a search runs on.
pub(crate) struct SearchContext<'a> {
    pub(crate) store: &'a dyn VectorStore,
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) reranker: Option<&'a dyn Reranker>,
    /// Where relations are kept, if they are.
    pub(crate) graph: Option<&'a dyn GraphStore>,
    pub(crate) weights: Weights,
    pub(crate) decay: &'a DecayPolicy,
    pub(crate) now: Timestamp,
    /// The vector of the query, if whoever searches has it already.
    pub(crate) vector: Option<Vec<f32>>,
}

/// What the entities that the query names lead to, where it counts.
async fn lead(
    context: &SearchContext<'_>,
    scope: &Scope,
    request: &SearchRequest,
    times: &Times,
) -> Result<HashMap<MemoryId, Led>> {
    let Some(store) = context.graph else { return Ok(HashMap::new()) };
    // The graph is the user's as a whole: its ways would tell a reader of one session of the others.
    let is_narrow = *scope != scope.across_sessions();
    if is_narrow || request.mode != SearchMode::Hybrid || context.weights.graph <= 0.0 {
        return Ok(HashMap::new());
    }
    let valid = match request.validity(context.now, times.past()) {
        Validity::Current(at) | Validity::CurrentOrHeld(at, _) | Validity::At(at) => Some(at),
        _ => None,
    };
    expand(store, scope, times.rest(&request.query), When { valid, named: times.ranges(), past: times.is_past() }).await
}

pub(crate) async fn search(context: &SearchContext<'_>, scope: &Scope, request: &SearchRequest) -> Result<Vec<Hit>> {
    scope.validate()?;
    request.validate()?;
    if request.limit == 0 {
        return Ok(Vec::new());
    }
    let in_search = |error: Error| error.with_stage(Stage::Search);
    let times = Times::named(context, request);
    let led = lead(context, scope, request, &times).await.map_err(in_search)?;
    let candidates = candidates::propose(context, scope, request, &times, &led).await?;
    let decay = (context.decay, request.seen_from(context.now));
    let scored = fuse::fuse(&request.query, candidates, request.mode, (context.weights, decay), &times, &led);
    let mut hits = rank::rank(context, scope, request, &times, scored).await.map_err(in_search)?;
    for hit in &mut hits {
        hit.effective_importance = decay.0.effective_importance(&hit.memory, decay.1);
        hit.path = led.get(&hit.memory.id).map(|led| led.path.clone()).unwrap_or_default();
    }
    if request.record_access && !hits.is_empty() {
        let ids: Vec<_> = hits.iter().map(|hit| hit.memory.id).collect();
        context.store.record_access(scope, &ids, truncate(context.now)).await.map_err(in_search)?;
    }
    Ok(hits)
}
