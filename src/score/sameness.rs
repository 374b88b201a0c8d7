//! When two short texts say the same, as far as that can be seen without understanding them.
//!
//! Vectors are good at telling what a text is about and bad at telling its names, its numbers and whether it says
//! "not": "likes tea" and "does not like tea" lie close together. These functions look at just that.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::relatedness::same_word;

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
    let kept = out.trim_start_matches(is_edge);
    // A number keeps its sign, and the point it begins with.
    let sign = out
        .strip_suffix(kept)
        .and_then(|edge| edge.chars().next_back())
        .filter(|char| matches!(char, '-' | '−' | '.' | ',') && kept.starts_with(char::is_numeric));
    // So does what is marked at its end ("A-", "F*").
    let is_end = |char: char| is_edge(char) && !matches!(char, '-' | '−' | '*' | '&' | '/' | '\\' | '^' | '~' | '_');
    sign.into_iter().collect::<String>() + kept.trim_end_matches(is_end)
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

/// Cosine similarity from which two statements of the same words are taken to be one.
pub const NEAR_DUPLICATE: f32 = 0.97;

/// Whether a new statement, at this cosine similarity to a known one, says nothing new, as far as that is safe to say
/// without understanding either.
///
/// It does if it is the [same text](same_text), or if the similarity is [0.97](NEAR_DUPLICATE) or more and it has the same
/// [particulars](same_particulars) and the same words in the same order: case, white space, punctuation around words,
/// "the" and "also" do not count. Order does, since embedders that average the vectors of words do not see
/// it ("Anna hired Bob"); and so do all other small words, for each of them can turn a statement round ("moved to",
/// "moved from"; "is", "was"; «la ve», «lo ve»), signs and what stands inside a word or number ("C++", "1/2", "3.5").
///
/// ```
/// use ingrain::score::sameness::repeats;
/// assert!(repeats("Likes hiking in the mountains", "Also likes hiking in mountains.", 0.98));
/// assert!(!repeats("Likes tea more than coffee", "Likes coffee more than tea", 1.0));
/// ```
#[must_use]
pub fn repeats(known: &str, new: &str, cosine: f32) -> bool {
    same_text(known, new)
        || (cosine >= NEAR_DUPLICATE && same_particulars(known, new) && {
            let known = telling(known);
            !known.is_empty() && known == telling(new)
        })
}

/// Words that add nothing to a statement wherever they stand. Other articles are left out, since they are pronouns, verbs
/// or names as well ("la ve", "die", "An"), and those of one letter since letters name things ("vitamin a").
const LIGHT: &[&str] = &["the", "also", "также", "тоже", "también", "também"];

/// The words of a text that tell something, in order.
fn telling(text: &str) -> Vec<String> {
    let opens = |char: char| matches!(char, '"' | '\'' | '«' | '“' | '„' | '‘' | '(' | '[' | '¡' | '¿');
    let closes = |char: char| {
        matches!(char, '.' | ',' | ';' | ':' | '!' | '?' | '…' | '"' | '\'' | '»' | '“' | '”' | '’' | ')' | ']' | '。')
    };
    let text = normalized(text);
    let bare = |word: &'_ str| {
        let word = word.trim_start_matches(opens);
        let kept = word.trim_end_matches(closes);
        // After a number a quotation mark may stand for feet or inches.
        let mark = word.strip_prefix(kept).and_then(|edge| edge.chars().next());
        let mark = mark.filter(|mark| matches!(mark, '"' | '\'') && kept.ends_with(char::is_numeric));
        kept.chars().chain(mark).collect::<String>()
    };
    text.split(' ').map(bare).filter(|word| !word.is_empty() && !LIGHT.contains(&word.as_str())).collect()
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

