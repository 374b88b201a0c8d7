//! Cues in bytes, so that a store can keep them beside a memory and does not read its text for every index.

#[cfg(feature = "sqlite")]
use std::sync::LazyLock;

use crate::{WriteBatch, cues::Cues};

/// The cues of all memories of a batch, in order: for stores to read before they take their locks.
pub(crate) fn cues_of_batch(batch: &WriteBatch) -> Vec<Cues> {
    batch.puts.iter().map(|put| Cues::of(&put.memory.text)).collect()
}

/// Raise it when the same tables give other cues for texts that the samples of the terms do not have.
#[cfg(feature = "sqlite")]
const RULES: u64 = 1;

#[cfg(feature = "sqlite")]
static FINGERPRINT: LazyLock<u32> = LazyLock::new(|| {
    use crate::score::stable_hash::{StableHash, halves};
    let hash = crate::cues::tables().fold(StableHash::new(RULES), StableHash::text);
    let samples = super::terms::SAMPLES.iter().map(|text| format!("{:?}", Cues::of(text)));
    halves(samples.fold(hash, |hash, cues| hash.text(&cues)).finish()).0
});

#[cfg(feature = "sqlite")]
const TELLS_TIME: u8 = 1;
#[cfg(feature = "sqlite")]
const TELLS_NUMBER: u8 = 2;
#[cfg(feature = "sqlite")]
const TELLS_CHANGE: u8 = 4;

/// ```text
/// fingerprint: u32 · asks: f32 · words: u32 · what it tells: u8
/// ```
///
/// Numbers are little-endian.
#[cfg(feature = "sqlite")]
pub(crate) fn packed_cues(cues: Cues) -> [u8; 13] {
    let Cues { asks, words, tells_time, tells_number, tells_change } = cues;
    let bit = |told: bool, bit: u8| if told { bit } else { 0 };
    let told = bit(tells_time, TELLS_TIME) | bit(tells_number, TELLS_NUMBER) | bit(tells_change, TELLS_CHANGE);
    let [[a, b, c, d], [e, f, g, h], [i, j, k, l]] =
        [FINGERPRINT.to_le_bytes(), asks.to_le_bytes(), words.to_le_bytes()];
    [a, b, c, d, e, f, g, h, i, j, k, l, told]
}

/// Cues that were kept; `None` for those read by other rules, and for damaged ones: they are to be read anew from the
/// text.
#[cfg(feature = "sqlite")]
pub(crate) fn kept_cues(bytes: &[u8]) -> Option<Cues> {
    let (numbers, [told]) = bytes.as_chunks::<4>() else { return None };
    let [fingerprint, asks, words] = numbers else { return None };
    let asks = f32::from_le_bytes(*asks);
    let sound = u32::from_le_bytes(*fingerprint) == *FINGERPRINT && (0.0..=1.0).contains(&asks);
    sound.then(|| Cues {
        asks,
        words: u32::from_le_bytes(*words),
        tells_time: told & TELLS_TIME != 0,
        tells_number: told & TELLS_NUMBER != 0,
        tells_change: told & TELLS_CHANGE != 0,
    })
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;

    #[test]
    fn cues_come_back_as_they_were_and_those_of_other_rules_do_not() {
        for text in super::super::terms::SAMPLES.into_iter().chain(["", "Since when? I moved twice. Now there are 7."])
        {
            let packed = packed_cues(Cues::of(text));
            assert_eq!(kept_cues(&packed), Some(Cues::of(text)), "{text}");
            let mut other = packed;
            other[0] ^= 1;
            assert_eq!((kept_cues(&other), kept_cues(&packed[..12]), kept_cues(&[])), (None, None, None));
        }
    }
}
