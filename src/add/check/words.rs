//! What of one text is left in another, told by its words.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::score::sameness::normalized;

/// Letters that two words must share from their beginning: endings differ.
const STEM: usize = 4;
/// Letters of the shortest word that counts: shorter ones (a, in, de, и) come and go with the wording.
const SHORTEST: usize = 3;

/// The words of a text, endings aside; of a text in a script that sets no spaces, its letters.
#[derive(Debug, Default)]
pub(super) struct Words {
    stems: HashSet<String>,
    /// The first letters of longer words, which a short word may be the stem of ("cat", "cats").
    beginnings: HashSet<String>,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let text = normalized(text);
        let counts = |word: &&str| {
            word.chars().count() >= SHORTEST || word.chars().any(|char| is_ideograph(char) || char.is_numeric())
        };
        let stem = |word: &str| word.chars().filter(|char| char.is_alphanumeric()).take(STEM).collect::<String>();
        let mut stems: HashSet<String> = text.unicode_words().filter(counts).map(stem).collect();
        if stems.is_empty() {
            stems = text.chars().filter(|char| char.is_alphanumeric()).map(String::from).collect();
        }
        let beginnings = stems.iter().filter(|stem| is_long(stem)).map(|stem| beginning(stem)).collect();
        Self { stems, beginnings }
    }

    pub(super) fn len(&self) -> usize {
        self.stems.len()
    }

    /// How many of these words the other text has.
    pub(super) fn kept_in(&self, other: &Self) -> usize {
        self.stems.iter().filter(|stem| other.has(stem)).count()
    }

    /// Whether the other text has at least two thirds of these words.
    pub(super) fn mostly_in(&self, other: &Self) -> bool {
        self.kept_in(other) * 3 >= self.len() * 2
    }

    /// The words that tell what a text speaks of, as [`share_words`](crate::score::relatedness::share_words) has them: long
    /// ones and ideographs.
    pub(super) fn telling(&self) -> impl Iterator<Item = &str> {
        let telling =
            |stem: &&String| !stem.chars().any(char::is_numeric) && (is_long(stem) || stem.chars().all(is_ideograph));
        self.stems.iter().filter(telling).map(String::as_str)
    }

    pub(super) fn has_stem(&self, stem: &str) -> bool {
        self.stems.contains(stem)
    }

    fn has(&self, stem: &str) -> bool {
        self.stems.contains(stem)
            || if is_long(stem) { self.stems.contains(&beginning(stem)) } else { self.beginnings.contains(stem) }
    }
}

fn is_long(stem: &str) -> bool {
    stem.chars().count() == STEM
}

fn beginning(stem: &str) -> String {
    stem.chars().take(SHORTEST).collect()
}

const fn is_ideograph(char: char) -> bool {
    matches!(char, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_whatever_their_endings() {
        for (text, other, kept, all) in [
            ("Has a cat called Tom", "Has two cats called Tom and Mia", 4, 4),
            ("Has two cats", "Owns a cat", 1, 3),
            ("Keeps bees in Porto", "Works in Porto", 1, 3),
            ("Работает в библиотеке", "Раньше работал в библиотеке", 2, 2),
            ("养了一只猫", "养了一只叫豆豆的猫", 5, 5),
            ("ชอบชา", "ชอบกาแฟ", 4, 4),
            ("Is 34", "Is 35", 0, 1),
            ("", "x", 0, 0),
        ] {
            let (words, other) = (Words::of(text), Words::of(other));
            assert_eq!((words.kept_in(&other), words.len()), (kept, all), "{text}");
        }
    }
}
