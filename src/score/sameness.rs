//! When two short texts say the same, as far as that can be seen without understanding them.
//!
//! Vectors are good at telling what a text is about and bad at telling its names, its numbers and whether it says
//! "not": "likes tea" and "does not like tea" lie close together. These functions look at just that.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Words that turn a statement round, in English, Russian, Spanish, German, French, Portuguese and Italian.
///
/// `ne` is left out: in French it never stands alone (`pas`, `jamais` and `plus` do the work), and in Italian it is a
/// pronoun.
const NEGATIONS: &[&str] = &[
    "no",
    "not",
    "never",
    "cannot",
    "without",
    "nor",
    "neither",
    "none",
    "не",
    "ни",
    "нет",
    "никогда",
    "без",
    "nunca",
    "jamás",
    "sin",
    "tampoco",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "keiner",
    "keinem",
    "nie",
    "niemals",
    "ohne",
    "pas",
    "jamais",
    "sans",
    "non",
    "não",
    "nem",
    "sem",
    "mai",
    "senza",
];

/// The text as it is compared: compatibility-normalised (NFKC), lower case, every run of white space one space, no
/// punctuation at either end, curly apostrophes straight.
///
/// ```
/// use ingrain::score::sameness::normalized;
/// assert_eq!(normalized("  Likes  TEA. "), "likes tea");
/// ```
#[must_use]
pub fn normalized(text: &str) -> String {
    // Folded before and after: a capital may have no composed small letter, and a composed one no capital.
    let folded: String = text.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    let mut out = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().map(|char| if matches!(char, '’' | 'ʼ') { '\'' } else { char }));
    }
    // `+` and `#` are part of names ("C++"), and marks above and below letters are no punctuation.
    let is_edge = |char: char| !char.is_alphanumeric() && !is_symbol(char);
    out.trim_matches(is_edge).to_owned()
}

/// Whether the character, though no letter, carries meaning: combining marks, emoji, currency and mathematical signs.
fn is_symbol(char: char) -> bool {
    unicode_normalization::char::is_combining_mark(char)
        || matches!(char, '+' | '#' | '%' | '$' | '€' | '£' | '°' | '<' | '=' | '>')
        || ('\u{2190}'..='\u{2bff}').contains(&char)
        || ('\u{1f000}'..='\u{1faff}').contains(&char)
}

/// Whether the texts are equal once [normalised](normalized). Two texts of punctuation alone are the same only if they
/// are equal.
#[must_use]
pub fn same_text(a: &str, b: &str) -> bool {
    a == b || compared(a) == compared(b)
}

/// What is equal for texts that are the [same](same_text), and for no others: to look one up among many.
pub(crate) fn compared(text: &str) -> String {
    let normal = normalized(text);
    if normal.is_empty() { text.to_owned() } else { normal }
}

/// The sentences of a text, each [normalised](normalized): to tell whether a text says a thing word for word.
pub(crate) fn statements(text: &str) -> impl Iterator<Item = String> {
    text.unicode_sentences().map(normalized).filter(|statement| !statement.is_empty())
}

/// Whether the texts hold the same particulars, each as often: numbers, names, negations.
///
/// Numbers are runs of digits ("1,000" is "1000", Unicode digits count by value as far as NFKC maps them). Names are
/// words that begin with a capital letter, save the first of a sentence, since that proves nothing: so a name may be
/// overlooked where it comes first, unless the other text has it elsewhere. In scripts without capitals nothing marks
/// a name, so there all words must be the same. Negations are the small words of seven languages and the English
/// ending "n't".
///
/// This is a necessary condition of sameness and not a sufficient one: "likes tea" and "likes coffee" pass.
///
/// ```
/// use ingrain::score::sameness::same_particulars;
/// assert!(same_particulars("Moved to Lisbon in 2021", "In 2021 moved to Lisbon"));
/// assert!(!same_particulars("Moved to Lisbon", "Moved to Porto"));
/// assert!(!same_particulars("Likes tea", "Does not like tea"));
/// ```
#[must_use]
pub fn same_particulars(a: &str, b: &str) -> bool {
    let (a, b) = (Particulars::of(a), Particulars::of(b));
    a.numbers == b.numbers
        && a.negations == b.negations
        && a.caseless == b.caseless
        && a.names.keys().all(|name| b.has(name))
        && b.names.keys().all(|name| a.has(name))
}