/// Whether both texts name somebody or something, and the same, endings aside ("в Твери", "в Тверь").
pub(crate) fn names_alike(a: &str, b: &str) -> bool {
    let (a, b) = (Particulars::of(a), Particulars::of(b));
    let within = |one: &Particulars, other: &Particulars| {
        one.names.keys().all(|name| other.names.keys().any(|known| same_word(name, known)))
    };
    !a.names.is_empty() && within(&a, &b) && within(&b, &a)
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
        assert!(!same_text("Blood type is A", "Blood type is A-") && !same_text("Grade is F*", "Grade is F"));
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

    #[test]
    fn a_number_keeps_its_sign() {
        assert!(!same_text("-5 degrees", "5 degrees") && !same_text(".5 mg", "5 mg"));
        assert!(same_text("- Likes tea", "likes tea") && same_text("5 mg.", "5 mg"));
    }

    #[test]
    fn nearly_the_same_words_are_no_news() {
        for (known, new) in [
            ("Likes hiking in the mountains", "Also likes hiking in mountains."),
            ("Works at the clinic \"Mar\"", "Works at the clinic Mar"),
            ("Plays chess, goes skiing", "Plays chess; goes skiing"),
            ("Любит чай", "Тоже любит чай!"),
            ("Vive en Lima", "También vive en Lima"),
        ] {
            assert!(repeats(known, new, 0.97) && repeats(new, known, 1.0), "{known} / {new}");
            assert!(!repeats(known, new, 0.96), "{known} / {new}: too far apart");
        }
        assert!(repeats("Likes tea", "likes  TEA.", 0.0), "the same text at any distance");
    }

    /// What vectors of averaged words hold for one and the same.
    #[test]
    fn news_in_like_words_is_news() {
        for (known, new) in [
            ("Anna hired Bob", "Bob hired Anna"),
            ("Likes tea more than coffee", "Likes coffee more than tea"),
            ("Likes tea", "Does not like tea"),
            ("Likes tea", "Likes tea no longer"),
            ("Has 2 kids", "Has 3 kids"),
            ("Weighs 3.5 kg", "Weighs 35 kg"),
            ("Takes 1/2 tablet", "Takes 1-2 tablet"),
            ("Owns a 50\" screen", "Owns a 50' screen"),
            ("Keeps it at -5 °C", "Keeps it at 5 °C"),
            ("Codes in C", "Codes in C++"),
            ("Takes vitamin A", "Takes vitamin"),
            ("An lives in Hanoi", "Lives in Hanoi"),
            ("Likes The Who", "Likes who"),
            ("Moved to Porto", "Moved from Porto"),
            ("Is vegan", "Was vegan"),
            ("Likes his dog", "Likes her dog"),
            ("Мать любит дочь", "Дочь любит мать"),
            ("Любит чай больше кофе", "Любит кофе больше чая"),
            ("Живёт с братом", "Живёт без брата"),
            ("Ест мясо, не ест рыбу", "Не ест мясо, ест рыбу"),
            ("Pedro contrató a Luis", "Luis contrató a Pedro"),
            ("Nunca la ve", "Nunca lo ve"),
            ("Der Hund jagt den Mann", "Den Hund jagt der Mann"),
            ("Schläft ein", "Schläft"),
            ("Ne la voit plus", "Ne le voit plus"),
            ("Préfère le thé au café", "Préfère le café au thé"),
            ("犬が猫を追う", "猫が犬を追う"),
            ("喜欢茶胜过咖啡", "喜欢咖啡胜过茶"),
            ("喜欢茶", "不喜欢茶"),
            ("أحمد وظف سالم", "سالم وظف أحمد"),
            ("…", "!"),
        ] {
            assert!(!repeats(known, new, 1.0) && !repeats(new, known, 1.0), "{known} / {new}");
        }
    }

    proptest! {
        #[test]
        fn words_in_another_order_are_news(
            words in proptest::collection::btree_set("[a-z]{4,8}", 2..8), by in 1..7_usize,
        ) {
            let mut words: Vec<String> = words.into_iter().filter(|word| word != "also").collect();
            prop_assume!(words.len() > 1 && by % words.len() != 0);
            let known = words.join(" ");
            let by = by % words.len();
            words.rotate_left(by);
            prop_assert!(!repeats(&known, &words.join(" "), 1.0));
        }

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
