//! Of memories that say the same the older takes the newer in. Adding holds new facts against known ones, so duplicates
//! come from raw adds, imports and texts that were changed afterwards.

use std::collections::HashMap;

use super::{Merged, Run, conflict, derive::is_derived, semantic, summarize::id_before};
use crate::{
    Actor, Cursor, ErrorKind, EventKind, Filter, HistoryEvent, Memory, MemoryEngine, MemoryId, Put, Result, Scope,
    SearchQuery, Source, Stage, Stamp, Validity, WriteBatch,
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
/// Begins the reason of the event of the memory that took it in.
const TOOK_IN: &str = "took in ";

impl Run<'_> {
    pub(super) async fn merge(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let page = self.page(after, Some(semantic()), Validity::Current(self.now)).await?;
        for memory in page.items {
            let is_done = match self.request.dry_run {
                true => self.tell_duplicates(&memory).await?,
                false => self.merge_duplicates(&memory).await?,
            };
            if !is_done {
                self.left = 0;
                return Ok(Some(Cursor::after(id_before(memory.id))));
            }
        }
        Ok(page.next)
    }

    /// Lets a memory take in the newer ones that say the same, or an older one take it in. `false` if there may be more of
    /// them, and the call has merged as many as it may.
    async fn merge_duplicates(&mut self, memory: &Memory) -> Result<bool> {
        let id = memory.id;
        loop {
            let Some((memory, found)) = self.duplicates(memory, NEIGHBOURS).await? else { return Ok(true) };
            let (kept, merged) = match found.first() {
                None => return Ok(true),
                Some(older) if older.id < memory.id => (older.clone(), vec![memory]),
                Some(_) => (memory, found),
            };
            let done = self.take_in(&kept, &merged).await;
            if !self.made(id, done)? {
                return Ok(true);
            }
            self.report.merged.extend(merged.iter().map(|one| Merged { kept: kept.id, merged: one.id }));
            if self.report.merged.len() >= self.request.limit {
                return Ok(false);
            }
        }
    }

    /// The same in a dry run, in which they stay in sight: so it looks further until nothing more is found.
    async fn tell_duplicates(&mut self, memory: &Memory) -> Result<bool> {
        let mut known = 0;
        loop {
            let Some((memory, found)) = self.duplicates(memory, NEIGHBOURS + 2 * known).await? else { break };
            if found.first().is_some_and(|older| older.id < memory.id) {
                break;
            }
            if found.len() == known {
                let merged = found.iter().map(|one| Merged { kept: memory.id, merged: one.id });
                self.report.merged.extend(merged);
                break;
            }
            known = found.len();
        }
        Ok(true)
    }

    /// A memory as it is, and those near it that say the same, the oldest first; `None` if it is not to be merged.
    async fn duplicates(&self, memory: &Memory, limit: usize) -> Result<Option<(Memory, Vec<Memory>)>> {
        let store = &self.engine.0.store;
        // Read anew: an earlier merge of this call may have ended it.
        let Some(memory) = store.get(&memory.scope, &[memory.id]).await?.pop() else { return Ok(None) };
        // What maintenance has written itself tells different facts, in the same words or not.
        if memory.invalid_at.is_some() || is_derived(&memory) {
            return Ok(None);
        }
        let Some(key) = store.keys(&memory.scope, memory.id).await?.into_iter().next() else { return Ok(None) };
        // In the same session: what is purged or deleted with one session must not take along what another told.
        let reader = memory.scope.clone();
        let same_kind = Filter::eq("kind", memory.kind.as_str());
        let query = SearchQuery::new(reader, self.now).near(key.vector).words(&*memory.text).filter(Some(same_kind));
        let found = store.search(&query.limit(limit)).await?;
        let cosines: HashMap<MemoryId, f32> =
            found.iter().map(|candidate| (candidate.id, candidate.cosine.unwrap_or(0.0))).collect();
        let ids: Vec<MemoryId> = cosines.keys().copied().filter(|id| *id != memory.id).collect();
        let mut others = store.get(&memory.scope, &ids).await?;
        others.retain(|other| agree(&memory, other, cosines.get(&other.id).copied().unwrap_or(0.0)));
        others.sort_by_key(|other| other.id);
        let mut duplicates = Vec::new();
        for other in others {
            // Who parted them does not want them together.
            let history = store.history(&memory.scope, memory.id.max(other.id)).await?;
            if history.iter().all(|event| event.stamp.reason.as_deref() != Some(UNDONE)) {
                duplicates.push(other);
            }
        }
        Ok(Some((memory, duplicates)))
    }

    async fn take_in(&self, kept: &Memory, merged: &[Memory]) -> Result<()> {
        let engine = self.engine;
        let version = delete::graph_version(engine).await?;
        let mut after = kept.clone();
        let mut batch = WriteBatch::default();
        for merged in merged {
            let known = |source: &&Source| !after.sources.contains(source);
            let sources: Vec<Source> = merged.sources.iter().filter(known).cloned().collect();
            after.sources.extend(sources);
            let known = |category: &&String| !after.categories.contains(category);
            let categories: Vec<String> = merged.categories.iter().filter(known).cloned().collect();
            after.categories.extend(categories);
            for (key, value) in &merged.metadata {
                after.metadata.entry(key.clone()).or_insert_with(|| value.clone());
            }
            after.importance = after.importance.max(merged.importance);
            after.pinned |= merged.pinned;
            after.valid_at = after.valid_at.min(merged.valid_at);
            after.access_count = after.access_count.saturating_add(merged.access_count);
            after.accessed_at = after.accessed_at.max(merged.accessed_at);
            // All the time that it held is told by the other: looking back, too, only one is to be seen.
            let ended = Memory { invalid_at: Some(merged.valid_at), superseded_by: Some(kept.id), ..merged.clone() };
            let is_taken = self.because(format!("{REASON}{}", kept.id));
            change(&mut batch, merged, ended, EventKind::Supersede, is_taken);
            let took_in = self.because(format!("{TOOK_IN}{}", merged.id));
            let text = Some(kept.text.clone());
            let (memory, scope) = (kept.id, kept.scope.clone());
            batch.events.push(HistoryEvent::new(memory, scope, EventKind::Update, text.clone(), text, took_in));
        }
        (after.updated_at, after.revision) = (self.stamp.at, kept.revision + 1);
        batch.puts.push(Put::change(after, None, kept.revision));
        // What rests on the one rests on the other as well: it says the same.
        let mut changes = Changes::default();
        if let Some(part) = engine.graph_part() {
            let ids: Vec<MemoryId> = merged.iter().map(|merged| merged.id).collect();
            let resting = part.store.relations_of(&kept.scope.across_sessions(), &ids).await?;
            for mut relation in resting.into_iter().filter(|relation| relation.expired_at.is_none()) {
                if !relation.sources.contains(&kept.id) {
                    relation.sources.push(kept.id);
                    changes.batch.relations.push(relation);
                }
            }
        }
        batch.unchanged = delete::guard(&kept.scope, version, &changes);
        graph::write(&*engine.0.store, engine.graph_part(), batch, changes).await.map(drop)
    }
}

