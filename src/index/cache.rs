use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use super::{AnalysedKey, Indexed, ScopeIndex, search::Scratch};
use crate::{
    Candidate, EmbedderIdentity, Error, ErrorKind, Memory, MemoryId, Result, Scope, SearchQuery, Timestamp, Version,
    cues::Cues,
};

/// What the cache itself takes for an index: its scope twice, its places in two maps.
const HELD: usize = 512;

/// Rooms for scores that are kept while nobody searches.
const IDLE_SCRATCHES: usize = 4;

/// What became of one memory.
#[derive(Debug)]
pub(crate) enum Change {
    /// It was stored or got new keys.
    Put {
        /// Its present state.
        memory: Box<Memory>,
        /// Of its text.
        cues: Cues,
        /// Its present keys.
        keys: Vec<AnalysedKey>,
    },
    /// It changed, its keys did not; and the cues of its text.
    Refreshed(Box<Memory>, Cues),
    /// It is gone.
    Gone {
        /// Where it was.
        scope: Scope,
        /// Which it was.
        id: MemoryId,
    },
}

/// What an index has, to be held against what it is of.
#[derive(Debug)]
pub(crate) enum Compared {
    /// By id.
    Marks(Vec<(MemoryId, IndexMark)>),
    /// It is not held, or at another version than was asked of.
    Elsewhere,
}

/// By what it is known whether an index has the present state of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexMark {
    pub(crate) updated_at: Timestamp,
    pub(crate) access_count: u64,
    pub(crate) invalid_at: Option<Timestamp>,
    pub(crate) keys: usize,
}

/// An index that searches read while the cache goes on.
pub(crate) type SharedIndex = Arc<RwLock<ScopeIndex>>;

/// The indexes of the scopes that were asked last, as many as fit.
///
/// All of them are at one version of the store, but for those that came in late. Before each search the store hands
/// over what changed since; that is the one way writes reach an index, whoever made them.
///
/// When a scope's index alone is larger than the limit, it is built all the same and is the only one that is kept.
#[derive(Debug)]
pub(crate) struct IndexCache {
    limit: usize,
    state: Mutex<State>,
    scratches: Mutex<Vec<Scratch>>,
}

#[derive(Debug, Default)]
struct State {
    limit: usize,
    version: Version,
    /// Whose vectors all indexes hold.
    embedder: Option<EmbedderIdentity>,
    /// The version of an index that came in late: all changes after it are handed out once more, which is harmless,
    /// since a change carries the present state and not a step.
    lagging: Option<Version>,
    held: HashMap<Scope, Held>,
    /// The held scopes by when they were used last.
    order: BTreeMap<u64, Scope>,
    bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct Held {
    index: SharedIndex,
    bytes: usize,
    used: u64,
    /// The version it is at, if that is an earlier one than the cache's: it came in late.
    late: Option<Version>,
}

/// Reads a store for the cache. All reads of one value see the same version.
pub(crate) trait IndexSource {
    /// The version that is read.
    fn version(&self) -> Result<Version>;
    /// The embedder that the store is bound to at that version. With another one it has forgotten all changes before.
    fn embedder(&self) -> Option<&EmbedderIdentity>;
    /// The changes after `since`, oldest first; `None` when they are no longer known, or too many to be worth it.
    fn changes(&self, since: Version) -> Result<Option<Vec<Change>>>;
    /// Builds the index of a scope.
    fn build(&self, scope: &Scope) -> Result<ScopeIndex>;
}

impl IndexCache {
    /// A cache that holds at most `limit` bytes, and always the index that was asked last.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, state: Mutex::new(State { limit, ..State::default() }), scratches: Mutex::default() }
    }

    /// The index of `scope`, at the version of `source` or a later one.
    pub(crate) fn index(&self, scope: &Scope, source: &impl IndexSource) -> Result<SharedIndex> {
        let version = source.version()?;
        {
            let mut state = self.lock();
            if state.catch_up(source)?
                && let Some(index) = state.touch(scope, version)
            {
                return Ok(index);
            }
        }
        // Built without the lock, so that a large scope does not hold up the others.
        let mut built = source.build(scope)?;
        built.shrink();
        let mut state = self.lock();
        // What another has built meanwhile is as good, unless he saw the store before a write that this reader knows
        // of.
        if !state.catch_up(source)? {
            // A reader from before the embedder changed: his query fits no index but this one, and nobody else's does.
            return Ok(Arc::new(RwLock::new(built)));
        }
        if let Some(index) = state.touch(scope, version) {
            return Ok(index);
        }
        Ok(state.keep(scope, built, version))
    }

    /// The candidates of a query in the index of its scope.
    pub(crate) fn search(&self, index: &SharedIndex, query: &SearchQuery) -> Result<Vec<Candidate>> {
        let idle = || self.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = idle().pop().unwrap_or_default();
        let candidates = {
            // No other lock is taken under this one: whoever catches up holds the state while it waits for an index.
            let index = index.read();
            let index = index.map_err(|_| Error::new(ErrorKind::Internal, "an index was left half changed"))?;
            index.search(query, &mut scratch)
        };
        let mut idle = idle();
        // A large scope leaves large room, which goes where the limit has too little for both.
        if idle.len() < IDLE_SCRATCHES && scratch.bytes() <= self.limit / 8 {
            idle.push(scratch);
        }
        Ok(candidates)
    }

