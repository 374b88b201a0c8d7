use std::collections::HashSet;

use super::{ATTEMPTS, MemoryEngine};
use crate::{
    Actor, ErrorKind, EventKind, HistoryEvent, IndexKey, ListQuery, Memory, MemoryId, Put, Result, Scope, Source,
    Stage, Validity, WriteBatch,
    add::keys,
    graph::{self, Changes, Web},
};

pub(super) async fn delete(engine: &MemoryEngine, scope: &Scope, id: MemoryId) -> Result<()> {
    let stamp = engine.stamp();
    let mut attempt = 1;
    loop {
        let memory = engine.get(scope, id).await?;
        let puts = without_its_text(engine, &memory, &[]).await?;
        let changes = forgotten(engine, &memory.scope, &[id]).await?;
        let mut batch = WriteBatch { puts, ..WriteBatch::default() };
        let old_text = Some(memory.text);
        batch.events.push(HistoryEvent::new(id, memory.scope, EventKind::Delete, old_text, None, stamp.clone()));
        batch.deletes.push(id);
        match graph::write(&*engine.0.store, engine.graph_part(), batch, changes).await {
            Ok(_) => return Ok(()),
            // It, or a turn it was read from, was changed or removed meanwhile.
            Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error.with_stage(Stage::Store)),
        }
    }
}

/// How many memories are read at a time.
const PAGE: usize = 1_000;

pub(super) async fn delete_all(engine: &MemoryEngine, scope: &Scope) -> Result<u64> {
    let in_store = |error: crate::Error| error.with_stage(Stage::Store);
    // First, so that an error of theirs leaves every memory in its place.
    if let Some(conversations) = engine.0.store.companions().conversations {
        conversations.erase(scope).await.map_err(in_store)?;
    }
    let Some(part) = engine.graph_part() else {
        return engine.0.store.delete_all(scope, &engine.stamp()).await.map_err(in_store);
    };
    // The graph is the user's, and what is removed may be one session of theirs.
    if *scope == scope.across_sessions() {
        let count = engine.0.store.delete_all(scope, &engine.stamp()).await.map_err(in_store)?;
        if !part.is_memory_store {
            part.store.delete_graph(scope).await.map_err(in_store)?;
        }
        return Ok(count);
    }
    let mut gone: Vec<MemoryId> = Vec::new();
    let mut query = ListQuery::new(scope.clone(), Validity::Any);
    query.limit = PAGE;
    loop {
        let page = engine.0.store.list(&query).await.map_err(in_store)?;
        gone.extend(page.items.iter().map(|memory| memory.id));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    let count = engine.0.store.delete_all(scope, &engine.stamp()).await.map_err(in_store)?;
    for ids in gone.chunks(PAGE) {
        let changes = forgotten(engine, scope, ids).await?;
        graph::write(&*engine.0.store, Some(part), WriteBatch::default(), changes).await.map_err(in_store)?;
    }
    Ok(count)
}

/// What becomes of the graph when these memories are gone.
pub(super) async fn forgotten(engine: &MemoryEngine, scope: &Scope, ids: &[MemoryId]) -> Result<Changes> {
    let Some(part) = engine.graph_part() else { return Ok(Changes::default()) };
    let mut web = Web::new(part.store, scope, engine.0.clock.now(), part.single_valued);
    web.forget(ids).await.map_err(|error| error.with_stage(Stage::Store))?;
    Ok(web.into_changes())
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