/// Whether two memories say the same of the same.
fn agree(memory: &Memory, other: &Memory, cosine: f32) -> bool {
    let is_open = other.invalid_at.is_none() && !is_derived(other) && other.expires_at == memory.expires_at;
    let is_neighbour = other.scope == memory.scope && other.speaker == memory.speaker;
    let agrees = other.slot == memory.slot && other.trust == memory.trust;
    // What has a time of its own is another event at another time.
    let is_dated = |one: &Memory| one.valid_at != one.observed_at;
    let is_of_one_time = other.valid_at == memory.valid_at || !(is_dated(other) || is_dated(memory));
    is_open && is_neighbour && agrees && is_of_one_time && repeats(&other.text, &memory.text, cosine)
}

/// The memory as it is written.
pub(super) fn change(batch: &mut WriteBatch, old: &Memory, mut new: Memory, kind: EventKind, stamp: Stamp) -> Memory {
    new.updated_at = stamp.at;
    new.revision = old.revision + 1;
    let (old_text, new_text) = (Some(old.text.clone()), Some(new.text.clone()));
    batch.events.push(HistoryEvent::new(old.id, old.scope.clone(), kind, old_text, new_text, stamp));
    batch.puts.push(Put::change(new.clone(), None, old.revision));
    new
}

/// The memories that this one has taken in, and the one that took it in, whether they are there or were removed; none of
/// which it was parted again.
pub(in crate::engine) async fn merged_with(
    engine: &MemoryEngine,
    scope: &Scope,
    id: MemoryId,
) -> Result<Vec<MemoryId>> {
    let history = engine.0.store.history(scope, id).await?;
    let mut found: Vec<MemoryId> = taken_in_by(engine, scope, id, &history).await?.into_iter().collect();
    for other in history.iter().filter_map(|event| named_by(event, TOOK_IN)) {
        let history = engine.0.store.history(scope, other).await?;
        if taken_in_by(engine, scope, other, &history).await? == Some(id) {
            found.push(other);
        }
    }
    Ok(found)
}

