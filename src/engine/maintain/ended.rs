//! What the user has ended does not come back by itself. What a summary or an observation told is marked when that is
//! removed, and not told again; and a turn that had faded, came back by an import and is removed or changed then goes out
//! of its summary as if it had never faded.

use serde_json::Value;

use super::{
    derive::{is_derived, tells, with_missing},
    merge::change,
    summarize::{summary_of, wide},
};
use crate::{Actor, EventKind, Memory, MemoryEngine, MemoryKind, Put, Result, Stage, Stamp, WriteBatch};

/// The reason of what is removed since its time was over.
pub(super) const EXPIRED: &str = "expired";
/// The metadata key of a memory that is not told again, since somebody ended what told it.
const UNTOLD: &str = "untold";
/// The reason of the event that marks it.
const REASON: &str = "what told it was removed";

/// Whether somebody ended what told this memory.
pub(super) fn is_untold(memory: &Memory) -> bool {
    memory.metadata.get(UNTOLD).and_then(Value::as_bool).unwrap_or_default()
}

/// Whether a derived memory that has ended was ended by somebody, and not by maintenance since its time had come.
pub(super) async fn is_ended_by_others(engine: &MemoryEngine, derived: &Memory) -> Result<bool> {
    let history = engine.0.store.history(&derived.scope, derived.id).await.map_err(in_store)?;
    let by_upkeep = |last: &crate::HistoryEvent| {
        last.stamp.actor == Actor::Maintenance && matches!(last.kind, EventKind::Delete | EventKind::Supersede)
    };
    Ok(!history.last().is_some_and(by_upkeep))
}

/// Adds to the removal of a memory what becomes of others for it.
pub(in crate::engine) async fn on_removal(
    engine: &MemoryEngine,
    memory: &Memory,
    stamp: &Stamp,
    batch: &mut WriteBatch,
) -> Result<()> {
    if memory.kind == MemoryKind::Episode {
        batch.puts.extend(on_change(engine, memory).await?);
    }
    let is_wanted_gone = match memory.invalid_at {
        _ if !is_derived(memory) => false,
        Some(end) if end <= stamp.at => is_ended_by_others(engine, memory).await?,
        // The application said when it was to expire.
        _ => stamp.actor != Actor::Maintenance || stamp.reason.as_deref() == Some(EXPIRED),
    };
    if !is_wanted_gone {
        return Ok(());
    }
    let by = if stamp.actor == Actor::Maintenance { Actor::App } else { stamp.actor };
    let stamp = Stamp { actor: by, ..stamp.clone() }.because(REASON);
    for told in engine.0.store.get(&wide(&memory.scope), &tells(memory)).await.map_err(in_store)? {
        let marked = |memory: &mut Memory| drop(memory.metadata.insert(UNTOLD.to_owned(), true.into()));
        match batch.puts.iter_mut().find(|put| put.memory.id == told.id) {
            // It is changed already, as a turn that is no longer found by the text that goes.
            Some(put) => marked(&mut put.memory),
            None => {
                let mut new = told.clone();
                marked(&mut new);
                change(batch, &told, new, EventKind::Update, stamp.clone());
            }
        }
    }
    Ok(())
}

/// Adds to the removal of a turn, or to a change of its text, that its summary does not take it for one that has faded.
pub(in crate::engine) async fn on_change(engine: &MemoryEngine, turn: &Memory) -> Result<Option<Put>> {
    if turn.kind != MemoryKind::Episode || turn.scope.session_id().is_none() {
        return Ok(None);
    }
    let Some(summary) = summary_of(engine, &turn.scope).await.map_err(in_store)? else { return Ok(None) };
    let Some(mut changed) = with_missing(&summary, turn.id) else { return Ok(None) };
    changed.revision += 1;
    Ok(Some(Put::change(changed, None, summary.revision)))
}

fn in_store(error: crate::Error) -> crate::Error {
    error.with_stage(Stage::Store)
}
