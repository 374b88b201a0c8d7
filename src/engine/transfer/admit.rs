//! What an import lets in, and with which words.

use crate::{Error, HistoryEvent, Memory, MemoryId, MemoryKind, Redactor, Result, Scope, add::redact};

pub(super) fn covered(stored: &Scope, scope: &Scope) -> Result<()> {
    stored.validate()?;
    if scope.covers(stored) { Ok(()) } else { Err(Error::invalid("it belongs to a scope that is not imported into")) }
}

/// Whether something of the graph is of a wider scope than the one imported into, which may know of it by what lies in both.
pub(super) fn is_wider(stored: &Scope, scope: &Scope) -> Result<bool> {
    stored.validate()?;
    if scope.covers(stored) {
        return Ok(false);
    }
    if scope.agrees_with(stored) { Ok(true) } else { covered(stored, scope).map(|()| false) }
}

pub(super) fn check(memory: &Memory, scope: &Scope) -> Result<()> {
    covered(&memory.scope, scope)?;
    crate::check_memory(memory)?;
    if memory.text.trim().is_empty() && memory.kind != MemoryKind::Block {
        return Err(Error::invalid("the text of a memory is blank"));
    }
    if memory.revision >= i64::MAX.cast_unsigned() || memory.access_count >= i64::MAX.cast_unsigned() {
        return Err(Error::invalid("a number of a memory is too great"));
    }
    Ok(())
}

pub(super) fn check_events(events: &[HistoryEvent], memory: MemoryId, scope: &Scope) -> Result<()> {
    events.iter().try_for_each(|event| {
        if event.memory != memory {
            return Err(Error::invalid("an event is of another memory"));
        }
        covered(&event.scope, scope)
    })
}

pub(super) fn redact_memory(redactor: &dyn Redactor, memory: &mut Memory) {
    let Memory { text, categories, metadata, speaker, slot, .. } = memory;
    for string in [text].into_iter().chain(categories).chain(speaker).chain(slot) {
        redact::text(redactor, string);
    }
    redact::metadata(redactor, metadata);
}

pub(super) fn redact_events(redactor: &dyn Redactor, events: &mut [HistoryEvent]) {
    for event in events {
        let HistoryEvent { old_text, new_text, stamp, .. } = event;
        for string in old_text.iter_mut().chain(new_text).chain(&mut stamp.reason) {
            redact::text(redactor, string);
        }
    }
}
