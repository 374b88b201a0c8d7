//! An embedder without any model: texts are alike if they share letters.

use unicode_normalization::UnicodeNormalization;

use crate::score::{
    similarity::normalize,
    stable_hash::{StableHash, halves},
};

const LONGEST_PART: usize = 3;

/// Turns a text into counts of its character n-grams (one to three characters), hashed
/// into a fixed number of dimensions. Made for tests: quick and equal everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashingTable {
    dimensions: usize,
}

impl HashingTable {
    /// An embedder with vectors of this length, which is at least one.
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions: dimensions.max(1) }
    }

    /// Length of the vectors.
    #[must_use]
    pub fn dimensions(self) -> usize {
        self.dimensions
    }

    /// The vector of a text, of length one; an empty text gives zeros only.
    ///
    /// Texts are compared as they are, but for the way accents are encoded.
    #[must_use]
    pub fn embed(self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimensions];
        let mut recent: [Option<char>; LONGEST_PART] = [None; LONGEST_PART];
        for character in text.nfc() {
            recent.rotate_left(1);
            if let Some(last) = recent.last_mut() {
                *last = Some(character);
            }
            // Each n-gram ends at this character; reading it backwards needs no buffer.
            let mut hash = StableHash::new(0);
            for part in recent.iter().rev().map_while(|&character| character) {
                hash = hash.character(part);
                add(&mut sum, hash.finish());
            }
        }
        normalize(&mut sum);
        // Opposite signs may cancel out; such a text must not pass for an empty one.
        if sum.iter().all(|&value| value == 0.0) && !text.is_empty() {
            add(&mut sum, StableHash::new(1).text(text).finish());
        }
        sum
    }
}

fn add(sum: &mut [f32], hash: u64) {
    let (high, low) = halves(hash);
    // A multiplication maps the hash to a bucket with less bias than a remainder.
    let bucket = (u128::from(low) * sum.len() as u128) >> 32;
    let value = usize::try_from(bucket).ok().and_then(|bucket| sum.get_mut(bucket));
    if let Some(value) = value {
        *value += if high & 1 == 0 { 1.0 } else { -1.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::similarity::dot;

    #[test]
    fn hashing_is_pure() {
        let hashing = HashingTable::new(64);
        let (left, right) = (hashing.embed("Caf\u{e9} 12"), hashing.embed("Cafe\u{301} 12"));
        assert_eq!(left, right);
        assert!((dot(&left, &right) - 1.0).abs() < 1e-6);
        assert!(dot(&left, &hashing.embed("Xyz!")).abs() < 0.6);
        assert_eq!(hashing.embed(""), vec![0.0; 64]);
        assert_eq!(HashingTable::new(0).embed("ab").len(), 1);
    }
}
