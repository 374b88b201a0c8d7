use std::cell::Cell;

use super::*;
use crate::{Timestamp, Validity, index::Terms};

/// A store of one change: memory number `n` was stored at version `n`.
struct Counting {
    version: Version,
    embedder: EmbedderIdentity,
    scope: Scope,
    builds: Cell<u32>,
    /// Runs while an index is built.
    meanwhile: Option<Box<dyn Fn()>>,
}

fn memory(scope: &Scope, number: u64) -> (Memory, Vec<AnalysedKey>) {
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    let memory = Memory::new(MemoryId::from_bytes(bytes), scope.clone(), format!("number {number}"), at());
    (memory, vec![AnalysedKey { terms: Terms::of("number"), vector: vec![1.0, 0.0] }])
}

fn at() -> Timestamp {
    Timestamp::from_timestamp(1_739_174_400, 0).unwrap()
}

impl IndexSource for Counting {
    fn version(&self) -> Result<Version> {
        Ok(self.version)
    }

    fn embedder(&self) -> Option<&EmbedderIdentity> {
        Some(&self.embedder)
    }

    fn changes(&self, since: Version) -> Result<Option<Vec<Change>>> {
        let changes = (since.0 + 1..=self.version.0).map(|number| {
            let (memory, keys) = memory(&self.scope, number);
            Change::Put { memory: Box::new(memory), cues: Cues::default(), keys }
        });
        Ok(Some(changes.collect()))
    }

    fn build(&self, scope: &Scope) -> Result<ScopeIndex> {
        self.builds.set(self.builds.get() + 1);
        let mut index = ScopeIndex::new(2);
        for number in 1..=self.version.0 {
            let (memory, keys) = memory(&self.scope, number);
            if scope.covers(&memory.scope) {
                index.put(&Indexed { memory: &memory, cues: Cues::default(), keys: &keys });
            }
        }
        if let Some(meanwhile) = &self.meanwhile {
            meanwhile();
        }
        Ok(index)
    }
}

fn source(version: u64) -> Counting {
    let embedder = EmbedderIdentity::new("first", 2);
    Counting { version: Version(version), embedder, scope: Scope::user("a"), builds: Cell::new(0), meanwhile: None }
}

fn by_another(version: u64) -> Counting {
    Counting { embedder: EmbedderIdentity::new("second", 2), ..source(version) }
}

fn found(cache: &IndexCache, source: &Counting) -> usize {
    let index = cache.index(&Scope::user("a"), source).unwrap();
    let query = SearchQuery::new(Scope::user("a"), at()).validity(Validity::Any).words("number");
    cache.search(&index, &query).unwrap().len()
}

#[test]
fn an_index_follows_the_store_without_being_built_again() {
    let cache = IndexCache::new(usize::MAX);
    assert_eq!(found(&cache, &source(3)), 3);
    let later = source(5);
    assert_eq!((found(&cache, &later), later.builds.get()), (5, 0));
    let earlier = source(4);
    assert_eq!((found(&cache, &earlier), earlier.builds.get()), (5, 0));
}

#[test]
fn an_index_that_comes_in_late_catches_up() {
    let cache = Arc::new(IndexCache::new(usize::MAX));
    let other = Arc::clone(&cache);
    let mut slow = source(2);
    slow.meanwhile = Some(Box::new(move || {
        other.index(&Scope::user("b"), &source(6)).unwrap();
    }));
    assert_eq!(found(&cache, &slow), 2);
    let later = source(6);
    assert_eq!((found(&cache, &later), later.builds.get()), (6, 0));
}

#[test]
fn an_index_of_an_earlier_reader_does_not_stand_in_for_a_later_one() {
    let cache = Arc::new(IndexCache::new(usize::MAX));
    let other = Arc::clone(&cache);
    let mut later = source(6);
    // Sees the store as it was before, and is the first to have built an index.
    later.meanwhile = Some(Box::new(move || {
        let earlier = source(5);
        assert_eq!((found(&other, &earlier), earlier.builds.get()), (5, 1));
    }));
    assert_eq!((found(&cache, &later), later.builds.get()), (6, 1));
    let again = source(6);
    assert_eq!((found(&cache, &again), again.builds.get()), (6, 0));
    assert_eq!(cache.lock().order.len(), 1);
}

#[test]
fn an_index_that_is_too_early_is_built_again() {
    let cache = Arc::new(IndexCache::new(usize::MAX));
    let other = Arc::clone(&cache);
    let mut slow = source(2);
    slow.meanwhile = Some(Box::new(move || {
        other.index(&Scope::user("b"), &source(6)).unwrap();
    }));
    assert_eq!(found(&cache, &slow), 2);
    // Between the late index and the cache: what it asks for is known to neither.
    let between = source(4);
    assert_eq!((found(&cache, &between), between.builds.get()), (4, 1));
    let later = source(7);
    assert_eq!((found(&cache, &later), later.builds.get()), (7, 0));
}

#[test]
fn an_index_serves_only_readers_of_its_embedder() {
    let cache = Arc::new(IndexCache::new(usize::MAX));
    let before = source(3);
    assert_eq!((found(&cache, &before), before.builds.get()), (3, 1));
    let after = by_another(4);
    assert_eq!((found(&cache, &after), after.builds.get()), (4, 1), "built anew, not followed");
    // Still at what it saw when it began: it neither gets the newer index nor leaves its own.
    let late = source(3);
    assert_eq!((found(&cache, &late), late.builds.get()), (3, 1));
    let again = by_another(5);
    assert_eq!((found(&cache, &again), again.builds.get()), (5, 0));
}

#[test]
fn an_index_that_is_built_while_the_embedder_changes_is_not_kept() {
    let cache = Arc::new(IndexCache::new(usize::MAX));
    let other = Arc::clone(&cache);
    let mut slow = source(2);
    slow.meanwhile = Some(Box::new(move || {
        other.index(&Scope::user("b"), &by_another(6)).unwrap();
    }));
    assert_eq!(found(&cache, &slow), 2);
    let after = by_another(6);
    assert_eq!((found(&cache, &after), after.builds.get()), (6, 1));
}

/// A search reads an index while another thread, which holds the state, waits to change it.
#[test]
fn searches_and_changes_never_wait_for_each_other_in_a_circle() {
    let cache = Arc::new(IndexCache::new(usize::MAX));
    let (done, finished) = std::sync::mpsc::channel();
    for _ in 0..4 {
        let (cache, done) = (Arc::clone(&cache), done.clone());
        std::thread::spawn(move || {
            (1..200).for_each(|version| assert!(found(&cache, &source(version)) as u64 >= version.min(100)));
            done.send(()).unwrap();
        });
    }
    for _ in 0..4 {
        finished.recv_timeout(std::time::Duration::from_secs(300)).unwrap();
    }
}

#[test]
fn the_least_used_go_when_the_bytes_are_spent() {
    let cache = IndexCache::new(1);
    let store = source(3);
    for scope in ["a", "b", "a"] {
        cache.index(&Scope::user(scope), &store).unwrap();
    }
    assert_eq!(store.builds.get(), 3);
    let state = cache.lock();
    assert_eq!((state.held.len(), state.order.len()), (1, 1));
}
