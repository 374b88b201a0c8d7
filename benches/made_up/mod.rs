//! Made-up sentences from a seed: words of made-up frequency, by Zipf's law.

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
