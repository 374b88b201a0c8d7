//! From text to terms: the same for what is stored and for what is asked.
//!
//! Compatibility forms and case are folded, words are found by Unicode's rules, stop words are told apart, the rest is
//! stemmed by its language and stripped of Latin diacritics. Scripts that write without spaces give overlapping
//! character pairs. Whatever is written together with signs in it (`C++`, `INC-90312`, `src/lib.rs`) is also kept whole.

use std::{borrow::Cow, collections::HashSet};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

use super::{language::Language, stopwords};

/// Longest term in bytes; longer ones (a pasted key, a wall of letters) are cut between characters.
const TERM_LIMIT: usize = 64;

/// How many texts of an index are in each of the Latin languages: a query's words are stemmed for those that occur.
#[derive(Debug, Default)]
pub(super) struct Languages([i64; 8]);

impl Languages {
    pub(super) fn count(&mut self, language: Language, change: i64) {
        if let Some(count) = self.0.get_mut(language as usize) {
            *count += change;
        }
    }

    fn has(&self, language: Language) -> bool {
        self.0.get(language as usize).is_some_and(|count| *count > 0)
    }
}

/// What a text holds.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    /// Each term once, with the number of its occurrences, in the order of the terms.
    pub(super) terms: Vec<(String, u32)>,
    /// Terms that are not stop words, each counted as often as it occurs.
    pub(super) length: u32,
    /// The Latin language, where there are Latin words.
    pub(super) language: Option<Language>,
}

impl Analysis {
    pub(super) fn of(text: &str) -> Self {
        let text = prepared(text);
        let tokens = tokenize(&text);
        let language = latin_language(&tokens);
        let mut length = 0_u32;
        let mut all: Vec<Cow<'_, str>> = Vec::with_capacity(tokens.len());
        for token in &tokens {
            length = length.saturating_add(u32::from(token.has_length()));
            all.push(token.term(language.unwrap_or(Language::English)));
        }
        all.sort_unstable();
        let mut terms: Vec<(String, u32)> = Vec::with_capacity(all.len());
        for term in all {
            match terms.last_mut() {
                Some((last, count)) if *last == term => *count = count.saturating_add(1),
                _ => terms.push((term.into_owned(), 1)),
            }
        }
        Self { terms, length, language }
    }
}

/// The terms of a text that are not stop words, each once: what it is about.
pub(crate) fn content_terms(text: &str) -> HashSet<String> {
    let tokens = tokenize(text);
    let language = latin_language(&tokens).unwrap_or(Language::English);
    tokens.iter().filter(|token| token.has_length()).map(|token| token.term(language).into_owned()).collect()
}

/// The words of a folded text that carry matter in its own language, in order and as often as they occur, stemmed as
/// English and Russian whatever it is: words of one text are held against those of others, such as the names of relations,
/// that are too short to tell their language.
pub(crate) fn content_words(folded: &str) -> Vec<String> {
    let tokens = tokenize(folded);
    let stop = latin_language(&tokens).unwrap_or(Language::English).bit() | Language::English.bit();
    let is_stop = |token: &Token<'_>| match token.form {
        Form::Latin => token.stop & stop != 0,
        _ => token.stop != 0,
    };
    let carries = |token: &&Token<'_>| !is_stop(token) && !matches!(token.form, Form::Single | Form::Whole);
    tokens.iter().filter(carries).map(|token| token.term(Language::English).into_owned()).collect()
}

/// The terms to look for: for each word of the query the forms it may have in the texts of this index. Stop words are
/// left out unless there is nothing else.
pub(super) fn query_terms(query: &str, present: &Languages) -> Vec<Vec<String>> {
    let query = prepared(query);
    let tokens = tokenize(&query);
    let own = latin_language(&tokens);
    let wanted: Vec<Language> =
        Language::LATIN.into_iter().filter(|language| present.has(*language) || own == Some(*language)).collect();
    let all_stop = tokens.iter().all(|token| token.stop != 0);
    let (mut groups, mut seen): (Vec<Vec<String>>, HashSet<Vec<String>>) = Default::default();
    for token in &tokens {
        if (token.stop != 0 && !all_stop) || token.form == Form::Single {
            continue;
        }
        let mut group: Vec<String> = wanted.iter().map(|language| token.term(*language).into_owned()).collect();
        if group.is_empty() {
            group.push(token.term(Language::English).into_owned());
        }
        group.sort_unstable();
        group.dedup();
        if seen.insert(group.clone()) {
            groups.push(group);
        }
    }
    groups
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Latin,
    Russian,
    Arabic,
    /// A word of another script, a number.
    Plain,
    /// Two neighbouring characters of a script without spaces.
    Pair,
    /// One character of such a script that has neighbours: found by one-character queries.
    Single,
    /// Such a character that stands alone.
    Lone,
    /// Something written together with signs in it.
    Whole,
}

