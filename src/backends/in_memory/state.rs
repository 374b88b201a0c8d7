use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque, hash_map::Entry},
    ops::Bound,
    sync::Arc,
};

use super::{graph::Graph, scopes::Scopes};
use crate::{
    EmbedderIdentity, Error, ErrorKind, EventKind, Expect, GraphBatch, HistoryEvent, IndexKey, ListOrder, Memory,
    MemoryId, MemoryKind, Purged, Put, Result, Scope, Stamp, Timestamp, Unchanged, Version, WriteBatch,
    cues::Cues,
    index::{AnalysedKey, Change, IndexSource, Indexed, ScopeIndex, Terms},
};

/// How many changes are remembered for guards and indexes that catch up.
const LOG_LIMIT: usize = 100_000;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) embedder: Option<EmbedderIdentity>,
    pub(super) version: Version,
    pub(super) graph: Graph,
    /// The embedder whose vectors are staged.
    pub(super) staged_for: Option<EmbedderIdentity>,
    pub(super) memories: HashMap<MemoryId, Stored>,
    /// The memories that each reader's scope covers, for every scope that covers any.
    pub(super) readers: HashMap<Scope, BTreeSet<MemoryId>>,
    /// Those that memories and histories are stored in.
    pub(super) scopes: Scopes,
    pub(super) history: HashMap<MemoryId, Vec<HistoryEvent>>,
    /// The next place of a turn, for each scope that has turns.
    pub(super) places: HashMap<Scope, u64>,
    pub(super) log: VecDeque<Logged>,
    /// The log has nothing of this version and those before.
    pub(super) forgotten: Version,
}

#[derive(Debug)]
pub(super) struct Stored {
    pub(super) memory: Memory,
    cues: Cues,
    pub(super) keys: Arc<[AnalysedKey]>,
    /// Of each key.
    pub(super) texts: Arc<[Box<str>]>,
    /// Of each key its vector by another embedder, as far as there is one; empty while there is none.
    pub(super) staged: Box<[Option<Vec<f32>>]>,
}

#[derive(Debug)]
pub(super) struct Logged {
    version: Version,
    id: MemoryId,
    scope: Scope,
    semantic: bool,
    keys: bool,
}

fn analysed(keys: Vec<IndexKey>, terms: &mut impl Iterator<Item = Terms>) -> (Arc<[AnalysedKey]>, Arc<[Box<str>]>) {
    let keys = keys.into_iter().zip(terms);
    let (keys, texts): (Vec<_>, Vec<_>) =
        keys.map(|(key, terms)| (AnalysedKey { terms, vector: key.vector }, key.text.into_boxed_str())).unzip();
    (keys.into(), texts.into())
}

fn conflict(what: &str) -> Error {
    Error::new(ErrorKind::Conflict, what)
}

