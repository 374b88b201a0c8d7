//! Words, numbers and marks of a text, with their places in it.

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
    /// The word as tables spell it: lower case, composed, `ё` as `е`, straight marks.
    pub(super) word: String,
    /// The value of a number of at most nine digits.
    pub(super) number: Option<u32>,
    /// Whether it begins with a capital letter.
    pub(super) capital: bool,
    /// Whether nothing stands between it and the token before.
    pub(super) glued: bool,
}

impl Token {
    pub(super) fn is(&self, word: &str) -> bool {
        self.word == word
    }

    /// How many digits a number has.
    pub(super) fn digits(&self) -> usize {
        if self.kind == Kind::Number { self.word.len() } else { 0 }
    }
}

/// Longest text that is read, in bytes: a time that far into a text is not what the text is about, and reading is
/// bounded for whatever is pasted.
const LONGEST: usize = 64 * 1024;

/// The tokens of a text, up to a bound.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
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
        let raw = text.get(start..end).unwrap_or_default();
        let word = folded(raw, kind);
        let number = (kind == Kind::Number && word.len() <= 9).then(|| word.parse().ok()).flatten();
        let glued = found.last().is_some_and(|last| last.end == start);
        found.push(Token { start, end, kind, word, number, capital: first.is_uppercase(), glued });
    }
    found
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

fn folded(raw: &str, kind: Kind) -> String {
    match kind {
        Kind::Number => raw.chars().filter_map(digit).collect(),
        Kind::Mark => match raw {
            "’" | "ʼ" | "‘" | "`" => "'".to_owned(),
            "‐" | "‑" | "–" | "—" | "−" | "～" | "~" => "-".to_owned(),
            "，" | "、" => ",".to_owned(),
            "／" => "/".to_owned(),
            _ => raw.to_owned(),
        },
        Kind::Word if raw.is_ascii() => raw.to_ascii_lowercase(),
        _ => raw.nfc().flat_map(char::to_lowercase).map(|char| if char == 'ё' { 'е' } else { char }).collect(),
    }
}
