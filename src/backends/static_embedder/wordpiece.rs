//! Greedy longest-match splitting of words into the pieces of a vocabulary.

use std::borrow::Cow;

#[cfg(test)]
use super::words::for_each_word;
use crate::score::stable_hash::{StableHash, halves};

/// What a piece that continues a word starts with in the vocabulary.
const CONTINUATION: &str = "##";
/// Words longer than this are unknown, as in BERT; it also bounds the work per word.
const LONGEST_WORD: usize = 100;

/// A vocabulary and the index that finds its pieces.
#[derive(Clone, Debug)]
pub struct WordPiece {
    vocabulary: Cow<'static, str>,
    spans: Vec<(u32, u32)>,
    slots: Vec<Slot>,
    longest_piece: usize,
}

/// One place of the open-addressing index; `row` is one more than the row, zero if free.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    tag: u32,
    row: u32,
}

/// Room that splitting needs, kept between words so that no word allocates.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    rows: Vec<u32>,
    prefixes: Vec<(usize, StableHash)>,
}

impl Pieces {
    /// The rows of the pieces of the word split last.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }
}

impl WordPiece {
    /// Indexes a vocabulary of tokens that each end with a line feed.
    ///
    /// Gives `None` if the last token is not ended, a token is empty or one comes twice.
    #[must_use]
    pub fn new(vocabulary: Cow<'static, str>) -> Option<Self> {
        let mut spans = Vec::new();
        let mut longest_piece = 0;
        let mut start = 0;
        for line in vocabulary.split_inclusive('\n') {
            let token = line.strip_suffix('\n').filter(|token| !token.is_empty())?;
            let end = start + token.len();
            spans.push((u32::try_from(start).ok()?, u32::try_from(end).ok()?));
            let piece = token.strip_prefix(CONTINUATION).unwrap_or(token);
            longest_piece = longest_piece.max(piece.chars().count());
            start += line.len();
        }
        let places = (spans.len().max(1) * 2).next_power_of_two();
        let mut index = Self {
            vocabulary,
            spans,
            slots: vec![Slot::default(); places],
            longest_piece: longest_piece.min(LONGEST_WORD),
        };
        index.fill()?;
        Some(index)
    }

    fn fill(&mut self) -> Option<()> {
        for row in 0..u32::try_from(self.spans.len()).ok()? {
            let token = self.token(row)?;
            let hash = StableHash::new(0).text(token);
            let (free, known) = self.probe(hash, |other| other == token);
            if known.is_some() {
                return None;
            }
            let (tag, _) = halves(hash.finish());
            *self.slots.get_mut(free)? = Slot { tag, row: row + 1 };
        }
        Some(())
    }

    /// Number of tokens.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.spans.len()
    }

    /// The token of a row.
    #[must_use]
    pub fn token(&self, row: u32) -> Option<&str> {
        let &(start, end) = self.spans.get(usize::try_from(row).ok()?)?;
        let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
        self.vocabulary.get(range)
    }

    /// Walks from the place of a hash to the first free place or to the matching token.
    fn probe(&self, hash: StableHash, same: impl Fn(&str) -> bool) -> (usize, Option<u32>) {
        let (tag, low) = halves(hash.finish());
        let mask = self.slots.len() - 1;
        let mut place = usize::try_from(low).unwrap_or_default() & mask;
        // Half of the places are free at least, so that this always ends.
        while let Some(slot) = self.slots.get(place) {
            let Some(row) = slot.row.checked_sub(1) else {
                break;
            };
            if slot.tag == tag && self.token(row).is_some_and(&same) {
                return (place, Some(row));
            }
            place = (place + 1) & mask;
        }
        (place, None)
    }

    /// Splits a word that has been folded already, as `for_each_word` does.
    ///
    /// Gives `false` and no pieces if the vocabulary cannot spell the word to its end.
    pub fn split(&self, word: &str, pieces: &mut Pieces) -> bool {
        pieces.rows.clear();
        if word.chars().nth(LONGEST_WORD).is_some() {
            return false;
        }
        let mut rest = word;
        let mut prefix = "";
        while !rest.is_empty() {
            let Some((row, end)) = self.longest_match(rest, prefix, &mut pieces.prefixes) else {
                pieces.rows.clear();
                return false;
            };
            pieces.rows.push(row);
            rest = rest.get(end..).unwrap_or_default();
            prefix = CONTINUATION;
        }
        !pieces.rows.is_empty()
    }

    fn longest_match(&self, rest: &str, prefix: &str, prefixes: &mut Vec<(usize, StableHash)>) -> Option<(u32, usize)> {
        prefixes.clear();
        let mut hash = StableHash::new(0).text(prefix);
        for (start, character) in rest.char_indices().take(self.longest_piece) {
            hash = hash.character(character);
            prefixes.push((start + character.len_utf8(), hash));
        }
        prefixes.iter().rev().find_map(|&(end, hash)| {
            let piece = rest.get(..end)?;
            let same = |token: &str| token.strip_prefix(prefix) == Some(piece);
            Some((self.probe(hash, same).1?, end))
        })
    }

    /// The tokens of a text; `None` stands for a word that the vocabulary cannot spell.
    #[cfg(test)]
    pub(super) fn tokens(&self, text: &str) -> Vec<Option<&str>> {
        let mut tokens = Vec::new();
        let mut pieces = Pieces::default();
        for_each_word(text, |word| {
            if self.split(word, &mut pieces) {
                tokens.extend(pieces.rows.iter().map(|&row| self.token(row)));
            } else {
                tokens.push(None);
            }
        });
        tokens
    }
}
