//! How long a search takes as one scope grows, and what the vector arm of a store costs next to the least it could: one
//! plain pass of dot products over the bytes it reads, measured in the same run. Seeded and offline; compare the
//! ratios, since the machine's speed cancels out of them.
//!
//! `hybrid` and `keyword` are whole searches, the embedding of the query included; `vector` is the vector arm of the
//! store alone, up to its candidates. `codes` and `f32` are the plain passes over one byte and over four bytes a
//! number. `cold` is the first search, which builds the index. Of each a tenth of the rounds took less: on a machine
//! that does other things too, the median tells what those are.
//!
//! `cargo bench --bench search [-- --large]` (up to 100,000 memories, or 1,000,000)

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and a failing step ends it")]

mod made_up;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use ingrain::{
    Durability, EmbedderExt, InMemoryStore, MemoryEngine, Purpose, Scope, SearchMode, SearchQuery, SearchRequest,
    SqliteStore, StaticEmbedder, Timestamp, VectorStore,
};
use made_up::{Words, fill, large, quiet, resident, timed};

const DIMENSIONS: usize = 128;
const ROUNDS: usize = 31;
/// Turns of one session.
const SESSION: usize = 25;

#[tokio::main]
async fn main() {
    println!(
        "store      memories   hybrid     keyword    vector     codes      ratio  f32        ratio  cold       bytes each"
    );
    for size in [1_000, 10_000, 100_000, 1_000_000] {
        if size > 100_000 && !large() {
            break;
        }
        run("in_memory", InMemoryStore::new(), size).await;
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::builder(folder.path().join("memory.db"));
        let store = store.cache_bytes(4 << 30).durability(Durability::Normal).open().await.unwrap();
        run("sqlite", store, size).await;
    }
}

async fn run(name: &str, store: impl VectorStore + Clone, size: usize) {
    let mut words = Words::new(size as u64);
    let session = |number: usize| Scope::user("bench").with_session((number / SESSION).to_string());
    fill(&store, &mut words, size, session).await;
    let memory = MemoryEngine::builder().store(store.clone()).build().await.unwrap();
    let scope = Scope::user("bench");
    let before = resident();
    let cold = timed(memory.search(&scope, "the first search builds the index")).await;
    let bytes = before.zip(resident()).map(|(before, after)| after.saturating_sub(before) / size);

    let [mut hybrid, mut keyword, mut vector, mut codes, mut floats] = [const { Vec::new() }; 5];
    let roofline = Roofline::new(size);
    for _ in 0..ROUNDS {
        let query = words.sentence();
        hybrid.push(timed(memory.search(&scope, &query)).await);
        keyword.push(timed(memory.search(&scope, SearchRequest::new(&query).mode(SearchMode::Keyword))).await);
        let embedded = StaticEmbedder::builtin().embed_one(&query, Purpose::Query).await.unwrap();
        let query = SearchQuery::new(scope.clone(), Timestamp::from_timestamp(1_750_000_000, 0).unwrap());
        vector.push(timed(store.search(&query.near(embedded))).await);
        // In turn with what they are compared with, so that all see the machine alike.
        codes.push(roofline.codes());
        floats.push(roofline.floats());
    }
    let [hybrid, keyword, vector, codes, floats] = [hybrid, keyword, vector, codes, floats].map(quiet);
    let ratio = |roofline: Duration| vector.as_secs_f64() / roofline.as_secs_f64();
    println!(
        "{name:<10} {size:>8}   {hybrid:<10.3?} {keyword:<10.3?} {vector:<10.3?} {codes:<10.3?} {:<6.2} {floats:<10.3?} {:<6.2} {cold:<10.3?} {}",
        ratio(codes),
        ratio(floats),
        bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string()),
    );
}

/// The same numbers once as bytes and once as f32, and a vector to multiply them with.
struct Roofline {
    bytes: Vec<u8>,
    floats: Vec<f32>,
}

impl Roofline {
    fn new(size: usize) -> Self {
        let bytes: Vec<u8> = (0..size * DIMENSIONS).map(|number| (number % 251) as u8).collect();
        Self { floats: bytes.iter().map(|byte| f32::from(*byte)).collect(), bytes }
    }

    fn codes(&self) -> Duration {
        let query: Vec<i16> = (0_i16..).take(DIMENSIONS).collect();
        let (query, _) = query.as_chunks::<32>();
        let start = Instant::now();
        let best = self.bytes.chunks_exact(DIMENSIONS).map(|row| {
            let blocks = row.as_chunks::<32>().0.iter().zip(query).map(|(codes, numbers)| {
                let products = codes.iter().zip(numbers).map(|(code, number)| i32::from(*code) * i32::from(*number));
                products.sum::<i32>()
            });
            blocks.sum::<i32>()
        });
        black_box(best.max());
        start.elapsed()
    }

    fn floats(&self) -> Duration {
        let query: Vec<f32> = (0..DIMENSIONS).map(|number| number as f32).collect();
        let start = Instant::now();
        let best = self.floats.chunks_exact(DIMENSIONS).map(|row| ingrain::score::similarity::dot(row, &query));
        black_box(best.fold(f32::MIN, f32::max));
        start.elapsed()
    }
}