#[derive(Debug)]
struct Token<'t> {
    word: Cow<'t, str>,
    form: Form,
    /// The languages, as bits, in which it is a stop word.
    stop: u8,
}

impl<'t> Token<'t> {
    fn new(word: impl Into<Cow<'t, str>>, form: Form) -> Self {
        Self { word: word.into(), form, stop: 0 }
    }

    const fn has_length(&self) -> bool {
        self.stop == 0 && !matches!(self.form, Form::Single | Form::Whole)
    }

    /// The term it is indexed under, if its text is in `language` (of interest to Latin words only).
    fn term(&self, language: Language) -> Cow<'_, str> {
        let stem = match self.form {
            Form::Latin => stem(&self.word, language),
            Form::Russian => stem(&self.word, Language::Russian),
            Form::Arabic => stem(&self.word, Language::Arabic),
            Form::Plain | Form::Pair | Form::Single | Form::Lone | Form::Whole => Cow::Borrowed(&*self.word),
        };
        let term = fold(stem);
        if term.len() <= TERM_LIMIT {
            return term;
        }
        let end = (0..=TERM_LIMIT).rev().find(|end| term.is_char_boundary(*end)).unwrap_or(0);
        Cow::Owned(term.get(..end).unwrap_or_default().to_owned())
    }
}

/// Compatibility forms and case folded.
fn prepared(text: &str) -> String {
    // What most texts are; the other way comes to the same.
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c }).collect()
}

fn tokenize(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    if text.is_ascii() {
        // The same boundaries by a plainer walk; what has no letter or digit is left out at once.
        text.unicode_words().for_each(|word| push_spaced(word, &mut tokens));
    } else {
        tokenize_scripts(text, &mut tokens);
    }
    tokens.extend(text.split_whitespace().filter_map(whole).map(|whole| Token::new(whole, Form::Whole)));
    tokens
}

fn tokenize_scripts<'t>(text: &'t str, tokens: &mut Vec<Token<'t>>) {
    let mut run = String::new();
    for word in text.split_word_bounds() {
        if word.chars().next().is_some_and(is_unspaced) {
            // UAX 29 parts ideographs and kana differently; the run is put together again and cut into pairs.
            run.push_str(word);
            continue;
        }
        flush_run(&mut run, tokens);
        push_spaced(word, tokens);
    }
    flush_run(&mut run, tokens);
}

fn push_spaced<'t>(word: &'t str, tokens: &mut Vec<Token<'t>>) {
    if word.chars().any(char::is_alphabetic) {
        // UAX 29 keeps `example.com`, `key:value` and `snake_case` in one; `whole` does too, and the parts are what
        // people ask for.
        word.split(['.', ':', '_']).filter(|part| !part.is_empty()).for_each(|part| push_word(part, tokens));
    } else if word.chars().any(char::is_alphanumeric) {
        push_word(word, tokens);
    }
}

fn push_word<'t>(word: &'t str, tokens: &mut Vec<Token<'t>>) {
    let stop = stopwords::languages_of(word);
    let form = match word.chars().find(|c| c.is_alphabetic()) {
        Some('\u{0400}'..='\u{052F}') => Form::Russian,
        Some('\u{0600}'..='\u{06FF}' | '\u{0750}'..='\u{077F}') => Form::Arabic,
        Some(letter) if is_latin(letter) => Form::Latin,
        _ => Form::Plain,
    };
    // French and Italian elisions: the article in front of the apostrophe carries no matter.
    if stop == 0
        && form == Form::Latin
        && let Some((article, rest)) = word.split_once('\'')
        && (article.chars().count() <= 2 || stopwords::languages_of(article) != 0)
        && rest.chars().count() >= 2
    {
        return push_word(rest, tokens);
    }
    tokens.push(Token { word: Cow::Borrowed(word), form, stop });
}

