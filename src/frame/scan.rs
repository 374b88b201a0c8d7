//! Reading lines of the frame out of a text in which they may stand anywhere and may be cut off.

use super::{BULLET, CUT};

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A line, up to here.
    Whole(usize),
    /// A line whose text is not closed, up to here.
    Open(usize),
    /// The beginning of a line, and then the text ends.
    Begun,
    /// Nothing of ours.
    Nothing,
}

const LABELS: [&str; 6] = ["block", "fact", "preference", "procedure", "observation", "summary"];
/// Most characters of a text that goes on after a line break: bounds the work on a text made to be slow.
const MOST_WRAPPED: usize = 10_000;
const ROLES: [&str; 4] = ["user", "assistant", "tool", "imported"];

/// What a line begins with at `at`, where a bullet stands. White space may have been changed.
pub(super) fn line(characters: &[char], at: usize) -> Found {
    let mut scan = Scan { characters, at: at + 1 };
    match scan.line() {
        Some(found) => found,
        None if scan.at >= characters.len() => Found::Begun,
        None => Found::Nothing,
    }
}

/// A place in a text, moved on by whatever fits. Where nothing fits it stays at the first character that does not.
struct Scan<'c> {
    characters: &'c [char],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn literal(&mut self, word: &str) -> Option<()> {
        for expected in word.chars() {
            (self.peek()? == expected).then(|| self.at += 1)?;
        }
        Some(())
    }

    /// One of the words; nothing is taken if it is none, unless the text ends in the middle of one.
    fn one_of<'w>(&mut self, words: &[&'w str]) -> Option<&'w str> {
        let from = self.at;
        for word in words {
            if self.literal(word).is_some() && !self.peek().is_some_and(char::is_alphanumeric) {
                return Some(word);
            }
            if self.at >= self.characters.len() {
                return None;
            }
            self.at = from;
        }
        None
    }

    fn digits(&mut self, least: usize) -> Option<()> {
        let from = self.at;
        while self.peek().is_some_and(|character| character.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at - from >= least).then_some(())
    }

    fn date(&mut self) -> Option<()> {
        if self.peek().is_some_and(|sign| matches!(sign, '+' | '-')) {
            self.at += 1;
        }
        self.digits(4)?;
        self.literal("-")?;
        self.digits(2)?;
        self.literal("-")?;
        self.digits(2)
    }

    fn line(&mut self) -> Option<Found> {
        self.spaces();
        match self.one_of(&[&["on", "kind"][..], &LABELS, &ROLES].concat()) {
            Some("on") => {
                self.spaces();
                self.date()?;
                return self.day();
            }
            Some(role) if ROLES.contains(&role) => {}
            label => {
                if label.is_none() {
                    return self.name().and_then(|()| self.text());
                }
                if label == Some("kind") {
                    self.spaces();
                    self.name()?;
                }
                self.spaces();
                if self.peek().is_some_and(|character| character.is_ascii_digit() || matches!(character, '+' | '-')) {
                    self.date()?;
                    self.spaces();
                }
                if self.peek() == Some('"') {
                    self.name()?;
                } else if self.peek() != Some(':') {
                    self.one_of(&ROLES)?;
                }
            }
        }
        self.text()
    }

    /// The rest of a day's line.
    fn day(&mut self) -> Option<Found> {
        let end = self.at;
        if self.peek() == Some(',') {
            self.at += 1;
            self.spaces();
            let session = self.literal("session").map(|()| self.spaces()).and_then(|()| self.name());
            if session.is_some() {
                return Some(Found::Whole(self.at));
            }
            if self.at >= self.characters.len() {
                return None;
            }
        }
        Some(Found::Whole(end))
    }

    fn name(&mut self) -> Option<()> {
        match self.quoted() {
            Found::Whole(_) => Some(()),
            _ => None,
        }
    }

    /// The colon and the text after it.
    fn text(&mut self) -> Option<Found> {
        self.spaces();
        self.literal(":")?;
        self.spaces();
        match self.quoted() {
            Found::Whole(end) => {
                self.spaces();
                let cut = self.literal(CUT).is_some() || self.at >= self.characters.len();
                Some(Found::Whole(if cut { self.at } else { end }))
            }
            Found::Open(end) => Some(Found::Open(end)),
            Found::Begun | Found::Nothing => None,
        }
    }

    /// A JSON string. A line break in it was put there by whoever wrapped the lines, and then only a quotation mark at
    /// the end of a line closes it, so that the next one of the user's own does not.
    fn quoted(&mut self) -> Found {
        if self.peek() != Some('"') {
            return Found::Nothing;
        }
        self.at += 1;
        let mut wrapped = None;
        while let Some(character) = self.peek() {
            self.at += 1;
            if wrapped.is_some_and(|wrapped| self.at - wrapped > MOST_WRAPPED) {
                break;
            }
            match character {
                '\\' => self.at += 1,
                '"' if wrapped.is_none() || self.ends_line() => return Found::Whole(self.at),
                '\n' => {
                    wrapped = wrapped.or(Some(self.at - 1));
                    let next = self.rest().find(|character| *character == '\n' || !character.is_whitespace());
                    if next.is_none_or(|next| matches!(next, '\n' | BULLET | '<')) {
                        break;
                    }
                }
                _ => {}
            }
        }
        Found::Open(wrapped.unwrap_or(self.characters.len()))
    }

    fn rest(&self) -> impl Iterator<Item = char> {
        self.characters.iter().skip(self.at).copied()
    }

    fn ends_line(&self) -> bool {
        let line: String = self.rest().take_while(|character| *character != '\n').collect();
        let line = line.trim();
        line.is_empty() || line == CUT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Found {
        let characters: Vec<char> = text.chars().collect();
        line(&characters, 0)
    }

    #[test]
    fn lines_are_read_whatever_their_white_space() {
        for whole in [
            r#"‣ fact 2025-02-10: "Lives in Lisbon""#,
            r#"‣  fact  2025-02-10 assistant :  "a \"b\" c""#,
            r#"‣ "Alice": "Hi""#,
            r#"‣ user: "Hi""#,
            r#"‣ block "persona": "Is kind" (cut)"#,
            r#"‣ kind "recipe" +12025-02-10 "Ann": "x""#,
            "‣ on 2025-02-10",
            r#"‣ on 2025-02-10, session "a b""#,
            "‣ fact 2025-02-10: \"Lives in\nLisbon\"",
        ] {
            let length = whole.chars().count();
            assert_eq!(read(whole), Found::Whole(length), "{whole}");
            assert_eq!(read(&format!("{whole}\nMine")), Found::Whole(length), "{whole}");
            // Any beginning of it is told as one.
            for end in 2..length {
                let cut: String = whole.chars().take(end).collect();
                assert_ne!(read(&cut), Found::Nothing, "{cut}");
            }
        }
    }

    #[test]
    fn what_is_not_closed_ends_with_its_line() {
        assert_eq!(read("‣ user: \"Lives in Lis\nShe said \"hi\" to me"), Found::Open(21));
        assert_eq!(read("‣ user: \"Lives in Lis"), Found::Open(21));
    }

    #[test]
    fn bullets_of_others_are_nothing() {
        for other in ["‣ milk and eggs", "‣ fact: none", "‣ user stories\n", "‣ on Monday I work", "‣ \"x\" y"]
        {
            assert_eq!(read(other), Found::Nothing, "{other}");
        }
    }
}