/// Whether every number of the text occurs in one of the sources.
pub(crate) fn numbers_within<'s>(text: &str, sources: impl Iterator<Item = &'s str>) -> bool {
    let mut numbers = Particulars::of(text).numbers;
    for source in sources {
        if numbers.is_empty() {
            break;
        }
        let said = Particulars::of(source).numbers;
        numbers.retain(|number, _| !said.contains_key(number));
    }
    numbers.is_empty()
}

/// How many negations a text has.
pub(crate) fn negations(text: &str) -> usize {
    Particulars::of(text).negations
}

/// Whether both texts name somebody or something, and nothing that the other names.
pub(crate) fn names_apart(a: &str, b: &str) -> bool {
    let (a, b) = (Particulars::of(a), Particulars::of(b));
    let named = !a.names.is_empty() && !b.names.is_empty();
    named && !a.names.keys().any(|name| b.has(name)) && !b.names.keys().any(|name| a.has(name))
}

#[derive(Debug, Default)]
struct Particulars {
    numbers: BTreeMap<String, usize>,
    names: BTreeMap<String, usize>,
    /// First words of sentences, which may be names.
    openings: BTreeMap<String, usize>,
    negations: usize,
    /// Words in scripts without capitals.
    caseless: BTreeMap<String, usize>,
}

impl Particulars {
    fn of(text: &str) -> Self {
        let text: String = text.nfkc().map(|char| if char == '’' { '\'' } else { char }).collect();
        let mut found = Self::default();
        for sentence in text.split_sentence_bounds() {
            let mut first = true;
            for word in sentence.unicode_words() {
                found.take(word, std::mem::replace(&mut first, false));
            }
        }
        found
    }

    fn take(&mut self, word: &str, first: bool) {
        let mut count = |map: fn(&mut Self) -> &mut BTreeMap<String, usize>, key: String| {
            *map(self).entry(key).or_default() += 1;
        };
        let lower = word.to_lowercase();
        if word.chars().any(char::is_numeric) {
            let digits: String =
                word.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            count(|found| &mut found.numbers, digits);
        } else if NEGATIONS.contains(&lower.as_str()) || lower.ends_with("n't") {
            self.negations += 1;
        } else if word.chars().next().is_some_and(char::is_uppercase) {
            // "I" is a capital in any place.
            if lower != "i" {
                count(if first { |found| &mut found.openings } else { |found| &mut found.names }, lower);
            }
        } else if word.chars().all(|char| !char.is_lowercase() && !char.is_uppercase()) {
            count(|found| &mut found.caseless, lower);
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains_key(name) || self.openings.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_spaces_width_and_outer_marks_do_not_count() {
        assert!(same_text("Likes  tea.", "likes TEA"));
        assert!(same_text("«Ｔｅａ»", "tea") && same_text("It’s", "it's"));
        assert!(same_text("Жив\u{438}\u{306}", "живй"));
        assert!(!same_text("Likes C", "Likes C++") && !same_text("…", "!") && same_text("…", "…"));
        assert!(!same_text("Likes tea", "Likes tea 🍵"));
    }

    #[test]
    fn numbers_names_and_negations_count() {
        for (a, b) in [
            ("Has 2 kids", "Has 3 kids"),
            ("Works with Anna", "Works with Hanna"),
            ("Likes tea", "Doesn't like tea"),
            ("Любит чай", "Не любит чай"),
            ("Mag Tee", "Mag keinen Tee"),
            ("Il aime le thé", "Il n'aime pas le thé"),
            ("住在东京", "住在大阪"),
        ] {
            assert!(!same_particulars(a, b), "{a} / {b}");
        }
        for (a, b) in [("Anna works here", "Here works Anna"), ("Paid 1,000 euro", "Paid 1000 euro"), ("", "")] {
            assert!(same_particulars(a, b), "{a} / {b}");
        }
    }

    proptest! {
        #[test]
        fn normalising_again_changes_nothing(text in ".{0,80}") {
            let once = normalized(&text);
            prop_assert_eq!(normalized(&once), once);
        }

        #[test]
        fn punctuation_alone_is_compared_as_it_is(a in "[aA+.!… ]{0,3}", b in "[aA+.!… ]{0,3}") {
            let normal = normalized(&a);
            let same = a == b || (!normal.is_empty() && normal == normalized(&b));
            prop_assert_eq!(compared(&a) == compared(&b), same);
        }

        #[test]
        fn a_text_is_the_same_as_itself(text in ".{0,80}") {
            prop_assert!(same_text(&text, &text) && same_particulars(&text, &text));
        }
    }
}
