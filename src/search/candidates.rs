use super::{SearchContext, SearchMode, SearchRequest, Times};
use std::collections::HashMap;

use crate::{Candidate, EmbedderExt, MemoryId, Purpose, Result, Scope, SearchQuery, Stage, Validity, graph::Led};

/// Least pool of each arm: what one arm ranks low may still be lifted by the other.
const POOL: usize = 100;
/// The pool is at least this many times the wanted hits.
const POOL_FACTOR: usize = 4;

pub(super) async fn propose(
    context: &SearchContext<'_>,
    scope: &Scope,
    request: &SearchRequest,
    times: &Times,
    led: &HashMap<MemoryId, Led>,
) -> Result<Vec<Candidate>> {
    let mut query = SearchQuery::new(scope.clone(), context.now)
        .filter(request.filter_of_all())
        .validity(request.validity(context.now, times.past()))
        .dated(times.ranges().to_vec())
        .also(led.keys().copied().collect())
        .limit(request.limit.saturating_mul(POOL_FACTOR).max(POOL));
    if request.mode != SearchMode::Keyword {
        let vector = match &context.vector {
            Some(vector) => Ok(vector.clone()),
            None => context.embedder.embed_one(times.rest(&request.query), Purpose::Query).await,
        };
        query = query.near(vector.map_err(|error| error.with_stage(Stage::Embed))?);
    }
    if request.mode != SearchMode::Vector {
        query = query.words(times.rest(&request.query));
    }
    let mut candidates = context.store.search(&query).await.map_err(|error| error.with_stage(Stage::Search))?;
    if let Validity::CurrentOrHeld(now, _) = query.validity {
        // Of several times the store was told the first and the last instant.
        candidates
            .retain(|Candidate { attributes, .. }| times.ask_for(attributes.valid_at, attributes.invalid_at, now));
    }
    Ok(candidates)
}
