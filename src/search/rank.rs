use std::{cmp::Ordering, collections::HashMap};

use super::{Hit, SearchContext, SearchMode, SearchRequest, Times, fuse::Scored, rerank, update, words::Words};
use crate::{Memory, MemoryId, Result, Scope, score::diversity::maximal_marginal_relevance};

/// Among how many times the wanted hits unlike ones are looked for.
const DIVERSE: usize = 3;

/// The best first, as many as were asked for, with their memories.
pub(super) async fn rank(
    context: &SearchContext<'_>,
    scope: &Scope,
    request: &SearchRequest,
    times: &Times,
    mut scored: Vec<Scored>,
) -> Result<Vec<Hit>> {
    scored.sort_unstable_by(compare);
    scored.truncate(pool(context, request));
    let ids: Vec<MemoryId> = scored.iter().map(|scored| scored.candidate.id).collect();
    // The memories are read after they were proposed: one that was changed since and no longer fits is no hit.
    let mut found = context.store.get(scope, &ids).await?;
    let (validity, filter) = (request.validity(context.now, times.past()), request.filter_of_all());
    found.retain(|memory| {
        validity.admits(memory.valid_at, memory.invalid_at, memory.expires_at)
            && filter.as_ref().is_none_or(|filter| filter.matches(memory))
    });
    let mut memories: HashMap<MemoryId, Memory> = found.into_iter().map(|memory| (memory.id, memory)).collect();
    let hits = scored.into_iter().filter_map(|Scored { candidate, score, parts }| {
        memories.remove(&candidate.id).map(|memory| Hit { score, parts, ..Hit::new(memory, Vec::new()) })
    });
    let mut hits: Vec<Hit> = hits.collect();
    if let Some(reranker) = context.reranker {
        let judged = hits.len().min(rerank::POOL.max(request.limit));
        hits.truncate(judged);
        rerank::rerank(reranker, context.weights.rerank, &request.query, &mut hits).await?;
    }
    if request.mode == SearchMode::Hybrid && context.weights.update > 0.0 {
        update::lift(&mut hits, context.weights.update);
    }
    // Not before: a hit may be lifted above the threshold.
    hits.retain(|hit| request.threshold.is_none_or(|threshold| hit.score >= threshold));
    if request.diversity > 0.0 {
        return Ok(diversify(hits, request));
    }
    hits.truncate(request.limit);
    Ok(hits)
}

/// How many memories are read. What is lifted must not depend on how many hits are wanted.
fn pool(context: &SearchContext<'_>, request: &SearchRequest) -> usize {
    let mut pool = request.limit.max(update::WINDOW);
    if context.reranker.is_some() {
        pool = pool.max(rerank::POOL);
    }
    if request.diversity > 0.0 {
        pool = pool.max(request.limit.saturating_mul(DIVERSE));
    }
    pool
}

fn diversify(hits: Vec<Hit>, request: &SearchRequest) -> Vec<Hit> {
    let scores: Vec<f32> = hits.iter().map(|hit| hit.score).collect();
    let mut words = Words::new(hits.len());
    let like = |one: usize, other: usize| words.in_common(&hits, one, other);
    let chosen = maximal_marginal_relevance(&scores, request.diversity, request.limit, like);
    let mut hits: Vec<Option<Hit>> = hits.into_iter().map(Some).collect();
    chosen.into_iter().filter_map(|place| hits.get_mut(place)?.take()).collect()
}

/// By score; equals by the cosine, which goes on below 0 where scores do not; then the newer first.
fn compare(left: &Scored, right: &Scored) -> Ordering {
    let cosine = |scored: &Scored| scored.candidate.cosine.unwrap_or(0.0);
    right
        .score
        .total_cmp(&left.score)
        .then_with(|| cosine(right).total_cmp(&cosine(left)))
        .then_with(|| right.candidate.id.cmp(&left.candidate.id))
}
