//! The terms of an index and their numbers, all texts in one allocation: an index of a few memories has hundreds of
//! terms, and there may be thousands of such indexes.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::LazyLock,
};

/// Given in order, from 0.
pub(super) type TermNumber = u32;

const EMPTY: u32 = u32::MAX;
const FEWEST_SLOTS: usize = 16;

/// Terms by their texts, in an open table with linear steps.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    texts: Vec<u8>,
    /// Where the text of each term ends.
    ends: Vec<u32>,
    /// A power of two of them, or none; at most three quarters are taken.
    slots: Vec<Slot>,
    state: QuickState,
}

/// The hash beside the number tells off nearly all that are other terms, without a look at their texts.
#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u32,
    number: u32,
}

impl Dictionary {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn find(&self, text: &[u8]) -> Option<TermNumber> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots.get(self.slot(text, self.hash(text))).map(|slot| slot.number).filter(|number| *number != EMPTY)
    }

    /// The number of a term, a new one if it has none; `None` where there is no room for more.
    pub(super) fn number(&mut self, text: &[u8]) -> Option<TermNumber> {
        if 4 * (self.ends.len() + 1) > 3 * self.slots.len() {
            self.rehash((2 * self.slots.len()).max(FEWEST_SLOTS));
        }
        let hash = self.hash(text);
        let at = self.slot(text, hash);
        let found = self.slots.get(at).map(|slot| slot.number)?;
        if found != EMPTY {
            return Some(found);
        }
        let number = u32::try_from(self.ends.len()).ok().filter(|number| *number != EMPTY)?;
        let end = u32::try_from(self.texts.len() + text.len()).ok()?;
        self.texts.extend_from_slice(text);
        self.ends.push(end);
        *self.slots.get_mut(at)? = Slot { hash, number };
        Some(number)
    }

    #[inline]
    fn hash(&self, text: &[u8]) -> u32 {
        let mut hasher = self.state.build_hasher();
        hasher.write(text);
        // The upper half.
        (hasher.finish() >> 32) as u32
    }

    /// The slot of this text, or the empty one where it belongs.
    fn slot(&self, text: &[u8], hash: u32) -> usize {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get(at) {
            if slot.number == EMPTY || (slot.hash == hash && self.text(slot.number) == text) {
                break;
            }
            at = (at + 1) & mask;
        }
        at
    }

    fn text(&self, number: TermNumber) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(number).copied().unwrap_or(start);
        self.texts.get(start as usize..end as usize).unwrap_or_default()
    }

    fn rehash(&mut self, size: usize) {
        let old = std::mem::replace(&mut self.slots, vec![Slot { hash: 0, number: EMPTY }; size]);
        let mask = size.wrapping_sub(1);
        for kept in old.into_iter().filter(|slot| slot.number != EMPTY) {
            let mut at = kept.hash as usize & mask;
            while self.slots.get(at).is_some_and(|slot| slot.number != EMPTY) {
                at = (at + 1) & mask;
            }
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = kept;
            }
        }
    }

    pub(super) fn shrink(&mut self) {
        self.texts.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        self.texts.capacity() + 4 * self.ends.capacity() + size_of::<Slot>() * self.slots.capacity()
    }
}

/// Two numbers of this process: whoever writes memories cannot know which terms fall together.
static SECRET: LazyLock<[u64; 2]> =
    LazyLock::new(|| [0_u64, 1].map(|number| RandomState::new().hash_one(number) | 1 << 63 | 1));

/// A quick hash for maps of one process: 8 bytes at a time are multiplied with a secret, and the halves of the product
/// folded.
///
/// # Source
/// The construction of wyhash (Wang Yi) and its kin; a few bytes are hashed in a third of the time that SipHash takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuickHasher {
    state: u64,
    secret: u64,
}

impl QuickHasher {
    #[inline]
    fn fold(&mut self, number: u64) {
        let product = u128::from(self.state ^ number) * u128::from(self.secret);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let folded = product as u64 ^ (product >> 64) as u64;
        self.state = folded;
    }
}

impl Hasher for QuickHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<8>();
        for chunk in whole {
            self.fold(u64::from_le_bytes(*chunk));
        }
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(last, byte)| *last = *byte);
        // The length too, or zeros at the end would not count.
        self.fold(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.fold(u64::from(number));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.fold(u64::from(number));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.fold(number);
    }

    #[inline]
    fn finish(&self) -> u64 {
        let mut last = *self;
        last.fold(self.secret);
        last.state
    }
}

/// Makes [`QuickHasher`]s.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuickState(QuickHasher);

impl Default for QuickState {
    fn default() -> Self {
        let [state, secret] = *SECRET;
        Self(QuickHasher { state, secret })
    }
}

impl BuildHasher for QuickState {
    type Hasher = QuickHasher;

    #[inline]
    fn build_hasher(&self) -> QuickHasher {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_given_once_and_in_order(texts in vec("[a-c\u{0}]{0,12}", 0..200)) {
            let (mut dictionary, mut plain) = (Dictionary::default(), HashMap::new());
            for text in &texts {
                let next = u32::try_from(plain.len()).unwrap_or(EMPTY);
                let number = *plain.entry(text.as_bytes()).or_insert(next);
                assert_eq!(dictionary.number(text.as_bytes()), Some(number));
            }
            dictionary.shrink();
            for (text, number) in &plain {
                assert_eq!(dictionary.find(text), Some(*number));
            }
            assert_eq!((dictionary.len(), dictionary.find(b"never put in")), (plain.len(), None));
        }
    }

    #[test]
    fn ends_of_zeros_are_told_apart() {
        let hashes = [&b"a"[..], b"a\0", b"a\0\0", b"", b"\0\0\0\0\0\0\0\0", b"\0\0\0\0\0\0\0"]
            .map(|text| Dictionary::default().hash(text));
        let distinct: std::collections::HashSet<u32> = hashes.into_iter().collect();
        assert_eq!(distinct.len(), hashes.len());
    }
}
