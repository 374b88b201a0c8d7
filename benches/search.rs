//! How long a search takes as one scope grows, and what the dense part of it costs next to the least it could: a plain
//! pass of dot products over the same bytes, measured in the same run. Seeded and offline; compare the ratios, since
//! the machine's speed cancels out of them.
//!
//! `cargo bench --bench search [-- LARGEST]` (default 100000 memories)

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and a failing step ends it")]

mod made_up;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use ingrain::{InMemoryStore, MemoryEngine, NewMemory, Scope, SearchMode, SearchRequest, SqliteStore, VectorStore};
use made_up::Words;

const DIMENSIONS: usize = 128;
const ROUNDS: usize = 31;

#[tokio::main]
async fn main() {
    let largest: usize = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(100_000);
    println!("store      memories   hybrid      keyword     vector      roofline    vector/roofline  cold");
    for size in [1_000, 10_000, 100_000, 1_000_000] {
        if size > largest {
            break;
        }
        run("in_memory", InMemoryStore::new(), size).await;
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::builder(folder.path().join("memory.db")).cache_bytes(4 << 30).open().await.unwrap();
        run("sqlite", store, size).await;
    }
}

async fn run(name: &str, store: impl VectorStore, size: usize) {
    let memory = MemoryEngine::builder().store(store).build().await.unwrap();
    let scope = Scope::user("bench");
    let mut words = Words::new(size as u64);
    for start in (0..size).step_by(10_000) {
        let count = (size - start).min(10_000);
        let batch: Vec<NewMemory> = (0..count).map(|_| NewMemory::new(words.sentence())).collect();
        memory.add_raw(&scope, batch).await.unwrap();
    }
    let queries: Vec<String> = (0..ROUNDS).map(|_| words.sentence()).collect();
    let start = Instant::now();
    memory.search(&scope, "the first search builds the index").await.unwrap();
    let cold = start.elapsed();

    let mut times = [const { Vec::new() }; 3];
    for query in &queries {
        for (times, mode) in times.iter_mut().zip([SearchMode::Hybrid, SearchMode::Keyword, SearchMode::Vector]) {
            let start = Instant::now();
            black_box(memory.search(&scope, SearchRequest::new(query).mode(mode)).await.unwrap());
            times.push(start.elapsed());
        }
    }
    let [hybrid, keyword, vector] = times.map(median);
    let roofline = roofline(size);
    println!(
        "{name:<10} {size:>8}   {hybrid:<9.3?}   {keyword:<9.3?}   {vector:<9.3?}   {roofline:<9.3?}   {:<15.2}  {cold:.3?}",
        vector.as_secs_f64() / roofline.as_secs_f64()
    );
}

/// One pass of dot products over as many f32 numbers as the index holds.
fn roofline(size: usize) -> Duration {
    let matrix: Vec<f32> = (0..size * DIMENSIONS).map(|number| (number % 251) as f32).collect();
    let query: Vec<f32> = (0..DIMENSIONS).map(|number| number as f32).collect();
    let pass = |_| {
        let start = Instant::now();
        let best = matrix.chunks_exact(DIMENSIONS).map(|row| ingrain::score::similarity::dot(row, &query));
        black_box(best.fold(f32::MIN, f32::max));
        start.elapsed()
    };
    median((0..ROUNDS).map(pass).collect())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