    /// The scopes whose indexes are held.
    pub(crate) fn held(&self) -> Vec<Scope> {
        self.lock().held.keys().cloned().collect()
    }

    /// Drops all indexes: they are built anew when they are asked for.
    pub(crate) fn forget(&self) {
        self.lock().forget();
    }

    /// What the held index of a scope has, caught up with `source`.
    pub(crate) fn marks(&self, scope: &Scope, source: &impl IndexSource) -> Result<Compared> {
        let mut state = self.lock();
        state.catch_up(source)?;
        let version = source.version()?;
        let held = state.held.get(scope).filter(|held| state.version == version && held.late.is_none());
        Ok(held.map_or(Compared::Elsewhere, |held| {
            Compared::Marks(held.index.read().unwrap_or_else(PoisonError::into_inner).marks())
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| {
            // A panic midway may have left indexes half changed: they are built anew.
            self.state.clear_poison();
            let mut state = PoisonError::into_inner(poisoned);
            state.forget();
            state
        })
    }
}

impl State {
    fn forget(&mut self) {
        self.held.clear();
        self.order.clear();
        self.bytes = 0;
        self.lagging = None;
    }

    /// Takes over what changed. `false` for a source from before the embedder changed, which no index here serves.
    fn catch_up(&mut self, source: &impl IndexSource) -> Result<bool> {
        let version = source.version()?;
        if self.embedder.as_ref() != source.embedder() {
            if version < self.version {
                return Ok(false);
            }
            self.forget();
            self.embedder = source.embedder().cloned();
            self.version = version;
            return Ok(true);
        }
        // A reader whose transaction is older than the cache finds the newer state, which is fine: it only must not
        // take the cache back.
        if version < self.version || (version == self.version && self.lagging.is_none()) {
            return Ok(true);
        }
        if !self.held.is_empty() {
            let since = self.lagging.unwrap_or(self.version);
            match source.changes(since)? {
                Some(changes) => changes.iter().for_each(|change| self.apply(change)),
                None => self.forget(),
            }
        }
        self.lagging = None;
        self.held.values_mut().for_each(|held| held.late = None);
        self.version = version;
        self.evict();
        Ok(true)
    }

    fn keep(&mut self, scope: &Scope, built: ScopeIndex, version: Version) -> SharedIndex {
        // Others may have moved the cache on while this index was built.
        let late = (version < self.version).then_some(version);
        if late.is_some() {
            self.lagging = Some(self.lagging.map_or(version, |lagging| lagging.min(version)));
        }
        if let Some(earlier) = self.held.remove(scope) {
            self.bytes = self.bytes.saturating_sub(earlier.bytes);
            self.order.remove(&earlier.used);
        }
        let bytes = built.bytes() + HELD;
        let index = Arc::new(RwLock::new(built));
        self.clock += 1;
        self.bytes += bytes;
        self.order.insert(self.clock, scope.clone());
        self.held.insert(scope.clone(), Held { index: Arc::clone(&index), bytes, used: self.clock, late });
        self.evict();
        index
    }

    fn apply(&mut self, change: &Change) {
        let scope = match change {
            Change::Put { memory, .. } | Change::Refreshed(memory, _) => &memory.scope,
            Change::Gone { scope, .. } => scope,
        };
        for reader in scope.readers() {
            let Some(held) = self.held.get_mut(&reader) else { continue };
            let (bytes, keep) = {
                let mut index = held.index.write().unwrap_or_else(PoisonError::into_inner);
                let known = match change {
                    Change::Put { memory, cues, keys } => {
                        index.put(&Indexed { memory, cues: *cues, keys });
                        true
                    }
                    Change::Refreshed(memory, cues) => index.refresh(memory, *cues),
                    Change::Gone { id, .. } => {
                        index.remove(*id);
                        true
                    }
                };
                (index.bytes() + HELD, known && !index.is_stale())
            };
            self.bytes = self.bytes.saturating_sub(held.bytes);
            if keep {
                held.bytes = bytes;
                self.bytes += bytes;
            } else {
                self.order.remove(&held.used);
                self.held.remove(&reader);
            }
        }
    }

    /// The index of a scope, if it is at this version or a later one.
    fn touch(&mut self, scope: &Scope, version: Version) -> Option<SharedIndex> {
        self.clock += 1;
        let held = self.held.get_mut(scope).filter(|held| held.late.is_none_or(|late| late >= version))?;
        if let Some(scope) = self.order.remove(&held.used) {
            self.order.insert(self.clock, scope);
        }
        held.used = self.clock;
        Some(Arc::clone(&held.index))
    }

    fn evict(&mut self) {
        while self.bytes > self.limit && self.held.len() > 1 {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            let Some(held) = self.held.remove(&oldest) else { break };
            self.bytes = self.bytes.saturating_sub(held.bytes);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failing step is a failing test")]
mod tests;
