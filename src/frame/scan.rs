//! Reading lines of the frame out of a text in which they may stand anywhere and may be cut off.

use std::collections::HashMap;

use super::{BULLET, CUT, ORDER};

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
/// Most characters of a text after a line break in it: what is longer is hardly one text of ours.
const MOST_WRAPPED: usize = 10_000;
/// Most white space between two parts of a line, and most digits of a number. Lines may share their rest, so it is read
/// once for each of them and has to be short.
const MOST_SPACE: usize = 64;
const MOST_DIGITS: usize = 10;
const ROLES: [&str; 4] = ["user", "assistant", "tool", "imported"];

/// Reads the lines of one text. What several lines share, the rest of a text that was wrapped, is read once, so that
/// all of them together take steps in proportion to the length of the text.
pub(super) struct Scan<'c> {
    characters: &'c [char],
    /// Moved on by whatever fits. Where nothing fits it stays at the first character that does not.
    at: usize,
    /// By the place of a quotation mark: the string that begins there, and where reading it ended.
    strings: HashMap<usize, (Found, usize)>,
    /// By the place of a line break in a string: the end of the string, if it is closed.
    wraps: HashMap<usize, Option<usize>>,
    #[cfg(test)]
    steps: std::cell::Cell<usize>,
}

impl<'c> Scan<'c> {
    pub(super) fn of(characters: &'c [char]) -> Self {
        Self {
            characters,
            at: 0,
            strings: HashMap::new(),
            wraps: HashMap::new(),
            #[cfg(test)]
            steps: std::cell::Cell::new(0),
        }
    }

    /// What a line begins with at `at`, where a bullet stands. White space may have been changed.
    pub(super) fn line(&mut self, at: usize) -> Found {
        self.at = at + 1;
        match self.parts() {
            Some(found) => found,
            None if self.at >= self.characters.len() => Found::Begun,
            None => Found::Nothing,
        }
    }

    fn character(&self, at: usize) -> Option<char> {
        #[cfg(test)]
        self.steps.set(self.steps.get() + 1);
        self.characters.get(at).copied()
    }

    fn peek(&self) -> Option<char> {
        self.character(self.at)
    }

