use std::fmt;

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

use crate::TokenCounter;

/// Longer texts are counted in pieces of at most so many bytes. The library gives up on runs of white space of about a
/// million characters, by panicking; pieces this short never come near that.
const PIECE: usize = 1 << 14;

/// Counts tokens as OpenAI's models do, with the byte pair encodings of `tiktoken`.
///
/// Signs such as `<|endoftext|>` are counted as the text they are. Texts of more than 16 KiB are counted in pieces, each
/// of which may count one more. The first counter of a vocabulary reads its table, which takes a moment and some memory
/// until the process ends; the others share it.
///
/// ```
/// use ingrain::{TiktokenCounter, TokenCounter};
/// assert_eq!(TiktokenCounter::cl100k().count("hello world"), 2);
/// ```
#[derive(Clone, Copy)]
pub struct TiktokenCounter {
    name: &'static str,
    encoding: &'static CoreBPE,
}

impl TiktokenCounter {
    /// `cl100k_base`: GPT-4, GPT-3.5 and the embedding models of their time.
    #[must_use]
    pub fn cl100k() -> Self {
        Self { name: "cl100k_base", encoding: cl100k_base_singleton() }
    }

    /// `o200k_base`: GPT-4o and what came after it.
    #[must_use]
    pub fn o200k() -> Self {
        Self { name: "o200k_base", encoding: o200k_base_singleton() }
    }
}

impl TokenCounter for TiktokenCounter {
    fn count(&self, text: &str) -> usize {
        let (mut rest, mut tokens) = (text, 0);
        while rest.len() > PIECE {
            let limit = (0..=PIECE).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or(0);
            let piece = rest.get(..limit).unwrap_or_default();
            // At a line's end or before a space, where tokens part anyway.
            let end = piece.rfind('\n').map(|at| at + 1).or_else(|| piece.rfind(' ')).filter(|end| *end > 0);
            let (piece, after) = rest.split_at(end.unwrap_or(limit));
            tokens += self.encoding.count_ordinary(piece);
            rest = after;
        }
        tokens + self.encoding.count_ordinary(rest)
    }
}

impl fmt::Debug for TiktokenCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TiktokenCounter").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The counts that OpenAI publishes for these in its cookbook, and a few of its tests.
    #[test]
    fn counts_are_those_of_the_vocabularies() {
        for (text, cl100k, o200k) in [
            ("", 0, 0),
            ("hello world", 2, 2),
            ("tiktoken is great!", 6, 6),
            ("antidisestablishmentarianism", 6, 6),
            ("2 + 2 = 4", 7, 7),
            ("お誕生日おめでとう", 9, 8),
        ] {
            assert_eq!(TiktokenCounter::cl100k().count(text), cl100k, "{text}");
            assert_eq!(TiktokenCounter::o200k().count(text), o200k, "{text}");
        }
    }

    #[test]
    fn long_texts_are_counted_in_pieces() {
        let counter = TiktokenCounter::cl100k();
        let line = "The cat sat on the mat.\n";
        assert_eq!(counter.count(&line.repeat(2_000)), 2_000 * counter.count(line));
        for odd in [" ".repeat(1_100_000) + "x", format!("x{}", "é".repeat(PIECE))] {
            assert!(counter.count(&odd) > 0);
        }
    }

    proptest! {
        /// The contract of the trait, where lines meet as they do in a context.
        #[test]
        fn a_text_has_no_more_than_its_lines(lines in prop::collection::vec("\\PC{0,30}", 1..6)) {
            let counter = TiktokenCounter::cl100k();
            let lines: Vec<String> = lines.iter().map(|line| format!("‣ fact: {line:?}\n")).collect();
            let parts: usize = lines.iter().map(|line| counter.count(line)).sum();
            prop_assert!(counter.count(&lines.concat()) < parts + lines.len());
        }
    }
}
