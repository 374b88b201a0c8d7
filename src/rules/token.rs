//! Words and marks of a message, with their places in it.

use unicode_normalization::char::is_combining_mark;

use super::{prose::Piece, when::When};

/// How a token is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A word that begins with a capital letter.
    Capital,
    /// Any other word.
    Lower,
    /// A number, or a word that begins with a digit.
    Number,
    /// Punctuation, a symbol or an emoji.
    Mark,
    /// Where something was cut out.
    Masked,
    /// The end of a line.
    Break,
}

/// A word or mark.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// Where it begins in the message.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// The word as patterns spell it: lower case, straight apostrophes, `ё` as `е`.
    pub(super) word: String,
    /// How it is written.
    pub(super) shape: Shape,
    /// The time that begins here.
    pub(super) when: Option<Box<When>>,
}

impl Token {
    /// Whether it is a word or number.
    pub(super) const fn is_word(&self) -> bool {
        matches!(self.shape, Shape::Capital | Shape::Lower | Shape::Number)
    }

    /// Whether it is this mark.
    pub(super) fn is(&self, mark: &str) -> bool {
        self.shape == Shape::Mark && self.word == mark
    }
}

/// Endings of English words that are words of their own.
const CONTRACTIONS: [(&str, &str); 6] =
    [("n't", "not"), ("'m", "am"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would")];

/// The same without the apostrophe, as people type them, each with the length of its first word.
const SLURRED: [(&str, usize, &str, &str); 9] = [
    ("im", 1, "i", "am"),
    ("ive", 1, "i", "have"),
    ("dont", 2, "do", "not"),
    ("doesnt", 4, "does", "not"),
    ("didnt", 3, "did", "not"),
    ("cant", 2, "can", "not"),
    ("cannot", 3, "can", "not"),
    ("isnt", 2, "is", "not"),
    ("havent", 4, "have", "not"),
];

/// The tokens of a message.
pub(super) fn tokens(text: &str, pieces: &[Piece]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    for piece in pieces {
        match piece {
            Piece::Prose(range) => {
                scan(text.get(range.clone()).unwrap_or_default(), range.start, &mut tokens);
                at = range.end;
            }
            Piece::Masked => tokens.push(blank(at, Shape::Masked)),
            Piece::Break => tokens.push(blank(at, Shape::Break)),
        }
    }
    tokens
}

const fn blank(at: usize, shape: Shape) -> Token {
    Token { start: at, end: at, word: String::new(), shape, when: None }
}

fn scan(prose: &str, base: usize, tokens: &mut Vec<Token>) {
    let mut chars = prose.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        if first.is_whitespace() {
            continue;
        }
        let mut end = start + first.len_utf8();
        if !first.is_alphanumeric() {
            tokens.push(Token {
                start: base + start,
                end: base + end,
                word: first.into(),
                shape: Shape::Mark,
                when: None,
            });
            continue;
        }
        let mut last = first;
        // Since the last joint: one letter and a dot make an abbreviation ("U.S.").
        let mut run = 1;
        while let Some(&(here, next)) = chars.peek() {
            let after = prose.get(here + next.len_utf8()..).and_then(|rest| rest.chars().next());
            let joins = match next {
                '\'' | '’' | 'ʼ' | '-' | '‑' => after.is_some_and(char::is_alphanumeric),
                '.' => {
                    after.is_some_and(|after| {
                        (run == 1 && after.is_uppercase()) || after.is_lowercase() || after.is_ascii_digit()
                    }) && last.is_alphanumeric()
                }
                '+' | '#' => !after.is_some_and(|after| after.is_alphanumeric()),
                _ => next.is_alphanumeric() || is_combining_mark(next),
            };
            if !joins {
                break;
            }
            run = if next.is_alphanumeric() { run + 1 } else { 0 };
            last = next;
            end = here + next.len_utf8();
            chars.next();
        }
        word(prose.get(start..end).unwrap_or_default(), base + start, first, tokens);
    }
}

/// Adds a word, as two where it is a contraction.
fn word(raw: &str, start: usize, first: char, tokens: &mut Vec<Token>) {
    let shape = if first.is_numeric() {
        Shape::Number
    } else if first.is_uppercase() {
        Shape::Capital
    } else {
        Shape::Lower
    };
    let word = fold(raw);
    let end = start + raw.len();
    let mut pair = |head: &str, cut: usize, tail: &str| {
        tokens.push(Token { start, end: start + cut, word: head.to_owned(), shape, when: None });
        tokens.push(Token { start: start + cut, end, word: tail.to_owned(), shape: Shape::Lower, when: None });
    };
    if let Some((_, cut, head, tail)) = SLURRED.into_iter().find(|(slurred, ..)| *slurred == word) {
        return pair(head, cut, tail);
    }
    if word.contains('\'') {
        if word == "can't" || word == "won't" {
            let head = if word == "can't" { "can" } else { "will" };
            return pair(head, 2, "not");
        }
        for (ending, tail) in CONTRACTIONS.into_iter().chain([("'s", "'s")]) {
            let Some(head) = word.strip_suffix(ending) else { continue };
            // The cut is found in the raw word, whose apostrophe may take more bytes.
            let chars = ending.chars().count();
            let Some((cut, _)) = raw.char_indices().rev().nth(chars - 1) else { continue };
            if !head.is_empty() {
                return pair(head, cut, tail);
            }
        }
    }
    tokens.push(Token { start, end, word, shape, when: None });
}

/// A word as patterns spell it.
pub(super) fn fold(raw: &str) -> String {
    let mut folded = String::with_capacity(raw.len());
    for char in raw.chars() {
        match char {
            '’' | 'ʼ' => folded.push('\''),
            '‑' => folded.push('-'),
            'ё' | 'Ё' => folded.push('е'),
            other => folded.extend(other.to_lowercase()),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let piece = [Piece::Prose(0..text.len())];
        tokens(text, &piece).into_iter().map(|token| token.word).collect()
    }

    #[test]
    fn contractions_are_two_words() {
        assert_eq!(
            words("I’m im can't won't sister’s"),
            ["i", "am", "i", "am", "can", "not", "will", "not", "sister", "'s"]
        );
        assert_eq!(words("rock'n'roll O'Neil"), ["rock'n'roll", "o'neil"]);
    }

    #[test]
    fn joints_keep_words_whole() {
        assert_eq!(
            words("Node.js, C++! gluten-free U.S Rome.I"),
            ["node.js", ",", "c++", "!", "gluten-free", "u.s", "rome", ".", "i"]
        );
        assert_eq!(words("Живёт e\u{301}té"), ["живет", "e\u{301}té"]);
    }
}