impl State {
    /// Checks everything first; what follows cannot fail, so a batch is whole or not there.
    ///
    /// `terms` are those of all keys of the batch, in order, `cues` those of all its memories.
    pub(super) fn apply(&mut self, batch: WriteBatch, terms: Vec<Terms>, cues: Vec<Cues>) -> Result<Version> {
        batch.validate(self.embedder.as_ref())?;
        self.graph.check(&batch.graph)?;
        if let Some(guard) = &batch.unchanged {
            self.check_unchanged(guard)?;
        }
        batch.puts.iter().try_for_each(|put| self.check_put(put))?;
        if !batch.deletes.iter().all(|id| self.memories.contains_key(id)) {
            return Err(conflict("a memory to delete is not there"));
        }
        if !batch.events.iter().all(|event| self.owner(&batch, event.memory).is_none_or(|owner| *owner == event.scope))
        {
            return Err(conflict("an event of a memory that is under another scope"));
        }
        if batch.is_empty() {
            return Ok(self.version);
        }

        self.version.0 += 1;
        let WriteBatch { puts, deletes, erase_history, events, graph, unchanged: _, embedder: _ } = batch;
        let mut terms = terms.into_iter();
        for (Put { mut memory, keys, expect: _ }, cues) in puts.into_iter().zip(cues) {
            let id = memory.id;
            let stored = self.memories.remove(&id);
            // What was stored may have become a turn, or have been given another place: nobody else is to get that one.
            if memory.kind == MemoryKind::Episode && (stored.is_none() || memory.ordinal.is_some()) {
                let next = self.places.entry(memory.scope.clone()).or_default();
                let place = *memory.ordinal.get_or_insert(*next);
                *next = place.saturating_add(1).max(*next);
            }
            if stored.is_none() {
                self.scopes.add(&memory.scope);
            }
            let was_semantic = stored.as_ref().is_some_and(|stored| stored.memory.kind.is_semantic());
            self.log(&memory, was_semantic, keys.is_some());
            let kept = stored.map(|stored| (stored.keys, stored.texts, stored.staged));
            let fresh = keys.map(|keys| analysed(keys, &mut terms)).map(|(keys, texts)| (keys, texts, Box::default()));
            let (keys, texts, staged) = fresh.or(kept).unwrap_or_default();
            for reader in memory.scope.readers() {
                self.readers.entry(reader).or_default().insert(id);
            }
            self.memories.insert(id, Stored { memory, cues, keys, texts, staged });
        }
        deletes.iter().for_each(|id| self.remove(*id));
        for id in erase_history {
            self.history
                .remove(&id)
                .iter()
                .flat_map(|told| told.first())
                .for_each(|told| self.scopes.take(&told.scope));
        }
        events.into_iter().for_each(|event| self.tell(event));
        self.graph.apply(&graph);
        Ok(self.version)
    }

    pub(super) fn apply_graph(&mut self, batch: &GraphBatch) -> Result<()> {
        batch.validate()?;
        self.graph.check(batch)?;
        if !batch.is_empty() {
            self.version.0 += 1;
            self.graph.apply(batch);
        }
        Ok(())
    }

    pub(super) fn delete_graph(&mut self, scope: &Scope) -> (u64, u64) {
        let counts = self.graph.delete_all(scope);
        if counts != (0, 0) {
            self.version.0 += 1;
        }
        counts
    }

    /// The scope under which a memory is, is to be, or was.
    fn owner<'s>(&'s self, batch: &'s WriteBatch, id: MemoryId) -> Option<&'s Scope> {
        let stored = self.memories.get(&id).map(|stored| &stored.memory.scope);
        let told = || self.history.get(&id).and_then(|events| events.first()).map(|event| &event.scope);
        let put = || batch.puts.iter().find(|put| put.memory.id == id).map(|put| &put.memory.scope);
        stored.or_else(told).or_else(put)
    }

    fn check_put(&self, put: &Put) -> Result<()> {
        let stored = self.memories.get(&put.memory.id).map(|stored| &stored.memory);
        match (put.expect, stored) {
            (Expect::Absent, Some(_)) => return Err(conflict("a new memory is there already")),
            (Expect::Revision(_), None) => return Err(conflict("a memory to change is not there")),
            (Expect::Revision(revision), Some(stored)) if stored.revision != revision => {
                return Err(conflict("a memory was changed meanwhile"));
            }
            (_, None) if put.keys.is_none() => return Err(Error::invalid("a new memory has no keys")),
            _ => {}
        }
        if stored.is_some_and(|stored| stored.scope != put.memory.scope) {
            return Err(Error::invalid("the scope of a stored memory never changes"));
        }
        Ok(())
    }

    fn check_unchanged(&self, guard: &Unchanged) -> Result<()> {
        let Unchanged { scope, since } = guard;
        let changed = self
            .log
            .iter()
            .rev()
            .take_while(|logged| logged.version > *since)
            .any(|logged| logged.semantic && scope.covers(&logged.scope));
        if changed || !self.remembers(*since) { Err(conflict("what a plan was made from has changed")) } else { Ok(()) }
    }

