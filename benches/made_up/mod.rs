//! Made-up sentences from a seed: words of made-up frequency, by Zipf's law. And what the benches share.

#![allow(dead_code, clippy::unwrap_used, reason = "each bench uses a part of it, and a failing step ends it")]

use std::time::{Duration, Instant};

use ingrain::{
    Embedder, IdSource, IndexKey, Memory, MemoryKind, Purpose, Put, Scope, StaticEmbedder, Timestamp, VectorStore,
    WriteBatch,
};

/// A source of sentences; equal seeds give equal sentences.
pub struct Words(u64);

const VOCABULARY: f64 = 20_000.0;
const SYLLABLES: [&str; 24] = [
    "ka", "ri", "to", "men", "sol", "va", "ne", "dor", "lu", "pi", "gan", "te", "mir", "os", "bel", "fa", "hu", "ren",
    "sha", "wo", "zi", "cla", "bro", "ten",
];

impl Words {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Five to twenty words.
    pub fn sentence(&mut self) -> String {
        let count = 5 + self.next() % 16;
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    fn word(&mut self) -> String {
        // The inverse of Zipf's distribution: rank r is drawn about 1/r of the time.
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut rank = VOCABULARY.powf(share) as usize;
        let mut word = String::new();
        loop {
            word.push_str(SYLLABLES.get(rank % SYLLABLES.len()).copied().unwrap_or_default());
            rank /= SYLLABLES.len();
            if rank == 0 {
                return word;
            }
        }
    }

    /// xorshift64*
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Stores this many turns in batches, each in the scope that `scope` gives for its number.
pub async fn fill(store: &impl VectorStore, words: &mut Words, count: usize, scope: impl Fn(usize) -> Scope) {
    const BATCH: usize = 10_000;
    let embedder = StaticEmbedder::builtin();
    store.bind(&embedder.identity()).await.unwrap();
    let ids = IdSource::default();
    let now = Timestamp::from_timestamp(1_750_000_000, 0).unwrap();
    for start in (0..count).step_by(BATCH) {
        let texts: Vec<String> = (start..count.min(start + BATCH)).map(|_| words.sentence()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = embedder.embed(&texts, Purpose::Document).await.unwrap();
        let mut batch = WriteBatch::default();
        batch.puts.extend((start..).zip(texts).zip(vectors).map(|((number, text), vector)| {
            let mut memory = Memory::new(ids.next(now), scope(number), text, now);
            memory.kind = MemoryKind::Episode;
            Put::new(memory, vec![IndexKey::new(text, vector)])
        }));
        store.apply(batch).await.unwrap();
    }
}

/// How long it takes.
pub async fn timed<T>(work: impl Future<Output = T>) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work.await);
    start.elapsed()
}

/// The time that a tenth of the rounds stayed below: what the work takes while nothing else wants the processor.
pub fn quiet(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 10).copied().unwrap_or_default()
}

pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Bytes that the process has in memory, where the system says so.
pub fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Whether the bench was asked for the sizes that take minutes.
pub fn large() -> bool {
    std::env::args().any(|argument| argument == "--large")
}
