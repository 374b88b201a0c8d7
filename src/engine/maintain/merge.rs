//! Of memories that say the same the older takes the newer in. Adding holds new facts against known ones, so duplicates
//! come from raw adds, imports and texts that were changed afterwards.

use super::{Merged, Run, conflict, semantic};
use crate::{
    Actor, Cursor, ErrorKind, EventKind, HistoryEvent, Memory, MemoryEngine, MemoryId, Put, Result, Scope, SearchQuery,
    Source, Stage, Stamp, Validity, WriteBatch,
    engine::{ATTEMPTS, delete},
    graph::{self, Changes},
    score::sameness::repeats,
};

/// How many neighbours of a memory are held against it.
const NEIGHBOURS: usize = 10;
/// The reason of the events that part two memories again.
const UNDONE: &str = "merge undone";
/// Begins the reason of the event that ends a memory that was taken in.
const REASON: &str = "merged into ";

impl Run<'_> {
    pub(super) async fn merge(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let page = self.page(after, Some(semantic()), Validity::Current(self.now)).await?;
        for memory in page.items {
            let Some(kept) = self.older_duplicate(&memory).await? else { continue };
            let merged = Merged { kept: kept.id, merged: memory.id };
            let done = if self.request.dry_run { Ok(()) } else { self.take_in(&kept, &memory).await };
            if self.made(memory.id, done)? {
                self.report.merged.push(merged);
            }
        }
        Ok(page.next)
    }

    /// The oldest memory that says what this one does.
    async fn older_duplicate(&self, memory: &Memory) -> Result<Option<Memory>> {
        let store = &self.engine.0.store;
        // Read anew: an earlier merge of this call may have ended it.
        let Some(memory) = store.get(&memory.scope, &[memory.id]).await?.pop() else { return Ok(None) };
        if memory.invalid_at.is_some() {
            return Ok(None);
        }
        let Some(key) = store.keys(&memory.scope, memory.id).await?.into_iter().next() else { return Ok(None) };
        // Sessions aside, as adding holds facts against each other.
        let scope = memory.scope.across_sessions();
        let reader = if scope.validate().is_ok() { scope } else { memory.scope.clone() };
        let query = SearchQuery::new(reader, self.now).near(key.vector).words(&*memory.text).filter(Some(semantic()));
        let mut found = store.search(&query.limit(NEIGHBOURS)).await?;
        found.retain(|candidate| candidate.id < memory.id && candidate.attributes.kind == memory.kind);
        found.sort_by_key(|candidate| candidate.id);
        for candidate in found {
            let Some(other) = store.get(&memory.scope.across_sessions(), &[candidate.id]).await?.pop() else {
                continue;
            };
            let is_open = other.invalid_at.is_none() && other.expires_at == memory.expires_at;
            let is_neighbour = other.scope.across_sessions() == memory.scope.across_sessions();
            let agrees = other.slot == memory.slot && other.trust == memory.trust;
            if !(is_open
                && is_neighbour
                && agrees
                && repeats(&other.text, &memory.text, candidate.cosine.unwrap_or(0.0)))
            {
                continue;
            }
            // Who parted them does not want them together.
            let history = store.history(&memory.scope, memory.id).await?;
            if history.iter().all(|event| event.stamp.reason.as_deref() != Some(UNDONE)) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    async fn take_in(&self, kept: &Memory, merged: &Memory) -> Result<()> {
        let engine = self.engine;
        let version = delete::graph_version(engine).await?;
        let mut after = kept.clone();
        after.sources.extend(merged.sources.iter().filter(|source| !kept.sources.contains(source)).cloned());
        after.categories.extend(merged.categories.iter().filter(|one| !kept.categories.contains(one)).cloned());
        for (key, value) in &merged.metadata {
            after.metadata.entry(key.clone()).or_insert_with(|| value.clone());
        }
        after.importance = kept.importance.max(merged.importance);
        after.pinned |= merged.pinned;
        after.valid_at = kept.valid_at.min(merged.valid_at);
        after.access_count = kept.access_count.saturating_add(merged.access_count);
        after.accessed_at = kept.accessed_at.max(merged.accessed_at);
        let ended =
            Memory { invalid_at: Some(self.now.max(merged.valid_at)), superseded_by: Some(kept.id), ..merged.clone() };
        let mut batch = WriteBatch::default();
        let took_in = self.because(format!("took in {}", merged.id));
        let is_taken = self.because(format!("{REASON}{}", kept.id));
        change(&mut batch, kept, after, EventKind::Update, took_in);
        change(&mut batch, merged, ended, EventKind::Supersede, is_taken);
        // What rests on the one rests on the other as well: it says the same.
        let mut changes = Changes::default();
        if let Some(part) = engine.graph_part() {
            let resting = part.store.relations_of(&merged.scope.across_sessions(), &[merged.id]).await?;
            for mut relation in resting.into_iter().filter(|relation| relation.expired_at.is_none()) {
                if !relation.sources.contains(&kept.id) {
                    relation.sources.push(kept.id);
                    changes.batch.relations.push(relation);
                }
            }
        }
        batch.unchanged = delete::guard(&merged.scope, version, &changes);
        graph::write(&*engine.0.store, engine.graph_part(), batch, changes).await.map(drop)
    }
}

pub(super) fn change(batch: &mut WriteBatch, old: &Memory, mut new: Memory, kind: EventKind, stamp: Stamp) {
    new.updated_at = stamp.at;
    new.revision = old.revision + 1;
    let (old_text, new_text) = (Some(old.text.clone()), Some(new.text.clone()));
    batch.events.push(HistoryEvent::new(old.id, old.scope.clone(), kind, old_text, new_text, stamp));
    batch.puts.push(Put::change(new, None, old.revision));
}

/// Lets a memory that another took in hold again, and takes its sources out of that.
pub(super) async fn undo_merge(engine: &MemoryEngine, scope: &Scope, id: MemoryId) -> Result<Memory> {
    let in_store = |error: crate::Error| error.with_stage(Stage::Store);
    let mut attempt = 1;
    loop {
        let memory = engine.get(scope, id).await?;
        let history = engine.history(scope, id).await?;
        let reason = history.iter().rfind(|event| event.kind == EventKind::Supersede);
        let reason = reason.and_then(|event| event.stamp.reason.as_deref()).unwrap_or_default();
        let kept = memory.superseded_by.filter(|kept| reason == format!("{REASON}{kept}"));
        let Some(kept) = kept else { return Err(conflict("no other memory has taken it in")) };
        let version = delete::graph_version(engine).await?;
        let stamp = engine.stamp(Actor::App).because(UNDONE);
        let mut batch = WriteBatch::default();
        let open = Memory { invalid_at: None, superseded_by: None, ..memory.clone() };
        change(&mut batch, &memory, open.clone(), EventKind::Update, stamp.clone());
        let mut changes = Changes::default();
        let wide = memory.scope.across_sessions();
        if let Some(kept) = engine.0.store.get(&wide, &[kept]).await.map_err(in_store)?.pop() {
            // What both had before is not known any more; the one that holds again has it.
            let is_its = |source: &&Source| !memory.sources.contains(source);
            let sources: Vec<Source> = kept.sources.iter().filter(is_its).cloned().collect();
            let after = Memory { sources, ..kept.clone() };
            change(&mut batch, &kept, after, EventKind::Update, stamp);
            if let Some(part) = engine.graph_part() {
                for mut relation in part.store.relations_of(&wide, &[id]).await.map_err(in_store)? {
                    let before = relation.sources.len();
                    relation.sources.retain(|source| *source != kept.id);
                    if relation.sources.len() < before && relation.expired_at.is_none() {
                        changes.batch.relations.push(relation);
                    }
                }
            }
        }
        batch.unchanged = delete::guard(&memory.scope, version, &changes);
        match graph::write(&*engine.0.store, engine.graph_part(), batch, changes).await {
            Ok(_) => return engine.get(scope, id).await,
            Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(in_store(error)),
        }
    }
}