    /// Whether the log still has every change after `since`.
    fn remembers(&self, since: Version) -> bool {
        since >= self.forgotten
            && (self.log.len() < LOG_LIMIT || self.log.front().is_none_or(|first| first.version <= since))
    }

    fn log(&mut self, memory: &Memory, was_semantic: bool, keys: bool) {
        self.log.push_back(Logged {
            version: self.version,
            id: memory.id,
            scope: memory.scope.clone(),
            semantic: was_semantic || memory.kind.is_semantic(),
            keys,
        });
        if self.log.len() > LOG_LIMIT {
            self.log.pop_front();
        }
    }

    fn remove(&mut self, id: MemoryId) {
        let Some(Stored { memory, .. }) = self.memories.remove(&id) else { return };
        self.log(&memory, false, true);
        self.scopes.take(&memory.scope);
        for reader in memory.scope.readers() {
            if let Some(ids) = self.readers.get_mut(&reader) {
                ids.remove(&id);
                if ids.is_empty() {
                    self.readers.remove(&reader);
                }
            }
        }
    }

    fn tell(&mut self, event: HistoryEvent) {
        match self.history.entry(event.memory) {
            Entry::Occupied(mut told) => told.get_mut().push(event),
            Entry::Vacant(first) => {
                self.scopes.add(&event.scope);
                first.insert(vec![event]);
            }
        }
    }

    pub(super) fn delete_all(&mut self, scope: &Scope, stamp: &Stamp) -> u64 {
        self.delete_graph(scope);
        let ids: Vec<MemoryId> = self.readers.get(scope).into_iter().flatten().copied().collect();
        if ids.is_empty() {
            return 0;
        }
        self.version.0 += 1;
        self.places.retain(|stored, _| !scope.covers(stored));
        for id in &ids {
            if let Some(Stored { memory, .. }) = self.memories.get(id) {
                let event = HistoryEvent::new(
                    *id,
                    memory.scope.clone(),
                    EventKind::Delete,
                    Some(memory.text.clone()),
                    None,
                    stamp.clone(),
                );
                self.tell(event);
            }
            self.remove(*id);
        }
        ids.len() as u64
    }

    pub(super) fn purge_all(&mut self, scope: &Scope) -> Purged {
        let (entities, relations) = self.delete_graph(scope);
        self.version.0 += 1;
        self.places.retain(|stored, _| !scope.covers(stored));
        let ids: Vec<MemoryId> = self.readers.get(scope).into_iter().flatten().copied().collect();
        ids.iter().for_each(|id| self.remove(*id));
        let mut events = 0;
        self.history.retain(|_, told| {
            // All of a memory's are under its scope.
            let Some(first) = told.first().filter(|first| scope.covers(&first.scope)) else { return true };
            self.scopes.take(&first.scope);
            events += told.len() as u64;
            false
        });
        Purged::new(ids.len() as u64, events, entities, relations)
    }

    pub(super) fn get(&self, scope: &Scope, id: MemoryId) -> Option<&Memory> {
        self.memories.get(&id).map(|stored| &stored.memory).filter(|memory| scope.covers(&memory.scope))
    }

    pub(super) fn keys(&self, scope: &Scope, id: MemoryId) -> Vec<IndexKey> {
        let stored = self.memories.get(&id).filter(|stored| scope.covers(&stored.memory.scope));
        let keys = stored.into_iter().flat_map(|stored| stored.texts.iter().zip(&*stored.keys));
        keys.map(|(text, key)| IndexKey::new(&**text, key.vector.clone())).collect()
    }

