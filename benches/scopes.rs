//! How long opening and searching take when one SQLite file holds the memories of many scopes. Seeded and offline.
//!
//! `open` is a new handle on the full file; `cold` the first search of a scope, which reads its memories; `warm` the
//! next one; `random` a search of any scope, when the indexes of all of them together do not fit the default cache.
//!
//! `cargo bench --bench scopes [-- --large]` (50,000 memories in 500 scopes, or 1,000,000 in 10,000)

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and a failing step ends it")]

mod made_up;

use std::time::Instant;

use ingrain::{Durability, MemoryEngine, Scope, SqliteStore};
use made_up::{Words, fill, large, median, resident, timed};

/// Turns of one scope.
const EACH: usize = 100;
const ROUNDS: usize = 100;

#[tokio::main]
async fn main() {
    let scopes = if large() { 10_000 } else { 500 };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut words = Words::new(scopes as u64);
    // Neighbours in the file are of different scopes, as when many people talk at once.
    let scope = |number: usize| Scope::user(format!("user {}", number % scopes)).with_session("1");
    let start = Instant::now();
    let store = SqliteStore::builder(&path).durability(Durability::Normal).open().await.unwrap();
    fill(&store, &mut words, scopes * EACH, scope).await;
    drop(store);
    let filled = start.elapsed();

    let mut open = Vec::new();
    for _ in 0..9 {
        open.push(timed(SqliteStore::open(&path)).await);
    }
    let memory = MemoryEngine::open(&path).await.unwrap();
    let before = resident();
    let [mut cold, mut warm, mut random] = [const { Vec::new() }; 3];
    for user in 0..ROUNDS {
        let scope = Scope::user(format!("user {}", user * scopes / ROUNDS));
        cold.push(timed(memory.search(&scope, words.sentence())).await);
        warm.push(timed(memory.search(&scope, words.sentence())).await);
    }
    for _ in 0..ROUNDS * 40 {
        let scope = Scope::user(format!("user {}", words.below(scopes)));
        random.push(timed(memory.search(&scope, words.sentence())).await);
    }
    let grown = before.zip(resident()).map_or(0, |(before, after)| after.saturating_sub(before));
    println!("memories   scopes   filled in   open       cold       warm       random     grown by");
    println!(
        "{:<10} {scopes:<8} {filled:<11.1?} {:<10.3?} {:<10.3?} {:<10.3?} {:<10.3?} {} MiB",
        scopes * EACH,
        median(open),
        median(cold),
        median(warm),
        median(random),
        grown >> 20
    );
}