/// The memory that took this one in.
async fn taken_in_by(
    engine: &MemoryEngine,
    scope: &Scope,
    id: MemoryId,
    history: &[HistoryEvent],
) -> Result<Option<MemoryId>> {
    let Some(kept) = history.iter().rev().find_map(|event| named_by(event, REASON)) else { return Ok(None) };
    let there = engine.0.store.get(scope, &[id]).await?.pop();
    let was_parted = history.iter().any(|event| event.stamp.reason.as_deref() == Some(UNDONE));
    Ok(Some(kept).filter(|kept| there.map_or(!was_parted, |memory| memory.superseded_by == Some(*kept))))
}

/// The memory that the reason of an event of maintenance names.
fn named_by(event: &HistoryEvent, reason: &str) -> Option<MemoryId> {
    let told = event.stamp.reason.as_deref().filter(|_| event.stamp.actor == Actor::Maintenance)?;
    told.strip_prefix(reason)?.parse().ok()
}

/// Lets a memory that another took in hold again.
pub(super) async fn undo_merge(engine: &MemoryEngine, scope: &Scope, id: MemoryId) -> Result<Memory> {
    let in_store = |error: crate::Error| error.with_stage(Stage::Store);
    let mut attempt = 1;
    loop {
        let memory = engine.read(scope, id).await?;
        let history = engine.read_history(scope, id).await?;
        let reason = history.iter().rfind(|event| event.kind == EventKind::Supersede);
        let reason = reason.and_then(|event| event.stamp.reason.as_deref()).unwrap_or_default();
        if memory.superseded_by.is_none_or(|kept| reason != format!("{REASON}{kept}")) {
            return Err(conflict("no other memory has taken it in"));
        }
        let version = delete::graph_version(engine).await?;
        let stamp = engine.stamp(Actor::App).because(UNDONE);
        let mut batch = WriteBatch::default();
        let open = Memory { invalid_at: None, superseded_by: None, ..memory.clone() };
        let open = change(&mut batch, &memory, open, EventKind::Update, stamp);
        // The other keeps what it took over: what it had of it before is not known any more, and it says the same.
        let changes = delete::followed(engine, &memory, &open).await?;
        batch.unchanged = delete::guard(&memory.scope, version, &changes);
        match graph::write(&*engine.0.store, engine.graph_part(), batch, changes).await {
            Ok(_) => return Ok(open),
            Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(in_store(error)),
        }
    }
}