    /// The memories the scope covers, in the order asked for, beginning after `after`.
    pub(super) fn iter(
        &self,
        scope: &Scope,
        order: ListOrder,
        after: Option<MemoryId>,
    ) -> Box<dyn Iterator<Item = &Memory> + '_> {
        let Some(ids) = self.readers.get(scope) else { return Box::new(std::iter::empty()) };
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let memory = |id: &MemoryId| self.memories.get(id).map(|stored| &stored.memory);
        match order {
            ListOrder::OldestFirst => Box::new(ids.range((after, Bound::Unbounded)).filter_map(memory)),
            ListOrder::NewestFirst => Box::new(ids.range((Bound::Unbounded, after)).rev().filter_map(memory)),
        }
    }

    pub(super) fn history(&self, scope: &Scope, id: MemoryId) -> Vec<HistoryEvent> {
        let events = self.history.get(&id).into_iter().flatten();
        events.filter(|event| scope.covers(&event.scope)).cloned().collect()
    }

    pub(super) fn removed(&self, scope: &Scope, after: Option<MemoryId>, limit: usize) -> Vec<MemoryId> {
        let is_mine = |events: &[HistoryEvent]| events.iter().any(|event| scope.covers(&event.scope));
        let is_gone = |id: &MemoryId| Some(*id) > after && !self.memories.contains_key(id);
        let told = self.history.iter().filter(|(id, events)| is_gone(id) && is_mine(events));
        let mut ids: Vec<MemoryId> = told.map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.truncate(limit);
        ids
    }

    pub(super) fn record_access(&mut self, scope: &Scope, ids: &[MemoryId], at: Timestamp) {
        self.version.0 += 1;
        for id in ids {
            let Some(stored) = self.memories.get_mut(id).filter(|stored| scope.covers(&stored.memory.scope)) else {
                continue;
            };
            stored.memory.access_count = stored.memory.access_count.saturating_add(1);
            stored.memory.accessed_at = Some(stored.memory.accessed_at.map_or(at, |before| before.max(at)));
            // Being recalled is no change of what is known: guards pass over it.
            let logged = Logged {
                version: self.version,
                id: *id,
                scope: stored.memory.scope.clone(),
                semantic: false,
                keys: false,
            };
            self.log.push_back(logged);
        }
        while self.log.len() > LOG_LIMIT {
            self.log.pop_front();
        }
    }
}

impl IndexSource for &State {
    fn embedder(&self) -> Option<&EmbedderIdentity> {
        self.embedder.as_ref()
    }

    fn version(&self) -> Result<Version> {
        Ok(self.version)
    }

    fn changes(&self, since: Version) -> Result<Option<Vec<Change>>> {
        if !self.remembers(since) {
            return Ok(None);
        }
        let mut seen: HashSet<MemoryId> = HashSet::new();
        let mut changes = Vec::new();
        // Backwards, so that each memory comes once; whether its keys changed is asked of all its places in the log.
        let recent: Vec<&Logged> = self.log.iter().rev().take_while(|logged| logged.version > since).collect();
        let keys: HashSet<MemoryId> = recent.iter().filter(|logged| logged.keys).map(|logged| logged.id).collect();
        for Logged { id, scope, .. } in recent {
            if !seen.insert(*id) {
                continue;
            }
            changes.push(match self.memories.get(id) {
                None => Change::Gone { scope: scope.clone(), id: *id },
                Some(stored) if keys.contains(id) => {
                    let (memory, keys) = (Box::new(stored.memory.clone()), stored.keys.to_vec());
                    Change::Put { memory, cues: stored.cues, keys }
                }
                Some(stored) => Change::Refreshed(Box::new(stored.memory.clone()), stored.cues),
            });
        }
        changes.reverse();
        Ok(Some(changes))
    }

    fn build(&self, scope: &Scope) -> Result<ScopeIndex> {
        let mut index = ScopeIndex::new(self.embedder.as_ref().map_or(1, |embedder| embedder.dimensions));
        let ids = self.readers.get(scope);
        index.reserve(ids.map_or(0, BTreeSet::len));
        for id in ids.into_iter().flatten() {
            if let Some(Stored { memory, cues, keys, .. }) = self.memories.get(id) {
                index.put(&Indexed { memory, cues: *cues, keys });
            }
        }
        Ok(index)
    }
}
