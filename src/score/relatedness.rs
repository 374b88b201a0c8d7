//! Whether two texts speak of the same thing at all, told without a model.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use super::sameness::normalized;

/// Letters that two words must share from their beginning: endings differ.
const STEM: usize = 4;

/// Whether the texts share a word, endings aside: of four letters or more, or an ideograph. Short words (the, и, de) are
/// shared by everything and say nothing; nor do numbers.
///
/// ```
/// use ingrain::score::relatedness::share_words;
/// assert!(share_words("Loves black coffee", "Can't stand coffees any more"));
/// assert!(!share_words("Keeps bees in Porto", "Allergic to peanuts"));
/// ```
#[must_use]
pub fn share_words(left: &str, right: &str) -> bool {
    let (left, right) = (stems(left), stems(right));
    !left.is_disjoint(&right)
}

/// Whether the text has every word of the statement, endings and short words aside; a statement without such words is
/// covered by nothing.
///
/// ```
/// use ingrain::score::relatedness::covers;
/// assert!(covers("Used to work in a library, now teaches chemistry", "Teaches chemistry"));
/// assert!(!covers("Teaches chemistry", "Teaches chemistry and physics"));
/// ```
#[must_use]
pub fn covers(text: &str, statement: &str) -> bool {
    let statement = stems(statement);
    !statement.is_empty() && statement.is_subset(&stems(text))
}

/// An English word, or the last of several, without the ending of the plural, for comparing alone: other words may
/// lose an "s" too.
pub(crate) fn singular(word: &str) -> String {
    const KEPT: [&str; 4] = ["ss", "us", "is", "'s"];
    let stem = |ending: &str| word.strip_suffix(ending).filter(|stem| stem.chars().count() > 2);
    if KEPT.iter().any(|ending| word.ends_with(ending)) {
        return word.to_owned();
    }
    let pair = ["ches", "shes", "xes", "oes"].iter().any(|ending| word.ends_with(ending)).then(|| stem("es"));
    let (stem, ending) = match (stem("ies"), pair.flatten(), stem("s")) {
        (Some(stem), ..) => (stem, "y"),
        (None, Some(stem), _) | (None, None, Some(stem)) => (stem, ""),
        (None, None, None) => (word, ""),
    };
    format!("{stem}{ending}")
}

/// Equal words, English ones in singular and plural, or Cyrillic ones that differ in their endings alone: the same
/// place is "Казань", "в Казани".
pub(crate) fn same_word(a: &str, b: &str) -> bool {
    if a == b || singular(a) == singular(b) {
        return true;
    }
    let cyrillic = |word: &str| word.chars().all(|char| ('\u{400}'..='\u{52f}').contains(&char) || char == '-');
    if !cyrillic(a) || !cyrillic(b) {
        return false;
    }
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.chars().count(), b.chars().count());
    common >= 3 && common + 2 >= a.max(b) && common + 1 >= a.min(b)
}

fn stems(text: &str) -> HashSet<String> {
    let text = normalized(text);
    text.unicode_words()
        .filter_map(|word| {
            let mut letters = word.chars().filter(|letter| letter.is_alphabetic());
            let stem: String = letters.by_ref().take(STEM).collect();
            let long = stem.chars().count() == STEM;
            // UAX 29 gives ideographs one by one: each is a word.
            let ideograph =
                stem.chars().all(|letter| matches!(letter, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'));
            (!stem.is_empty() && (long || ideograph)).then_some(stem)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_and_scripts() {
        for (left, right, expected) in [
            ("Работает в библиотеке", "Ушла из библиотеки", true),
            ("最喜欢茶馆", "讨厌茶", true),
            ("Is in the UK", "Is in the EU", false),
            ("Room 1024", "Page 1024", false),
            ("", "x", false),
        ] {
            assert_eq!(share_words(left, right), expected, "{left} / {right}");
        }
    }
}
