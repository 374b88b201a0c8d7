use std::collections::{BTreeMap, HashMap, HashSet};

use super::{ATTEMPTS, MemoryEngine, maintain};
use crate::{
    Actor, Error, ErrorKind, EventKind, ExtractedRelation, HistoryEvent, IndexKey, ListQuery, Memory, MemoryId, Put,
    Result, Scope, Source, Stage, Stamp, Unchanged, Validity, Version, WriteBatch,
    add::keys,
    graph::{self, Changes, GraphPart, Held, Told, Trace, Web},
};

pub(super) async fn delete(engine: &MemoryEngine, scope: &Scope, id: MemoryId, by: Actor) -> Result<()> {
    delete_if(engine, scope, id, &engine.stamp(by), false, |_| true).await
}

/// Removes a memory if it still is what it is removed for: otherwise it is a conflict. Its history goes along if it is to
/// be `traceless`, and else tells of it.
pub(super) async fn delete_if(
    engine: &MemoryEngine,
    scope: &Scope,
    id: MemoryId,
    stamp: &Stamp,
    traceless: bool,
    still: impl Fn(&Memory) -> bool,
) -> Result<()> {
    let mut attempt = 1;
    loop {
        let version = graph_version(engine).await?;
        let memory = engine.read(scope, id).await?;
        if !still(&memory) {
            return Err(Error::new(ErrorKind::Conflict, "a memory was changed meanwhile").with_stage(Stage::Store));
        }
        let puts = without_its_text(engine, &memory, &[]).await?;
        let changes = forgotten(engine, &memory.scope, &[id]).await?;
        let unchanged = guard(&memory.scope, version, &changes);
        let mut batch = WriteBatch { puts, unchanged, ..WriteBatch::default() };
        maintain::on_removal(engine, &memory, stamp, &mut batch).await?;
        let (old_text, kind) = (Some(memory.text), EventKind::Delete);
        if traceless {
            batch.erase_history.push(id);
        } else {
            batch.events.push(HistoryEvent::new(id, memory.scope, kind, old_text, None, stamp.clone()));
        }
        batch.deletes.push(id);
        match graph::write_deletion(&*engine.0.store, engine.graph_part(), batch, changes).await {
            Ok(_) => return Ok(()),
            // It, a turn it was read from, or what its relations rest on besides, was changed or removed meanwhile.
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
    if let Some(conversations) = &engine.0.conversations {
        conversations.store().erase(scope).await.map_err(in_store)?;
    }
    let Some(part) = engine.graph_part() else {
        return engine.0.store.delete_all(scope, &engine.stamp(Actor::App)).await.map_err(in_store);
    };
    // What the graph tells goes first: whoever asks again after an outage finds the memories still there.
    if scope.agent_id().is_none() && scope.session_id().is_none() {
        for (scope, ids) in told_elsewhere(engine, part, scope).await? {
            forget(engine, part, &scope, &ids).await?;
        }
        if !part.is_memory_store {
            part.store.delete_graph(scope).await.map_err(in_store)?;
        }
        let count = engine.0.store.delete_all(scope, &engine.stamp(Actor::App)).await.map_err(in_store)?;
        if !part.is_memory_store {
            // An add may have come in between.
            part.store.delete_graph(scope).await.map_err(in_store)?;
        }
        return Ok(count);
    }
    // The graph is the user's, and what is removed is a part of what it rests on.
    let mut query = ListQuery::new(scope.clone(), Validity::Any);
    query.limit = PAGE;
    loop {
        let page = engine.0.store.list(&query).await.map_err(in_store)?;
        let mut by_scope: BTreeMap<Scope, Vec<MemoryId>> = BTreeMap::new();
        for memory in page.items {
            by_scope.entry(memory.scope).or_default().push(memory.id);
        }
        for (scope, ids) in by_scope {
            forget(engine, part, &scope, &ids).await?;
        }
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    let count = engine.0.store.delete_all(scope, &engine.stamp(Actor::App)).await.map_err(in_store)?;
    if !part.is_memory_store {
        part.store.delete_graph(scope).await.map_err(in_store)?;
    }
    Ok(count)
}

/// The memories that a scope covers and that relations rest on which it does not cover, by their scopes: what a user told an
/// agent may be known to the agent, whoever the user is.
pub(super) async fn told_elsewhere(
    engine: &MemoryEngine,
    part: GraphPart<'_>,
    scope: &Scope,
) -> Result<BTreeMap<Scope, Vec<MemoryId>>> {
    let in_store = |error: Error| error.with_stage(Stage::Store);
    let mut query = ListQuery::new(scope.clone(), Validity::Any);
    query.limit = PAGE;
    let mut told: BTreeMap<Scope, Vec<MemoryId>> = BTreeMap::new();
    loop {
        let page = engine.0.store.list(&query).await.map_err(in_store)?;
        let mut by_reader: BTreeMap<Scope, Vec<MemoryId>> = BTreeMap::new();
        for memory in &page.items {
            for reader in memory.scope.single_parts().filter(|reader| !scope.covers(reader)) {
                by_reader.entry(reader).or_default().push(memory.id);
            }
        }
        let mut known: HashSet<MemoryId> = HashSet::new();
        for (reader, ids) in by_reader {
            let resting = part.store.relations_of(&reader, &ids).await.map_err(in_store)?;
            let others = resting.into_iter().filter(|relation| !scope.covers(&relation.scope));
            known.extend(others.flat_map(|relation| relation.sources));
        }
        for memory in page.items.into_iter().filter(|memory| known.contains(&memory.id)) {
            told.entry(memory.scope).or_default().push(memory.id);
        }
        query.after = page.next;
        if query.after.is_none() {
            return Ok(told);
        }
    }
}

/// Takes memories of one scope out of the graph.
async fn forget(engine: &MemoryEngine, part: GraphPart<'_>, scope: &Scope, ids: &[MemoryId]) -> Result<()> {
    let mut attempt = 1;
    loop {
        let version = graph_version(engine).await?;
        let changes = forgotten(engine, scope, ids).await?;
        let batch = WriteBatch { unchanged: guard(scope, version, &changes), ..WriteBatch::default() };
        match graph::write_deletion(&*engine.0.store, Some(part), batch, changes).await {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error.with_stage(Stage::Store)),
        }
    }
}

/// The version that changes of the graph are made from, if the store can hold them against it.
pub(super) async fn graph_version(engine: &MemoryEngine) -> Result<Option<Version>> {
    if engine.graph_part().is_none() || !engine.0.store.capabilities().guards {
        return Ok(None);
    }
    engine.0.store.version().await.map(Some).map_err(|error| error.with_stage(Stage::Store))
}

/// Holds changes of the graph back if an add told more of it meanwhile: it may have made a relation rest on another memory,
/// or told something of an entity that is to go.
pub(super) fn guard(scope: &Scope, version: Option<Version>, changes: &Changes) -> Option<Unchanged> {
    let version = version.filter(|_| !changes.batch.is_empty())?;
    Some(Unchanged::new(scope.readers().next()?, version))
}

/// What becomes of the graph when these memories of one scope are gone.
pub(super) async fn forgotten(engine: &MemoryEngine, scope: &Scope, ids: &[MemoryId]) -> Result<Changes> {
    forgotten_to(engine, scope, ids, Trace::Names).await
}

/// The same, with what is left of them.
pub(super) async fn forgotten_to(
    engine: &MemoryEngine,
    scope: &Scope,
    ids: &[MemoryId],
    trace: Trace<'_>,
) -> Result<Changes> {
    let Some(part) = engine.graph_part() else { return Ok(Changes::default()) };
    let mut web = Web::new(part.store, scope, engine.0.clock.now(), part.single_valued);
    // A relation that was told in a wider scope may rest on them, too.
    let widest: Vec<Scope> = scope.single_parts().collect();
    web.forget(&widest, ids, trace, &*engine.0.store).await.map_err(|error| error.with_stage(Stage::Store))?;
    Ok(web.into_changes())
}

/// What becomes of the graph when a memory tells relations.
pub(super) async fn told(engine: &MemoryEngine, memory: &Memory, relations: &[ExtractedRelation]) -> Result<Changes> {
    let Some(part) = engine.graph_part() else { return Ok(Changes::default()) };
    let mut web = Web::new(part.store, &memory.scope, engine.0.clock.now(), part.single_valued);
    web.tell(&Told::by(memory, relations)).await.map_err(|error| error.with_stage(Stage::Store))?;
    Ok(web.into_changes())
}

/// What becomes of the graph when a memory holds from or until when it did not.
pub(super) async fn followed(engine: &MemoryEngine, before: &Memory, after: &Memory) -> Result<Changes> {
    let Some(part) = engine.graph_part() else { return Ok(Changes::default()) };
    let held = Held::changed(before, after);
    if !held.is_change() {
        return Ok(Changes::default());
    }
    let in_store = |error: Error| error.with_stage(Stage::Store);
    // One that was told in a wider scope may rest on it, too.
    let mut scope = after.scope.across_sessions();
    for reader in after.scope.single_parts() {
        for relation in part.store.relations_of(&reader, &[after.id]).await.map_err(in_store)? {
            if relation.scope.covers(&scope) {
                scope = relation.scope;
            }
        }
    }
    let mut web = Web::new(part.store, &scope, engine.0.clock.now(), part.single_valued);
    web.follow(&HashMap::from([(after.id, held)]), &*engine.0.store).await.map_err(in_store)?;
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
        // Whoever changes one memory by itself merges nothing.
        let by_itself = matches!(event.stamp.actor, Actor::App | Actor::Agent);
        merged |= event.kind == EventKind::Update && !by_itself;
        texts.extend([event.old_text, event.new_text].into_iter().flatten());
    }
    // Long texts are keys in passages.
    let lent: HashSet<&str> = texts.iter().flat_map(|text| keys::lent_texts(text)).collect();
    // A memory that took in other facts has a text that none of its turns is found by, and what they are found by is
    // not known: all such keys of theirs go.
    let taken = |key: &str| merged || lent.contains(key);
    keys::take_back(&*engine.0.store, &*engine.0.embedder, memory, taken, instead).await.map_err(in_store)
}
