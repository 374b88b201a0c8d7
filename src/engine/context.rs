use super::MemoryEngine;
use crate::{
    ContextRequest, EmbedderExt, Filter, MemoryContext, Purpose, Result, Scope, SearchRequest, Stage, TokenBudget,
    context::{self, ContextParts, Found},
    search::{self, SearchContext},
};

/// Searches for what a context is made of. What is known and the turns are looked for apart, since one of either would
/// crowd out the other: facts are few and short, turns many.
pub(super) async fn context(
    engine: &MemoryEngine,
    scope: &Scope,
    request: &ContextRequest,
    budget: TokenBudget,
) -> Result<MemoryContext> {
    scope.validate()?;
    request.validate()?;
    budget.validate()?;
    let wanted: Vec<Filter> = request.known().into_iter().chain(request.turns()).collect();
    let mut searching = engine.searching();
    if !wanted.is_empty() {
        let vector = engine.0.embedder.embed_one(&request.query, Purpose::Query).await;
        searching.vector = Some(vector.map_err(|error| error.with_stage(Stage::Embed))?);
    }
    let mut found = Vec::new();
    for filter in wanted {
        found.extend(hits(&searching, scope, request, filter).await?);
    }
    let parts = ContextParts { store: &*engine.0.store, counter: &*engine.0.counter, now: searching.now };
    context::context(&parts, scope, request, budget, found).await
}

async fn hits(
    searching: &SearchContext<'_>,
    scope: &Scope,
    request: &ContextRequest,
    filter: Filter,
) -> Result<Vec<Found>> {
    let mut search = SearchRequest::new(&request.query).limit(request.limit).filter(filter);
    search.as_of = request.as_of;
    search.asked_at = request.asked_at;
    let hits = search::search(searching, scope, &search).await?;
    Ok(hits.into_iter().map(|hit| Found { memory: hit.memory, score: hit.score }).collect())
}
