//! How many memories a second are stored, one call each and in batches, on each store. Seeded and offline; the last
//! column is the time next to that of the in-memory store in the same run.
//!
//! `cargo bench --bench add`

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and a failing step ends it")]

mod made_up;

use std::time::{Duration, Instant};

use ingrain::{AddMode, AddRequest, Durability, InMemoryStore, MemoryEngine, NewMemory, Scope, SqliteStore};
use made_up::Words;

const ONE_BY_ONE: usize = 500;
const BATCH: usize = 10_000;

#[tokio::main]
async fn main() {
    println!("store            one by one      in a batch of {BATCH}   batch time/in_memory");
    let folder = tempfile::tempdir().unwrap();
    let reference =
        run("in_memory", MemoryEngine::builder().store(InMemoryStore::new()).build().await.unwrap(), None).await;
    for (name, durability) in [("sqlite", Durability::Full), ("sqlite, normal", Durability::Normal)] {
        let store = SqliteStore::builder(folder.path().join(name)).durability(durability).open().await.unwrap();
        run(name, MemoryEngine::builder().store(store).build().await.unwrap(), Some(reference)).await;
    }
}

async fn run(name: &str, memory: MemoryEngine, reference: Option<Duration>) -> Duration {
    let scope = Scope::user("bench");
    let mut words = Words::new(7);
    let start = Instant::now();
    for _ in 0..ONE_BY_ONE {
        memory.add(&scope, AddRequest::from(words.sentence()).mode(AddMode::Raw)).await.unwrap();
    }
    let single = start.elapsed();
    let batch: Vec<NewMemory> = (0..BATCH).map(|_| NewMemory::new(words.sentence())).collect();
    let start = Instant::now();
    memory.add_raw(&scope, batch).await.unwrap();
    let batch = start.elapsed();
    println!(
        "{name:<16} {:>8.0}/s      {:>8.0}/s               {:.2}",
        ONE_BY_ONE as f64 / single.as_secs_f64(),
        BATCH as f64 / batch.as_secs_f64(),
        batch.as_secs_f64() / reference.unwrap_or(batch).as_secs_f64()
    );
    batch
}
