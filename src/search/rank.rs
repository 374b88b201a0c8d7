use std::{cmp::Ordering, collections::HashMap};

use super::{Hit, SearchContext, SearchMode, SearchRequest, fuse::Scored, update};
use crate::{Memory, MemoryId, Result, Scope};

/// The best first, as many as were asked for, with their memories.
pub(super) async fn rank(
    context: &SearchContext<'_>,
    scope: &Scope,
    request: &SearchRequest,
    mut scored: Vec<Scored>,
) -> Result<Vec<Hit>> {
    if let Some(threshold) = request.threshold {
        scored.retain(|scored| scored.score >= threshold);
    }
    scored.sort_unstable_by(compare);
    // What is lifted must not depend on how many hits are wanted.
    scored.truncate(request.limit.max(update::WINDOW));
    let ids: Vec<MemoryId> = scored.iter().map(|scored| scored.candidate.id).collect();
    // The memories are read after they were proposed: one that was changed since and no longer fits is no hit.
    let mut found = context.store.get(scope, &ids).await?;
    let (validity, filter) = (request.validity(context.now), request.filter_of_all());
    found.retain(|memory| {
        validity.admits(memory.valid_at, memory.invalid_at, memory.expires_at)
            && filter.as_ref().is_none_or(|filter| filter.matches(memory))
    });
    let mut memories: HashMap<MemoryId, Memory> = found.into_iter().map(|memory| (memory.id, memory)).collect();
    let hits = scored.into_iter().filter_map(|Scored { candidate, score, parts }| {
        let hit = memories.remove(&candidate.id).map(|memory| Hit { memory, score, parts })?;
        Some((hit, candidate.attributes.cues))
    });
    let mut hits: Vec<_> = hits.collect();
    if request.mode == SearchMode::Hybrid && context.weights.update > 0.0 {
        update::lift(&mut hits, context.weights.update);
    }
    hits.truncate(request.limit);
    Ok(hits.into_iter().map(|(hit, _)| hit).collect())
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
