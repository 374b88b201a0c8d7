//! Sentence vectors from a table of token vectors.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::hashed_words::HashedWords;
use super::scripts::{Reading, for_each_stretch};
use super::signs::to_f32;
use super::table::{RawTable, TableError};
use super::wordpiece::Pieces;
use super::words::for_each_word;
use crate::score::similarity::normalize;

static BUILTIN: LazyLock<Result<StaticTable, TableError>> = LazyLock::new(|| {
    let bytes: &'static [u8] = include_bytes!("static-minilm-128.bin");
    StaticTable::from_bytes(bytes)
});

/// Words whose pieces are shorter than half of this on average are taken for unknown: what is
/// left of them is letters and syllables, which mean nothing by themselves.
const SHORTEST_MEAN_PIECE_DOUBLED: usize = 5;
/// Share of the hashed word beside the pieces of a word that is split more gently: a rare
/// name should find itself before others that begin alike.
const SPLIT_WORD_WEIGHT: f32 = 0.3;

/// A table of token vectors that turns a text into one vector without running a model.
///
/// The vector is the sum of the rows of the text's pieces, scaled to length one. A word
/// that the vocabulary does not know gets a vector of its own made from hashes; it is
/// like itself and like words that share most letters with it, and like nothing else.
#[derive(Clone, Debug)]
pub struct StaticTable {
    table: RawTable,
    typical_length: f32,
}

impl StaticTable {
    /// The table that is part of the program, read at the first call.
    ///
    /// # Errors
    ///
    /// Never, as long as the program carries the table it was released with.
    pub fn builtin() -> Result<&'static Self, TableError> {
        BUILTIN.as_ref().map_err(|&error| error)
    }

    /// Reads a table; its every part is checked.
    ///
    /// # Errors
    ///
    /// [`TableError`] tells what is wrong with the bytes.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, TableError> {
        let table = RawTable::parse(bytes.into())?;
        let typical_length = table.typical_length();
        Ok(Self { table, typical_length })
    }

    /// Length of the vectors.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.table.dimensions
    }

    /// The vocabulary of the table.
    #[cfg(test)]
    pub(super) fn wordpiece(&self) -> &super::wordpiece::WordPiece {
        &self.table.wordpiece
    }

    /// The vector of a text, of length one.
    ///
    /// A text without any word, such as an empty one, gives zeros only, so that it is
    /// like no other text. The time taken grows linearly with the text.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimensions()];
        let mut hashed = HashedWords::new(self.dimensions(), self.typical_length);
        let mut pieces = Pieces::default();
        for_each_stretch(text, |reading, stretch| match reading {
            Reading::Pieces => for_each_word(stretch, |word| {
                self.add_word(&mut sum, word, &mut pieces, &mut hashed);
            }),
            Reading::Marked => hashed.add_word(&mut sum, stretch, 1.0),
            Reading::Pairs => hashed.add_pairs(&mut sum, stretch),
            Reading::Pictures => hashed.add_pictures(&mut sum, stretch),
        });
        normalize(&mut sum);
        sum
    }

    fn add_word(&self, sum: &mut [f32], word: &str, pieces: &mut Pieces, hashed: &mut HashedWords) {
        let foreign = !word.is_ascii() && word.chars().any(is_foreign_letter);
        if foreign || !self.table.wordpiece.split(word, pieces) {
            hashed.add_word(sum, word, 1.0);
            return;
        }
        let (rows, mut weight) = (pieces.rows(), 1.0);
        if rows.len() > 1 {
            if word.chars().count() * 2 < rows.len() * SHORTEST_MEAN_PIECE_DOUBLED {
                hashed.add_word(sum, word, 1.0);
                return;
            }
            hashed.add_word(sum, word, SPLIT_WORD_WEIGHT);
            // Pieces point in different directions, so that together they would be longer
            // than the row of a whole word.
            weight = to_f32(rows.len()).sqrt().recip();
        }
        for &row in rows {
            self.table.add_row(sum, row, weight);
        }
    }
}

/// Whether a letter belongs to a script other than Latin; the vocabulary knows such
/// letters, but hardly a word made of them.
fn is_foreign_letter(character: char) -> bool {
    let latin = matches!(character,
        '\0'..='\u{2ff}' | '\u{1d00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}'
        | '\u{a720}'..='\u{a7ff}' | '\u{ff21}'..='\u{ff5a}');
    !latin && character.is_alphabetic()
}