fn flush_run(run: &mut String, tokens: &mut Vec<Token<'_>>) {
    let characters: Vec<char> = run.chars().filter(|c| c.is_alphanumeric() || is_combining_mark(*c)).collect();
    run.clear();
    if let [only] = characters.as_slice() {
        tokens.push(Token::new(only.to_string(), Form::Lone));
        return;
    }
    tokens.extend(characters.iter().map(|single| Token::new(single.to_string(), Form::Single)));
    tokens.extend(characters.windows(2).map(|pair| Token::new(pair.iter().collect::<String>(), Form::Pair)));
}

/// A chunk between blanks that has letters or digits and signs among or after them, without the marks around it.
fn whole(chunk: &str) -> Option<&str> {
    let chunk = chunk.trim_start_matches(|c: char| !c.is_alphanumeric());
    let chunk = chunk.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#'));
    let sign = |c: char| c.is_ascii_punctuation() && c != '\'';
    (chunk.len() <= TERM_LIMIT
        && chunk.chars().any(sign)
        && chunk.chars().any(char::is_alphanumeric)
        && !chunk.chars().any(is_unspaced))
    .then_some(chunk)
}

/// Stop words vote; without a vote, and in a tie, English.
fn latin_language(tokens: &[Token<'_>]) -> Option<Language> {
    if !tokens.iter().any(|token| token.form == Form::Latin) {
        return None;
    }
    let mut votes = [0_usize; Language::LATIN.len()];
    for token in tokens.iter().filter(|token| token.stop != 0) {
        for (count, language) in votes.iter_mut().zip(Language::LATIN) {
            *count += usize::from(token.stop & language.bit() != 0);
        }
    }
    let mut best = (Language::English, votes.first().copied().unwrap_or(0));
    for (language, count) in Language::LATIN.into_iter().zip(votes) {
        if count > best.1 {
            best = (language, count);
        }
    }
    Some(best.0)
}

#[cfg(feature = "stemmers")]
fn stem(word: &str, language: Language) -> Cow<'_, str> {
    use rust_stemmers::{Algorithm, Stemmer};
    let algorithm = match language {
        Language::English => Algorithm::English,
        Language::Spanish => Algorithm::Spanish,
        Language::German => Algorithm::German,
        Language::French => Algorithm::French,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Italian => Algorithm::Italian,
        Language::Russian => Algorithm::Russian,
        Language::Arabic => Algorithm::Arabic,
    };
    Stemmer::create(algorithm).stem(word)
}

#[cfg(not(feature = "stemmers"))]
fn stem(word: &str, _: Language) -> Cow<'_, str> {
    Cow::Borrowed(word)
}

