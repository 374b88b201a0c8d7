use std::collections::{BTreeSet, HashMap};

use super::{ContextParts, ContextRequest, Found};
use crate::{
    Error, Filter, Memory, MemoryId, MemoryKind, Result, Scope, SearchQuery, Stage, frame::own_words,
    types::block_order,
};

/// Most blocks that are looked at; of more the newest.
const BLOCKS: usize = 1_000;

/// All that may go into a context.
pub(super) struct Gathered {
    /// Pinned ones first, then in the order they were made.
    pub(super) blocks: Vec<Memory>,
    /// The best of what is known and the best turns by turns.
    pub(super) hits: Vec<Hit>,
}

/// What was found for the query.
pub(super) struct Hit {
    pub(super) memory: Memory,
    /// The turns around it, the nearest first, of two as near the earlier.
    pub(super) neighbours: Vec<Memory>,
}

pub(super) async fn gather(
    parts: &ContextParts<'_>,
    scope: &Scope,
    request: &ContextRequest,
    found: Vec<Found>,
) -> Result<Gathered> {
    let in_search = |error: Error| error.with_stage(Stage::Search);
    let blocks = blocks(parts, scope, request).await.map_err(in_search)?;
    let mut found = in_turn(found.into_iter().filter_map(shown).collect());
    if request.as_of.is_some() {
        // Nobody could know then when it would end.
        found.iter_mut().for_each(|found| found.memory.invalid_at = None);
    }
    let around = around(parts, scope, request, &found).await.map_err(in_search)?;
    let hits = found.into_iter().map(|Found { memory, .. }| {
        let neighbours = neighbours(&memory, &around, request.neighbours);
        Hit { memory, neighbours }
    });
    Ok(Gathered { blocks, hits: hits.collect() })
}

/// The best first, what is known and turns by turns: turns borrow from those around them and would by their scores leave
/// no room for facts, which say more in fewer words. Of equals the newer first.
fn in_turn(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by(|left, right| right.score.total_cmp(&left.score).then_with(|| right.memory.id.cmp(&left.memory.id)));
    let (turns, known): (Vec<Found>, Vec<Found>) =
        found.into_iter().partition(|found| found.memory.kind == MemoryKind::Episode);
    let (mut turns, mut known) = (turns.into_iter(), known.into_iter());
    let mut merged = Vec::new();
    loop {
        let pair = [known.next(), turns.next()];
        if pair.iter().all(Option::is_none) {
            return merged;
        }
        merged.extend(pair.into_iter().flatten());
    }
}

/// Of a turn the writer's own words; nothing if it has none.
fn shown(mut found: Found) -> Option<Found> {
    if found.memory.kind == MemoryKind::Episode {
        let own = own_words(&found.memory.text).into_owned();
        if own.is_empty() {
            return None;
        }
        found.memory.text = own;
    }
    Some(found)
}

/// Both this and the neighbours are asked for as a search without words and vector, which proposes by the filter alone:
/// stores answer that from their index and read only what is shown.
async fn blocks(parts: &ContextParts<'_>, scope: &Scope, request: &ContextRequest) -> Result<Vec<Memory>> {
    let Some(filter) = request.blocks() else { return Ok(Vec::new()) };
    let mut blocks = admitted(parts, scope, request, filter, BLOCKS).await?;
    // One that is still to be filled tells nothing.
    blocks.retain(|block| !block.text.trim().is_empty());
    blocks.sort_by_key(block_order);
    Ok(blocks)
}

/// The place of a turn: the scope it is stored in, and its number there.
type Place = (Scope, u64);

/// The turns around those that were found.
async fn around(
    parts: &ContextParts<'_>,
    scope: &Scope,
    request: &ContextRequest,
    found: &[Found],
) -> Result<HashMap<Place, Memory>> {
    let reach = request.neighbours as u64;
    let mut wanted: HashMap<&Scope, BTreeSet<u64>> = HashMap::new();
    for Found { memory, .. } in found {
        if let Some(ordinal) = memory.ordinal.filter(|_| memory.kind == MemoryKind::Episode && reach > 0) {
            let places = ordinal.saturating_sub(reach)..=ordinal.saturating_add(reach);
            wanted.entry(&memory.scope).or_default().extend(places);
        }
    }
    let Some(turns) = request.turns().filter(|_| !wanted.is_empty()) else { return Ok(HashMap::new()) };
    let count = wanted.values().map(BTreeSet::len).sum::<usize>();
    let places = wanted
        .into_iter()
        .map(|(scope, ordinals)| Filter::And(vec![Filter::any_of("ordinal", ordinals), scope.exactly()]));
    let filter = Filter::And(vec![turns, Filter::Or(places.collect())]);
    // A place may have been given to several turns by hand: then the newest of them are looked at.
    let memories = admitted(parts, scope, request, filter, count.saturating_mul(2)).await?;
    let mut around = HashMap::new();
    for mut memory in memories {
        let Some(ordinal) = memory.ordinal else { continue };
        memory.text = own_words(&memory.text).into_owned();
        if !memory.text.is_empty() {
            around.insert((memory.scope.clone(), ordinal), memory);
        }
    }
    Ok(around)
}

fn neighbours(memory: &Memory, around: &HashMap<Place, Memory>, reach: usize) -> Vec<Memory> {
    let Some(ordinal) = memory.ordinal.filter(|_| memory.kind == MemoryKind::Episode) else { return Vec::new() };
    let places = (1..=reach as u64).flat_map(|step| [ordinal.checked_sub(step), ordinal.checked_add(step)]);
    places.flatten().filter_map(|place| around.get(&(memory.scope.clone(), place))).cloned().collect()
}

pub(super) async fn admitted(
    parts: &ContextParts<'_>,
    scope: &Scope,
    request: &ContextRequest,
    filter: Filter,
    limit: usize,
) -> Result<Vec<Memory>> {
    let validity = request.validity(parts.now);
    let query = SearchQuery::new(scope.clone(), parts.now).validity(validity).filter(Some(filter.clone())).limit(limit);
    let ids: Vec<MemoryId> = parts.store.search(&query).await?.into_iter().map(|candidate| candidate.id).collect();
    let mut memories = if ids.is_empty() { Vec::new() } else { parts.store.get(scope, &ids).await? };
    // They are read after they were proposed: one that was changed since and no longer fits is left out.
    memories.retain(|memory| {
        validity.admits(memory.valid_at, memory.invalid_at, memory.expires_at) && filter.matches(memory)
    });
    Ok(memories)
}
