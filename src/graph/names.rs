//! When two names that are not equal are spellings of one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use unicode_normalization::UnicodeNormalization;

use crate::score::names::folded;

/// Names with fewer letters are never taken for spellings of one another.
const LETTERS: usize = 8;
/// Nor are names whose characters tell less, in bits each.
const ENTROPY: f32 = 2.5;
/// Least letters of a word that may be misspelled.
const MISSPELLED: usize = 8;

/// Words before or behind a name that are no part of it.
const TITLES: &str = "dr mr mrs ms miss prof professor sir herr frau fr señor señora sr sra don doña monsieur madame mme \
    inc llc ltd limited gmbh ag kg corp corporation plc sarl bv nv oy ab ооо оао зао";

static BARE_TITLES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    TITLES.split_whitespace().map(|title| title.nfd().filter(|character| !is_mark(character)).collect()).collect()
});

fn is_mark(character: &char) -> bool {
    ('\u{300}'..='\u{36f}').contains(character)
}

/// The words of a name without case, marks, punctuation, titles and legal forms, in order of the alphabet.
fn bare(name: &str) -> Vec<String> {
    let plain: String = folded(name).nfd().filter(|character| !is_mark(character)).collect();
    let words: Vec<String> = plain
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let mut kept: Vec<String> = words.iter().filter(|word| !BARE_TITLES.contains(*word)).cloned().collect();
    if kept.is_empty() {
        kept = words;
    }
    kept.sort_unstable();
    kept
}

/// Whether the two names say the same but for titles, legal forms, marks, punctuation and the order of words. Names that
/// tell little are compared as they stand.
pub(super) fn respelled(one: &str, other: &str) -> bool {
    let (one, other) = (bare(one), bare(other));
    one == other && tells_enough(&one)
}

/// Whether the two names differ by one letter of a long word, besides what [`respelled`] passes over.
pub(super) fn misspelled(one: &str, other: &str) -> bool {
    let (one, other) = (bare(one), bare(other));
    if one.len() != other.len() || !tells_enough(&one) || !tells_enough(&other) {
        return false;
    }
    let (ours, theirs): (BTreeSet<&String>, BTreeSet<&String>) = (one.iter().collect(), other.iter().collect());
    let apart: Vec<&&String> = ours.difference(&theirs).collect();
    let from: Vec<&&String> = theirs.difference(&ours).collect();
    match (apart.as_slice(), from.as_slice()) {
        ([ours], [theirs]) => {
            let long = |word: &str| word.chars().filter(|character| character.is_alphabetic()).count() >= MISSPELLED;
            let plain = |word: &str| word.chars().all(char::is_alphabetic);
            long(ours) && long(theirs) && plain(ours) && plain(theirs) && one_edit(ours, theirs)
        }
        _ => false,
    }
}

/// Whether the name is long and varied enough that a likeness is no chance.
///
/// # Source
/// The entropy of Shannon, "A Mathematical Theory of Communication", 1948, over the characters of the name; both limits are
/// chosen, not measured.
#[expect(clippy::cast_precision_loss, reason = "a few characters")]
fn tells_enough(words: &[String]) -> bool {
    let letters: Vec<char> = words.iter().flat_map(|word| word.chars()).collect();
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    letters.iter().for_each(|letter| *counts.entry(*letter).or_default() += 1);
    let all = letters.len() as f32;
    let entropy: f32 = counts.values().map(|count| *count as f32 / all).map(|share| -share * share.log2()).sum();
    letters.len() >= LETTERS && entropy >= ENTROPY
}

/// Whether one letter was left out, put in, changed, or two neighbours swapped.
fn one_edit(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let rest = |word: &[char], skip: usize| word.get(same + skip..).unwrap_or_default().to_vec();
    let swapped = || {
        one.get(same) == other.get(same + 1) && one.get(same + 1) == other.get(same) && rest(&one, 2) == rest(&other, 2)
    };
    rest(&one, 1) == rest(&other, 1)
        || rest(&one, 1) == rest(&other, 0)
        || rest(&one, 0) == rest(&other, 1)
        || swapped()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_marks_and_order_do_not_count() {
        for (one, other) in [
            ("Acme Robotics", "Acme Robotics GmbH"),
            ("Dr. Marta Silveira", "Marta Silveira"),
            ("Silveira, Marta", "Marta Silveira"),
            ("Clínica São Bento", "Clinica Sao Bento"),
        ] {
            assert!(respelled(one, other), "{one} / {other}");
        }
        for (one, other) in [
            ("Jon", "John"),
            ("Kim Lee", "Lee Kim"),
            ("Building 7 North", "Building 8 North"),
            ("Dr. Inc", "Ltd"),
            ("…", "!"),
        ] {
            assert!(!respelled(one, other), "{one} / {other}");
        }
    }

    #[test]
    fn a_slip_in_a_long_word_is_one() {
        for (one, other) in [
            ("Acme Consultng Lisbon", "Acme Consulting Lisbon"),
            ("Technische Universitaet", "Technische Universiteat"),
        ] {
            assert!(misspelled(one, other), "{one} / {other}");
        }
        for (one, other) in [
            ("KTRA", "KTRB"),
            ("Johannes", "Johanna"),
            ("aaaaaaaaa", "aaaaaaaab"),
            ("Hall 12345678", "Hall 12345679"),
            ("Acme Lisbon", "Acme London"),
        ] {
            assert!(!misspelled(one, other), "{one} / {other}");
        }
    }
}
