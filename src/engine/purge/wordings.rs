//! What tells of memories that are purged besides themselves: what a merge made one with them, summaries and observations,
//! and what these told at earlier times.

use std::collections::BTreeSet;

use super::{PAGE, PurgeReport, each, in_store, listed, rests_on};
use crate::{
    Filter, HistoryEvent, Memory, MemoryEngine, MemoryId, MemoryKind, Result, Scope, WriteBatch,
    engine::maintain::{merged_with, was_derived, wide},
};

/// Purges memories, and what tells of them in other words.
pub(super) async fn with_wordings(
    engine: &MemoryEngine,
    scope: &Scope,
    mut ids: BTreeSet<MemoryId>,
    report: &mut PurgeReport,
) -> Result<()> {
    add_merged(engine, scope, &mut ids).await?;
    let places = places(engine, scope, &ids).await?;
    if places.is_empty() {
        return Ok(());
    }
    // What sessions taught is observed across them.
    let reader = wide(scope);
    let mut told = ids.clone();
    let (worded, left) = wordings(engine, &reader, &mut told).await?;
    // First, so that after an outage it is still known what they told of.
    each(engine, &reader, worded, report).await?;
    forget_earlier(engine, &reader, &places, &left, report).await?;
    each(engine, scope, ids, report).await?;
    // What maintenance has written of them meanwhile.
    let (worded, _) = wordings(engine, &reader, &mut told).await?;
    each(engine, &reader, worded, report).await
}

/// Adds what a merge made one with these.
async fn add_merged(engine: &MemoryEngine, scope: &Scope, ids: &mut BTreeSet<MemoryId>) -> Result<()> {
    let mut open: Vec<MemoryId> = ids.iter().copied().collect();
    while let Some(id) = open.pop() {
        let merged = merged_with(engine, scope, id).await.map_err(in_store)?;
        open.extend(merged.into_iter().filter(|other| ids.insert(*other)));
    }
    Ok(())
}

/// The scopes that what tells of these memories may be stored in, whether they are there or were removed: turns are summed up
/// in their session, and facts are observed across sessions.
async fn places(engine: &MemoryEngine, scope: &Scope, ids: &BTreeSet<MemoryId>) -> Result<BTreeSet<Scope>> {
    let ids: Vec<MemoryId> = ids.iter().copied().collect();
    let there = engine.0.store.get(scope, &ids).await.map_err(in_store)?;
    let mut places = BTreeSet::new();
    let mut present: BTreeSet<MemoryId> = BTreeSet::new();
    for memory in there {
        places.insert(if memory.kind == MemoryKind::Episode { memory.scope } else { wide(&memory.scope) });
        present.insert(memory.id);
    }
    for id in ids.iter().filter(|id| !present.contains(id)) {
        for event in engine.0.store.history(scope, *id).await.map_err(in_store)? {
            // What it was is not known any more.
            places.extend([wide(&event.scope), event.scope]);
        }
    }
    Ok(places)
}

/// The summaries and observations that tell of these or of each other, and those that do not.
async fn wordings(
    engine: &MemoryEngine,
    reader: &Scope,
    told: &mut BTreeSet<MemoryId>,
) -> Result<(BTreeSet<MemoryId>, Vec<Memory>)> {
    let kinds = Filter::any_of("kind", [MemoryKind::Summary.as_str(), MemoryKind::Observation.as_str()]);
    let mut left = listed(engine, reader, Some(kinds)).await?;
    let mut found = BTreeSet::new();
    // Also of what is there no more: a summary outlives its turns.
    while let Some(place) = left.iter().position(|memory| rests_on(memory).any(|id| told.contains(&id))) {
        let memory = left.swap_remove(place);
        told.insert(memory.id);
        found.insert(memory.id);
    }
    Ok((found, left))
}

/// Takes the histories of summaries and observations that say something else now, or were removed: nobody knows any more
/// what they told once.
async fn forget_earlier(
    engine: &MemoryEngine,
    reader: &Scope,
    places: &BTreeSet<Scope>,
    left: &[Memory],
    report: &mut PurgeReport,
) -> Result<()> {
    let store = &engine.0.store;
    let mut earlier: Vec<MemoryId> = Vec::new();
    let mut take = |id: MemoryId, history: &[HistoryEvent]| {
        report.events += history.len() as u64;
        earlier.push(id);
    };
    for memory in left.iter().filter(|memory| places.contains(&memory.scope)) {
        let history = store.history(reader, memory.id).await.map_err(in_store)?;
        let mut texts = history.iter().flat_map(|event| [&event.old_text, &event.new_text]).flatten();
        if texts.any(|text| *text != memory.text) {
            take(memory.id, &history);
        }
    }
    for id in removed(engine, reader).await? {
        let history = store.history(reader, id).await.map_err(in_store)?;
        if was_derived(&history) && history.iter().any(|event| places.contains(&event.scope)) {
            take(id, &history);
        }
    }
    if earlier.is_empty() {
        return Ok(());
    }
    store.apply(WriteBatch { erase_history: earlier, ..WriteBatch::default() }).await.map(drop).map_err(in_store)
}

/// Every memory that the scope covered and that has left a history.
pub(super) async fn removed(engine: &MemoryEngine, scope: &Scope) -> Result<Vec<MemoryId>> {
    let mut removed = Vec::new();
    loop {
        let page = engine.0.store.removed(scope, removed.last().copied(), PAGE).await.map_err(in_store)?;
        let is_last = page.len() < PAGE;
        removed.extend(page);
        if is_last {
            return Ok(removed);
        }
    }
}