    fn spaces(&mut self) {
        let most = self.at + MOST_SPACE;
        while self.at < most && self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn literal(&mut self, word: &str) -> Option<()> {
        for expected in word.chars() {
            (self.peek()? == expected).then(|| self.at += 1)?;
        }
        Some(())
    }

    /// Words, between which white space may have been changed.
    fn words(&mut self, words: &str) -> Option<()> {
        for word in words.split(' ') {
            self.spaces();
            self.literal(word)?;
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
        while self.at - from < MOST_DIGITS && self.peek().is_some_and(|character| character.is_ascii_digit()) {
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

    fn parts(&mut self) -> Option<Found> {
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
                    if self.one_of(&["until"]).is_some() {
                        self.spaces();
                        self.date()?;
                        self.spaces();
                    }
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
            Found::Whole(mut end) => {
                for remark in [CUT, ORDER] {
                    self.at = end;
                    self.spaces();
                    if self.words(remark).is_some() || self.at >= self.characters.len() {
                        end = self.at;
                    }
                }
                Some(Found::Whole(end))
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
        let from = self.at;
        let known = self.strings.get(&from).copied();
        let (found, at) = known.unwrap_or_else(|| (self.string(), self.at));
        if known.is_none() {
            self.strings.insert(from, (found, at));
        }
        self.at = at;
        found
    }

    fn string(&mut self) -> Found {
        self.at += 1;
        while let Some(character) = self.peek() {
            self.at += 1;
            match character {
                '\\' => self.at += 1,
                '"' => return Found::Whole(self.at),
                '\n' => {
                    let wrapped = self.at - 1;
                    let end = self.wrapped(wrapped).filter(|end| end - wrapped <= MOST_WRAPPED);
                    // What follows an open string on the next line is nobody's but the writer's.
                    self.at = end.unwrap_or(wrapped + 1);
                    return end.map_or(Found::Open(wrapped), Found::Whole);
                }
                _ => {}
            }
        }
        Found::Open(self.characters.len())
    }

    /// The end of a string that has a line break at `wrapped`, which was just passed; `None` if it is not closed.
    fn wrapped(&mut self, wrapped: usize) -> Option<usize> {
        let mut passed = Vec::new();
        let mut line_break = Some(wrapped);
        let end = loop {
            if let Some(at) = line_break.take() {
                if let Some(known) = self.wraps.get(&at) {
                    break *known;
                }
                passed.push(at);
                let next = self.character(self.after_spaces(self.at));
                if next.is_none_or(|next| matches!(next, '\n' | BULLET | '<')) {
                    break None;
                }
            }
            let Some(character) = self.peek() else { break None };
            self.at += 1;
            match character {
                '\\' => self.at += 1,
                '"' if self.ends_line() => break Some(self.at),
                '\n' => line_break = Some(self.at - 1),
                _ => {}
            }
        };
        self.wraps.extend(passed.into_iter().map(|at| (at, end)));
        end
    }

    /// The first place from `at` on that is no white space, or ends the line.
    fn after_spaces(&self, mut at: usize) -> usize {
        while self.character(at).is_some_and(|character| character != '\n' && character.is_whitespace()) {
            at += 1;
        }
        at
    }

    /// Whether nothing but what may stand after a text follows in its line.
    fn ends_line(&self) -> bool {
        let mut at = self.after_spaces(self.at);
        if (at..).zip(CUT.chars()).all(|(at, expected)| self.character(at) == Some(expected)) {
            at = self.after_spaces(at + CUT.len());
        }
        self.character(at).is_none_or(|character| character == '\n')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Found {
        let characters: Vec<char> = text.chars().collect();
        Scan::of(&characters).line(0)
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
            r#"‣ fact 2019-05-01 until 2025-02-10: "Lives in Rome""#,
            r#"‣ fact 2019-05-01 until 2025-02-10 user: "Lives in Rome""#,
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

    #[test]
    fn a_name_that_is_not_closed_takes_nothing_from_the_next_line() {
        assert_eq!(read("‣ \"Ali\nI moved to Rome."), Found::Nothing);
        assert_eq!(read("‣ \"Ali"), Found::Begun);
    }

    /// Steps for each character, all lines of the text being read.
    fn steps(text: &str) -> usize {
        let characters: Vec<char> = text.chars().collect();
        let mut scan = Scan::of(&characters);
        for at in (0..characters.len()).filter(|at| characters.get(*at) == Some(&BULLET)) {
            scan.line(at);
        }
        scan.steps.get() / characters.len()
    }

    #[test]
    fn no_text_is_slow_to_read() {
        const LENGTH: usize = 100_000;
        let of = |piece: &str| piece.repeat(LENGTH / piece.chars().count());
        let few = |piece: &str| piece.repeat(MOST_WRAPPED / 2 / piece.chars().count());
        for (name, text) in [
            ("a string of quotation marks", format!("‣ user: \"\n{}", of("x\""))),
            ("such strings", of(&format!("a{} ‣ user: \"x\n", "b\"".repeat(500)))),
            ("strings that are not closed", of("a ‣ user: \"x\n")),
            ("names that are not closed", of("a ‣ \"x\n")),
            ("bullets", of("‣ ")),
            ("bullets with line breaks", of("‣ on\n\n\n\n\n")),
            ("spaces", format!("‣{}", of(" "))),
            ("quotation marks with spaces", format!("‣ user: \"\n{}", of("\"   (cut)   x"))),
            ("lines that end together before spaces", format!("{}\"\n{}", few("a ‣ user: \"x\n"), of(" "))),
            ("names that end together before spaces", format!("{}\"\n{}", few("a ‣ \"x\n"), of(" "))),
            ("names that end together before a text", format!("{}\"\n: \"{}", few("a ‣ \"x\n"), of("y"))),
            ("names that end together before a wrapped text", format!("{}\"\n: \"{}", few("a ‣ \"x\n"), of("y\n"))),
            ("kinds that end together before digits", format!("{}\"\n{}", few("a ‣ kind \"x\n"), of("1"))),
        ] {
            let steps = steps(&text);
            assert!(steps <= 40, "{steps} steps for each character of {name}");
        }
    }
}
