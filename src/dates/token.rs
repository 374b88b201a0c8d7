//! Words, numbers and marks of a text, with their places in it.

use std::{collections::HashSet, ops::Range};

use unicode_normalization::UnicodeNormalization;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A run of letters of an alphabet.
    Word,
    /// A run of digits.
    Number,
    /// One sign of a script without spaces.
    Sign,
    /// Anything else.
    Mark,
}

/// A word, number, sign or mark. Apostrophes and hyphens are marks: `l'été` is three tokens, and so are the patterns
/// it is held against.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
    /// A word, sign or mark as tables spell it; empty for numbers, and for what no table knows.
    pub(super) word: &'static str,
    /// The value of a number of at most nine digits.
    pub(super) number: Option<u32>,
    /// How many digits a number has.
    pub(super) digits: usize,
    /// Whether it begins with a capital letter.
    pub(super) capital: bool,
    /// Whether nothing stands between it and the token before.
    pub(super) glued: bool,
}

impl Token {
    pub(super) fn is(&self, word: &str) -> bool {
        self.word == word
    }

    /// Whether it is one of these marks.
    pub(super) fn is_among(&self, marks: &str) -> bool {
        self.kind == Kind::Mark && !self.word.is_empty() && marks.contains(self.word)
    }
}

/// Longest text that is read, in bytes: a time that far into a text is not what the text is about, and reading is
/// bounded for whatever is pasted.
const LONGEST: usize = 64 * 1024;

/// The tokens of a text, up to a bound, by the words that are known.
pub(super) fn tokens(text: &str, known: &'static HashSet<String>) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::with_capacity(text.len().min(LONGEST) / 5);
    scan(text, |range, kind, folded| {
        let is_number = kind == Kind::Number;
        found.push(Token {
            kind,
            word: if is_number { "" } else { known.get(folded).map_or("", String::as_str) },
            number: (is_number && folded.len() <= 9).then(|| folded.parse().ok()).flatten(),
            digits: if is_number { folded.len() } else { 0 },
            capital: text.get(range.clone()).and_then(|raw| raw.chars().next()).is_some_and(char::is_uppercase),
            glued: found.last().is_some_and(|last| last.end == range.start),
            start: range.start,
            end: range.end,
        });
    });
    found
}

/// The words of a phrase of a table.
pub(super) fn spelled(phrase: &str) -> Vec<String> {
    let mut words = Vec::new();
    scan(phrase, |_, _, folded| words.push(folded.to_owned()));
    words
}

/// Hands over each token: where it is, what it is, and how tables spell it (lower case, composed, `ё` as `е`, straight
/// marks).
fn scan(text: &str, mut each: impl FnMut(Range<usize>, Kind, &str)) {
    let mut folded = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        if start > LONGEST {
            break;
        }
        if first.is_whitespace() {
            continue;
        }
        let kind = kind_of(first);
        let mut end = start + first.len_utf8();
        if matches!(kind, Kind::Word | Kind::Number) {
            while let Some(&(here, next)) = chars.peek() {
                let goes_on = kind_of(next) == kind || (kind == Kind::Word && is_combining(next));
                if !goes_on {
                    break;
                }
                end = here + next.len_utf8();
                chars.next();
            }
        }
        folded.clear();
        fold(text.get(start..end).unwrap_or_default(), kind, &mut folded);
        each(start..end, kind, &folded);
    }
}

fn kind_of(char: char) -> Kind {
    if digit(char).is_some() {
        Kind::Number
    } else if is_sign(char) {
        Kind::Sign
    } else if char.is_alphabetic() {
        Kind::Word
    } else {
        Kind::Mark
    }
}

/// A digit, also a full-width one.
fn digit(char: char) -> Option<char> {
    match char {
        '0'..='9' => Some(char),
        '０'..='９' => char::from_u32(char as u32 - '０' as u32 + '0' as u32),
        _ => None,
    }
}

/// Chinese characters, kana, and the circle that stands for zero.
fn is_sign(char: char) -> bool {
    matches!(char, '〇' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn is_combining(char: char) -> bool {
    unicode_normalization::char::is_combining_mark(char)
}

fn fold(raw: &str, kind: Kind, folded: &mut String) {
    match kind {
        Kind::Number => folded.extend(raw.chars().filter_map(digit)),
        Kind::Mark => folded.push_str(match raw {
            "’" | "ʼ" | "‘" | "`" => "'",
            "‐" | "‑" | "–" | "—" | "−" | "～" | "~" => "-",
            "，" | "、" => ",",
            "／" => "/",
            _ => raw,
        }),
        Kind::Word if raw.is_ascii() => folded.extend(raw.chars().map(|char| char.to_ascii_lowercase())),
        _ => folded.extend(raw.nfc().flat_map(char::to_lowercase).map(|char| if char == 'ё' { 'е' } else { char })),
    }
}
