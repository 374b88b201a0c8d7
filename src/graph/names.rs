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

/// Words before a noun that say that it is one the listener knows.
const ARTICLES: &str = "the a an my our your his her their this that der die das mein meine unser unsere el la los las mi \
    mis nuestro nuestra le les mon ma mes notre o os as meu minha nosso nossa il lo gli mio mia мой моя моё наш наша этот эта";

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

/// Most letters of a word that are looked at for [`lookalike`].
const LOOKED_AT: usize = 64;
/// From so many letters on, words that are two slips apart still look alike.
const LONG: usize = 6;

/// Whether a word of the one name and a word of the other are no more than a slip of the pen apart, and not the same:
/// "Jon" and "John Smith", "KTRA" and "KTRB". In words of six letters or more two slips are looked for.
pub(super) fn lookalike(one: &str, other: &str) -> bool {
    let (one, other) = (word_set(one), word_set(other));
    let near = |ours: &str, theirs: &str| {
        let letters = |word: &str| word.chars().take(LOOKED_AT).collect::<Vec<char>>();
        let (ours, theirs) = (letters(ours), letters(theirs));
        edits(&ours, &theirs) <= if ours.len().min(theirs.len()) >= LONG { 2 } else { 1 }
    };
    one.difference(&other).any(|ours| other.difference(&one).any(|theirs| near(ours, theirs)))
}

/// Whether both names have numbers in them, and not the same.
pub(super) fn numbers_apart(one: &str, other: &str) -> bool {
    let numbers = |name: &str| -> BTreeSet<String> {
        bare(name).into_iter().filter(|word| word.chars().any(char::is_numeric)).collect()
    };
    let (one, other) = (numbers(one), numbers(other));
    !one.is_empty() && !other.is_empty() && one != other
}

/// The words of a name, as spellings are compared.
pub(super) fn word_set(name: &str) -> BTreeSet<String> {
    bare(name).into_iter().collect()
}

/// The noun of a mere description, such as "the clinic"; `None` for what is none.
pub(super) fn described(name: &str) -> Option<String> {
    let name = folded(name);
    let (first, noun) = name.split_once(' ')?;
    ARTICLES.split_whitespace().any(|article| article == first).then(|| noun.to_owned())
}

/// Whether a likeness of the name is no chance.
pub(super) fn is_telling(name: &str) -> bool {
    tells_enough(&bare(name))
}

/// How many letters are left out, put in, changed or swapped with their neighbour between the two words.
///
/// # Source
/// The distance of Damerau, "A technique for computer detection and correction of spelling errors", 1964, in its form of
/// optimal string alignment: no letter is touched twice.
fn edits(one: &[char], other: &[char]) -> usize {
    // The rows before the last two are not looked at again.
    let mut rows: [Vec<usize>; 2] = [Vec::new(), (0..=other.len()).collect()];
    for (line, letter) in one.iter().enumerate() {
        let [before, last] = &rows;
        let mut row = vec![line + 1];
        for (column, theirs) in other.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX / 2);
            let changed = at(last, column) + usize::from(letter != theirs);
            let mut least = changed.min(at(last, column + 1) + 1).min(at(&row, column) + 1);
            let previous =
                |letters: &[char], place: usize| place.checked_sub(1).and_then(|at| letters.get(at).copied());
            if previous(one, line) == Some(*theirs) && previous(other, column) == Some(*letter) {
                least = least.min(at(before, column - 1) + 1);
            }
            row.push(least);
        }
        let [before, last] = &mut rows;
        *before = std::mem::replace(last, row);
    }
    let [_, last] = &rows;
    last.last().copied().unwrap_or(0)
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
    fn letters_between_words_are_counted() {
        for (one, other, count) in
            [("jon", "john", 1), ("", "abc", 3), ("abc", "", 3), ("ca", "ac", 1), ("bob", "robert", 4), ("é", "é", 0)]
        {
            let letters = |word: &str| word.chars().collect::<Vec<char>>();
            assert_eq!(edits(&letters(one), &letters(other)), count, "{one} / {other}");
            assert_eq!(edits(&letters(other), &letters(one)), count, "{other} / {one}");
        }
    }

    #[test]
    fn names_that_a_slip_would_make_one_look_alike() {
        for (one, other) in [
            ("Jon", "John"),
            ("Joan", "John Smith"),
            ("KTRA", "KTRB"),
            ("Johannes", "Johanna"),
            ("Anderson Smithson", "Andersen Smithson"),
            ("Dr. Kim", "Tim"),
        ] {
            assert!(lookalike(one, other) && lookalike(other, one), "{one} / {other}");
        }
        for (one, other) in
            [("Bob", "Robert Smith"), ("Ana Lima", "Lima, Ana"), ("the clinic", "Mar Clinic"), ("", "a")]
        {
            assert!(!lookalike(one, other), "{one} / {other}");
        }
        assert!(numbers_apart("Hall 7", "Hall 8") && !numbers_apart("Hall 7", "the hall"));
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
