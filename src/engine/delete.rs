use std::collections::HashSet;

use super::{ATTEMPTS, MemoryEngine};
use crate::{
    Actor, ErrorKind, EventKind, HistoryEvent, IndexKey, Memory, MemoryId, Put, Result, Scope, Source, Stage,
    WriteBatch, add::keys,
};

pub(super) async fn delete(engine: &MemoryEngine, scope: &Scope, id: MemoryId) -> Result<()> {
    let stamp = engine.stamp();
    let mut attempt = 1;
    loop {
        let memory = engine.get(scope, id).await?;
        let puts = without_its_text(engine, &memory, &[]).await?;
        let mut batch = WriteBatch { puts, ..WriteBatch::default() };
        let old_text = Some(memory.text);
        batch.events.push(HistoryEvent::new(id, memory.scope, EventKind::Delete, old_text, None, stamp.clone()));
        batch.deletes.push(id);
        match engine.0.store.apply(batch).await {
            Ok(_) => return Ok(()),
            // It, or a turn it was read from, was changed or removed meanwhile.
            Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error.with_stage(Stage::Store)),
        }
    }
}

/// The turns a memory was read from, as changes after which nothing finds them by its text; `instead` may.
pub(super) async fn without_its_text(engine: &MemoryEngine, memory: &Memory, instead: &[IndexKey]) -> Result<Vec<Put>> {
    if !memory.sources.iter().any(|source| matches!(source, Source::Memory(_))) {
        return Ok(Vec::new());
    }
    let in_store = |error: crate::Error| error.with_stage(Stage::Store);
    let events = engine.0.store.history(&memory.scope, memory.id).await.map_err(in_store)?;
    let mut texts = HashSet::from([memory.text.clone()]);
    let mut merged = false;
    for event in events {
        merged |= event.kind == EventKind::Update && event.stamp.actor != Actor::App;
        texts.extend([event.old_text, event.new_text].into_iter().flatten());
    }
    // Long texts are keys in passages.
    let lent: HashSet<&str> = texts.iter().flat_map(|text| keys::lent_texts(text)).collect();
    // A memory that took in other facts has a text that none of its turns is found by, and what they are found by is
    // not known: all such keys of theirs go.
    let taken = |key: &str| merged || lent.contains(key);
    keys::take_back(&*engine.0.store, &*engine.0.embedder, memory, taken, instead).await.map_err(in_store)
}
