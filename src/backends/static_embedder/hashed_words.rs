//! Vectors for words that the vocabulary does not know, made from hashes.
//!
//! Such a vector says nothing about meaning, but a name or a word of another language
//! still finds itself again, and through shared parts also its inflected forms.

use unicode_normalization::UnicodeNormalization;

use super::signs::{add_signs, to_f32};
use crate::score::{similarity::normalize, stable_hash::StableHash};

const WHOLE: u64 = 1;
const PART: u64 = 2;
const SINGLE: u64 = 3;
const PAIR: u64 = 4;

/// Share of the whole word beside its parts: enough to tell inflected forms apart.
const WHOLE_WEIGHT: f32 = 0.4;
const PART_LENGTHS: std::ops::RangeInclusive<usize> = 3..=5;
/// Parts are only taken from the start of a word; no inflection needs more.
const PARTED_CHARACTERS: usize = 32;

/// A pair of characters is about half a word.
const PAIR_WEIGHT: f32 = 0.7;
const SINGLE_WEIGHT: f32 = 0.2;
const PICTURE_WEIGHT: f32 = 0.3;
/// What is left of a pair that mostly serves grammar.
const GRAMMAR_WEIGHT: f32 = 0.3;
/// The commonest function words of Chinese that are written with one character.
const CHINESE_FUNCTION_WORDS: &str = "的了是在我你他她它们這这那有和也就都很吗嗎吧呢個个把被跟與与會会";

/// Adds vectors of hashed features to sums, each about `length` long.
#[derive(Debug)]
pub(crate) struct HashedWords {
    length: f32,
    word: Vec<f32>,
    characters: Vec<char>,
}

impl HashedWords {
    pub(crate) fn new(dimensions: usize, length: f32) -> Self {
        Self { length, word: vec![0.0; dimensions], characters: Vec::new() }
    }

    /// Adds a word as itself and as its parts of three to five characters.
    pub(crate) fn add_word(&mut self, sum: &mut [f32], word: &str, weight: f32) {
        self.characters.clear();
        self.characters.push('<');
        self.characters.extend(word.nfc().take(PARTED_CHARACTERS));
        self.characters.push('>');
        let length = self.characters.len();
        let parts: usize = PART_LENGTHS.map(|size| (length + 1).saturating_sub(size)).sum();
        let part_weight = (1.0 - WHOLE_WEIGHT.powi(2)).sqrt() / to_f32(parts.max(1)).sqrt();

        self.word.fill(0.0);
        let whole = StableHash::new(WHOLE).text(word).finish();
        add_signs(&mut self.word, whole, WHOLE_WEIGHT);
        for size in PART_LENGTHS {
            for part in self.characters.windows(size) {
                let hash = characters(PART, part);
                add_signs(&mut self.word, hash, part_weight);
            }
        }
        normalize(&mut self.word);
        let factor = weight * self.length * word_weight(word);
        for (sum, value) in sum.iter_mut().zip(&self.word) {
            *sum += factor * value;
        }
    }

    /// Adds a stretch of a script without spaces as its single characters and pairs.
    pub(crate) fn add_pairs(&mut self, sum: &mut [f32], stretch: &str) {
        let unit = self.unit(sum.len());
        let mut previous = None;
        let letters = stretch.nfkc().filter(|character| !character.is_whitespace());
        for character in letters {
            let grammar = is_grammar(character);
            let single = unit * SINGLE_WEIGHT * if grammar { GRAMMAR_WEIGHT } else { 1.0 };
            add_signs(sum, characters(SINGLE, &[character]), single);
            if let Some((before, grammar_before)) = previous {
                let weight = match (grammar, grammar_before) {
                    (true, true) => PAIR_WEIGHT * GRAMMAR_WEIGHT,
                    (false, false) => PAIR_WEIGHT,
                    _ => PAIR_WEIGHT * f32::midpoint(1.0, GRAMMAR_WEIGHT),
                };
                add_signs(sum, characters(PAIR, &[before, character]), unit * weight);
            }
            previous = Some((character, grammar));
        }
    }

    /// Adds emoji and other pictures, each for itself.
    pub(crate) fn add_pictures(&mut self, sum: &mut [f32], stretch: &str) {
        let weight = self.unit(sum.len()) * PICTURE_WEIGHT;
        let shown = |character: &char| !matches!(character, '\u{200d}' | '\u{fe0f}' | '\u{20e3}');
        for character in stretch.chars().filter(shown) {
            add_signs(sum, characters(SINGLE, &[character]), weight);
        }
    }

    fn unit(&self, dimensions: usize) -> f32 {
        self.length / to_f32(dimensions.max(1)).sqrt()
    }
}

fn characters(kind: u64, part: &[char]) -> u64 {
    part.iter().fold(StableHash::new(kind), |hash, &character| hash.character(character)).finish()
}

/// Stands in for the frequency of a word no list is at hand for: short words are
/// function words more often than not. Numbers say much however short they are.
fn word_weight(word: &str) -> f32 {
    let mut characters = word.chars();
    match (characters.next(), characters.next(), characters.next(), characters.next()) {
        _ if word.chars().any(char::is_numeric) => 1.0,
        _ if !word.chars().any(char::is_alphanumeric) => PICTURE_WEIGHT,
        (_, None, _, _) => 0.2,
        (_, _, None, _) => 0.4,
        (_, _, _, None) => 0.7,
        _ => 1.0,
    }
}

/// Whether a character mostly serves grammar: Hiragana and Chinese function words.
fn is_grammar(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{309f}') || CHINESE_FUNCTION_WORDS.contains(character)
}