/// Strips marks from Latin and Greek letters, vowel marks from Arabic and Hebrew, and reads ё as е. Other scripts keep
/// their marks: й is not и.
fn fold(word: Cow<'_, str>) -> Cow<'_, str> {
    if word.is_ascii() {
        return word;
    }
    let mut strip = true;
    let folded = word
        .nfd()
        .filter(|c| {
            if is_combining_mark(*c) {
                return !strip;
            }
            strip = is_latin(*c) || matches!(c, '\u{0370}'..='\u{03FF}' | '\u{0590}'..='\u{06FF}');
            true
        })
        .filter(|c| *c != '\u{0640}')
        .nfc()
        .map(|c| if c == 'ё' { 'е' } else { c })
        .collect();
    Cow::Owned(folded)
}

fn is_latin(c: char) -> bool {
    matches!(c, 'a'..='z' | 'A'..='Z' | '\u{00C0}'..='\u{024F}' | '\u{1E00}'..='\u{1EFF}')
}

/// Han, kana, Hangul, Thai, Lao, Khmer and Burmese: scripts whose words a blank does not part, or whose endings hang on.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1100}'..='\u{11FF}' | '\u{1780}'..='\u{17FF}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30FF}' | '\u{3130}'..='\u{318F}' | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{2_0000}'..='\u{3_134F}')
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a failing look-up is a failing test")]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms: Vec<String> = Analysis::of(text).terms.into_iter().map(|(term, _)| term).collect();
        terms.sort();
        terms
    }

    fn shared(stored: &str, query: &str) -> bool {
        let stored_analysis = Analysis::of(stored);
        let mut languages = Languages::default();
        if let Some(language) = stored_analysis.language {
            languages.count(language, 1);
        }
        let held = terms(stored);
        query_terms(query, &languages).iter().flatten().any(|term| held.contains(term))
    }

    #[test]
    fn signs_inside_words_are_searchable() {
        for (stored, query) in [
            ("Reviews C++ and C# code", "C++"),
            ("limit is 30 km/h on the re-check ramp", "km/h"),
            ("on the re-check ramp", "recheck re-check"),
            ("see INC-90312, please", "inc-90312"),
            ("Don't book the D'Or hotel", "don’t"),
            ("Don't book the D'Or hotel", "D'Or"),
            ("Runs version 3.11 at home", "3.11"),
            ("see example.com/docs", "example"),
            ("title:tea", "tea"),
            ("calls read_file first", "read_file"),
            ("calls read_file first", "read file"),
        ] {
            assert!(shared(stored, query), "{query} in {stored}: {:?}", terms(stored));
        }
        assert!(!terms("Reviews C# code").contains(&"c++".to_owned()));
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(terms("茶馆"), ["茶", "茶馆", "馆"]);
        assert_eq!(query_terms("最喜欢", &Languages::default()), [["最喜"], ["喜欢"]]);
        assert!(shared("土曜日は折り紙教室に行く", "折り紙") && shared("서울에서 살아요", "서울"));
        assert!(shared("最喜欢河边的茶馆", "茶"));
    }

    #[cfg(feature = "stemmers")]
    #[test]
    fn words_meet_across_their_endings() {
        for (stored, query) in [
            ("She was painting sunrises", "paint a sunrise"),
            ("Я переехала в Казань", "переехал"),
            ("Вчера завёл собаку", "собака завел"),
            ("Le gustan los libros viejos", "libro viejo"),
            ("La música de los niños", "musica"),
            ("Ich mag alte Häuser", "Haus Häuser"),
            ("J'aime l'eau et les chevaux", "eau"),
            ("Gosto muito de praias", "praia"),
            ("Mi piacciono gli amici dell'università", "università"),
            ("تعمل ممرضة في مستشفى الأطفال", "الممرضة"),
        ] {
            assert!(shared(stored, query), "{query} in {stored}: {:?}", terms(stored));
        }
    }

    #[test]
    fn stop_words_count_only_when_alone() {
        let languages = Languages::default();
        assert_eq!(query_terms("who is the vet", &languages), [["vet"]]);
        assert!(!query_terms("who is that", &languages).is_empty());
        for nothing in ["", "   ", "*", "(", "^ - \"", "—…"] {
            assert!(query_terms(nothing, &languages).is_empty(), "{nothing}");
        }
        assert_eq!(Analysis::of("I am the walrus").length, 1);
    }

    proptest::proptest! {
        #[test]
        fn plain_texts_come_out_as_the_others_do(text in "[ -~\t\n]{0,60}") {
            let lower = text.to_ascii_lowercase();
            let (mut quick, mut slow) = (tokenize(&lower), Vec::new());
            tokenize_scripts(&lower, &mut slow);
            quick.truncate(slow.len());
            let words = |tokens: Vec<Token<'_>>| -> Vec<(String, Form, u8)> {
                tokens.into_iter().map(|token| (token.word.into_owned(), token.form, token.stop)).collect()
            };
            assert_eq!(words(quick), words(slow), "{text:?}");
            assert_eq!(prepared(&text), text.nfkc().flat_map(char::to_lowercase).collect::<String>());
        }
    }

    #[test]
    fn a_wall_of_letters_is_one_short_term() {
        let analysis = Analysis::of(&"ж".repeat(100_000));
        assert!(analysis.terms.len() == 1 && analysis.terms[0].0.len() <= TERM_LIMIT);
    }
}
