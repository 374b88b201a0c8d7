//! Relations of all scopes, and whether the memories they rest on are there.

use std::collections::HashSet;

use crate::{
    Error, ErrorKind, MemoryEngine, MemoryId, ProblemKind, ProblemPlace, Relation, Result, Timestamp, Verify,
    VerifyReport, WriteBatch,
    engine::{
        ATTEMPTS,
        delete::{forgotten, graph_version, guard},
    },
    graph::{self, GraphPart},
};

/// How many relations are read at a time.
const PAGE: usize = 200;

/// Longer than an add takes. Where two stores are written, the graph is first: what it tells may rest on memories that are
/// still on their way.
const ON_ITS_WAY: i64 = 3_600;

pub(super) async fn verify(engine: &MemoryEngine, request: &Verify, report: &mut VerifyReport) -> Result<()> {
    let Some(part) = engine.graph_part() else { return Ok(()) };
    let (mut after, mut looked_at) = (None, 0);
    loop {
        let page = match part.store.relations_of_everyone(after, PAGE).await {
            Ok(page) => page,
            // The store has told of it, if it is the one that was verified.
            Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                if !part.is_memory_store {
                    report.note(ProblemKind::DamagedFile, ProblemPlace::Part("the graph".to_owned()));
                }
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        after = page.last().map(|relation| relation.id);
        looked_at += page.len() as u64;
        let is_last = page.len() < PAGE;
        if !part.is_memory_store {
            report.checked.relations += page.len() as u64;
        }
        for relation in page {
            of_relation(engine, part, &relation, request, report).await?;
        }
        request.tell("sources of relations", looked_at);
        if is_last {
            return Ok(());
        }
    }
}

async fn of_relation(
    engine: &MemoryEngine,
    part: GraphPart<'_>,
    relation: &Relation,
    request: &Verify,
    report: &mut VerifyReport,
) -> Result<()> {
    // It can be asked for nothing.
    if relation.scope.validate().is_err() {
        if !part.is_memory_store {
            report.note(ProblemKind::Unreadable, ProblemPlace::Relation(relation.id));
        }
        return Ok(());
    }
    let gone = missing(engine, part, relation, &relation.sources).await?;
    // Of one that is at odds with its own ends it is not known whose it is, and so not what it rests on.
    if gone.is_empty() || !has_its_ends(part, relation).await? {
        return Ok(());
    }
    // Read again: it may have gone with its memories, or have been written before them.
    let again = part.store.relations_of(&relation.scope, &gone).await?;
    let Some(relation) = again.into_iter().find(|again| again.id == relation.id) else { return Ok(()) };
    let gone: Vec<MemoryId> = gone.into_iter().filter(|id| relation.sources.contains(id)).collect();
    let gone = missing(engine, part, &relation, &gone).await?;
    if gone.is_empty() {
        return Ok(());
    }
    let place = ProblemPlace::Relation(relation.id);
    if request.rebuilds() {
        forget(engine, part, &relation, &gone).await?;
        report.note_mended(ProblemKind::MissingSource, place);
    } else {
        report.note(ProblemKind::MissingSource, place);
    }
    Ok(())
}

async fn has_its_ends(part: GraphPart<'_>, relation: &Relation) -> Result<bool> {
    for end in [relation.subject, relation.object] {
        let mut is_there = false;
        for reader in relation.scope.readers() {
            is_there |= !part.store.entities(&reader, &[end]).await?.is_empty();
        }
        if !is_there {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Those of the memories that are not there, and are not on their way.
async fn missing(
    engine: &MemoryEngine,
    part: GraphPart<'_>,
    relation: &Relation,
    ids: &[MemoryId],
) -> Result<Vec<MemoryId>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let there: HashSet<MemoryId> = match engine.0.store.get(&relation.scope, ids).await {
        Ok(found) => found.into_iter().map(|memory| memory.id).collect(),
        // One of them is there and cannot be read, which the store has told.
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let now = engine.0.clock.now();
    let is_recent = |at: Timestamp| (now - at).num_seconds() < ON_ITS_WAY;
    let may_come = |id: &MemoryId| !part.is_memory_store && id.made_at().is_some_and(is_recent);
    Ok(ids.iter().copied().filter(|id| !there.contains(id) && !may_come(id)).collect())
}

/// What deleting these memories would have done to what rests on them.
async fn forget(engine: &MemoryEngine, part: GraphPart<'_>, relation: &Relation, gone: &[MemoryId]) -> Result<()> {
    let mut attempt = 1;
    loop {
        let version = graph_version(engine).await?;
        let still = missing(engine, part, relation, gone).await?;
        let changes = forgotten(engine, &relation.scope, &still).await?;
        let batch = WriteBatch { unchanged: guard(&relation.scope, version, &changes), ..WriteBatch::default() };
        match graph::write_deletion(&*engine.0.store, Some(part), batch, changes).await {
            Ok(_) => return Ok(()),
            Err(error) if is_conflict(&error) && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

fn is_conflict(error: &Error) -> bool {
    error.kind() == ErrorKind::Conflict
}
