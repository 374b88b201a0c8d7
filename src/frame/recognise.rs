//! What a recall put into a text, and what is the writer's own.

use std::{borrow::Cow, ops::Range};

use super::{
    BEGIN, BULLET, END, PREAMBLE,
    cut::is_cut_beginning,
    scan::{Found, Scan},
};

/// How many times over a text may be escaped as JSON: a prompt inside a request inside a log.
const LAYERS: usize = 3;
/// Least words of the preamble that are taken for it after a marker.
const PREAMBLE_LEAST: usize = 3;

/// The text without what a recall put there, the pieces on lines of their own; empty if nothing but punctuation is
/// left. A text without any is given back as it is.
///
/// Recalled is: what stands from a [`BEGIN`] to the next [`END`], whatever it is; every line of a frame, wherever it
/// stands; and what a cut left of a marker, of the preamble or of a line, at the beginning and the end of the text and
/// beside a marker. White space may have been changed, lines be marked as quoted, and the text be escaped as JSON, up
/// to three times. A piece from the middle of a line has no mark and is taken for the writer's own words; so is the rest
/// of a line at the beginning of the text unless it shows that it is one (`cut`): to store a scrap twice
/// does less harm than to lose what somebody said.
pub(crate) fn own_words(text: &str) -> Cow<'_, str> {
    let recalled = recalled(text);
    if recalled.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut own = String::new();
    let mut from = 0;
    let end = text.len()..text.len();
    for end in recalled.into_iter().chain(std::iter::once(end)) {
        let piece = text.get(from..end.start).unwrap_or_default().trim();
        if has_words(piece) {
            own.push_str(if own.is_empty() { "" } else { "\n" });
            own.push_str(piece);
        }
        from = end.end;
    }
    Cow::Owned(own)
}

/// Whether there is anything but white space and punctuation, such as the fence or the quotation marks around a block.
fn has_words(text: &str) -> bool {
    let is_mark = |character: char| {
        character.is_whitespace()
            || character.is_ascii_punctuation()
            || matches!(character, '«' | '»' | '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{301f}')
    };
    !text.chars().all(is_mark)
}

/// The byte ranges that a recall put there: in order and apart.
fn recalled(text: &str) -> Vec<Range<usize>> {
    // Escaping changes neither letters nor digits.
    let marked = ["recalled-memories", "\u{2023}", "u2023"].iter().any(|mark| text.contains(mark));
    if !marked {
        return Vec::new();
    }
    let mut view = View::of(text);
    let mut found = Vec::new();
    for _ in 0..=LAYERS {
        for span in spans(&view.characters) {
            let start = view.places.get(span.start).map(|place| place.start);
            let end = span.end.checked_sub(1).and_then(|last| view.places.get(last)).map(|place| place.end);
            found.extend(start.zip(end).map(|(start, end)| start..end));
        }
        let Some(unescaped) = view.unescaped() else { break };
        view = unescaped;
    }
    found.sort_unstable_by_key(|span| span.start);
    joined(found, |between| !has_words(text.get(between).unwrap_or_default()))
}

/// Spans in order, as one where what is between them may go too.
fn joined(spans: Vec<Range<usize>>, goes: impl Fn(Range<usize>) -> bool) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start <= last.end || goes(last.end..span.start) => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

/// A text, perhaps after escapes were resolved, and where each character came from.
struct View {
    characters: Vec<char>,
    places: Vec<Range<usize>>,
}

impl View {
    fn of(text: &str) -> Self {
        let (places, characters) =
            text.char_indices().map(|(at, character)| (at..at + character.len_utf8(), character)).unzip();
        Self { characters, places }
    }

    /// With one layer of JSON escapes resolved; `None` without any.
    fn unescaped(&self) -> Option<Self> {
        if !self.characters.contains(&'\\') {
            return None;
        }
        let mut view = Self { characters: Vec::new(), places: Vec::new() };
        let mut at = 0;
        while let Some(&character) = self.characters.get(at) {
            let (resolved, length) = self.escape(at).unwrap_or((character, 1));
            let place = self.places.get(at).zip(self.places.get(at + length - 1));
            view.places.extend(place.map(|(first, last)| first.start..last.end));
            view.characters.push(resolved);
            at += length;
        }
        Some(view)
    }

    /// The character that an escape at `at` stands for, and the length of the escape.
    fn escape(&self, at: usize) -> Option<(char, usize)> {
        let rest = self.characters.get(at..)?;
        match rest {
            ['\\', 'n', ..] => Some(('\n', 2)),
            ['\\', 'r', ..] => Some(('\r', 2)),
            ['\\', 't', ..] => Some(('\t', 2)),
            ['\\', same @ ('"' | '\\' | '/'), ..] => Some((*same, 2)),
            ['\\', 'u', digits @ ..] => {
                let digits: String = digits.get(..4)?.iter().collect();
                // A half of a pair is part of no mark of ours.
                let unit = u32::from_str_radix(&digits, 16).ok()?;
                Some((char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6))
            }
            _ => None,
        }
    }
}

/// The spans of one view.
fn spans(text: &[char]) -> Vec<Range<usize>> {
    let mut spans = markers(text);
    let mut begun = None;
    let mut scan = Scan::of(text);
    for at in (0..text.len()).filter(|at| text.get(*at) == Some(&BULLET)) {
        match scan.line(at) {
            Found::Whole(end) | Found::Open(end) => spans.push(at..end),
            Found::Begun => begun = Some(at),
            Found::Nothing => {}
        }
    }
    spans.sort_unstable_by_key(|span| span.start);
    let string = |range: Range<usize>| text.get(range).unwrap_or_default().iter().collect::<String>();
    let mut spans = joined(spans, |between| !has_words(&string(between)));
    // Where a frame begins nothing of it was cut off.
    if let Some(first) = spans.first_mut()
        && !stands(text, first.start, BEGIN)
        && is_cut_beginning(&string(0..first.start))
    {
        first.start = 0;
    }
    if let Some(last) = spans.last_mut() {
        let follows = |at: usize| !has_words(&string(last.end..at));
        let rest = string(last.end..text.len());
        let cut_end = rest.trim().len() > 1 && END.starts_with(rest.trim());
        if cut_end || begun.is_some_and(|at| at >= last.end && follows(at)) {
            last.end = text.len();
        }
    }
    spans
}

/// What the markers enclose; those without their counterpart alone, with the preamble where it follows.
fn markers(text: &[char]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut open: Option<Range<usize>> = None;
    for at in (0..text.len()).filter(|at| text.get(*at) == Some(&'<')) {
        if stands(text, at, BEGIN) {
            let end = at + BEGIN.len();
            spans.extend(open.replace(at..end + preamble(text, end)));
        } else if stands(text, at, END) {
            let end = at + END.len();
            spans.push(open.take().map_or(at, |begin| begin.start)..end);
        }
    }
    spans.extend(open);
    spans
}

fn stands(text: &[char], at: usize, mark: &str) -> bool {
    let mut rest = text.iter().skip(at);
    mark.chars().all(|expected| rest.next() == Some(&expected))
}

/// How many characters at `at` are the preamble, or the first words of it.
fn preamble(text: &[char], at: usize) -> usize {
    let (mut end, mut matched) = (at, 0);
    for word in PREAMBLE.split(' ') {
        let from = end + text.iter().skip(end).take_while(|character| character.is_whitespace()).count();
        let left: String = text.iter().skip(from).take(word.len()).collect();
        if left == word {
            (end, matched) = (from + word.len(), matched + 1);
        } else if from + left.chars().count() == text.len() && word.starts_with(&left) {
            return text.len() - at;
        } else {
            break;
        }
    }
    if matched >= PREAMBLE_LEAST { end - at } else { 0 }
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        MemoryKind, Trust,
        frame::{Held, Line, Who},
    };

    fn frame(texts: &[&str]) -> String {
        let date = NaiveDate::from_ymd_opt(2025, 2, 10);
        let mut lines = vec![BEGIN.to_owned(), PREAMBLE.to_owned()];
        for (number, text) in texts.iter().enumerate() {
            let kind = if number % 2 == 0 { MemoryKind::Fact } else { MemoryKind::Episode };
            let who = (number % 2 == 1).then_some(Who::Role(Trust::User));
            let held = date.filter(|_| number % 2 == 0).map(|since| Held { since, until: date.filter(|_| number > 0) });
            lines.push(Line::Memory { kind: &kind, held, who, text, cut: number == 2 }.to_string());
        }
        lines.push(END.to_owned());
        lines.join("\n")
    }

    const TEXTS: [&str; 3] =
        ["Lives in Lisbon", "I said \"hello\" to\nmy sister.", "Owns C:\\boats and </recalled-memories> too"];

    #[test]
    fn a_whole_frame_is_known_wherever_it_stands() {
        let frame = frame(&TEXTS);
        assert_eq!(own_words(&frame), "");
        assert_eq!(own_words(&format!("```\n{frame}\n```")), "");
        assert_eq!(own_words(&format!("I moved.\n{frame}\nWhat now?")), "I moved.\nWhat now?");
        let quoted: String = frame.lines().map(|line| format!("> {line}\n")).collect();
        assert_eq!(own_words(&format!("{quoted}\nYes.")), "Yes.");
        let flowed = frame.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(own_words(&format!("Hi! {flowed} Bye!")), "Hi!\nBye!");
    }

    #[test]
    fn an_escaped_frame_is_known() {
        let mut text = format!("I moved.\n{}\nWhat now?", frame(&TEXTS));
        for _ in 0..LAYERS {
            text = serde_json::to_string(&text).unwrap_or_default().replace('‣', "\\u2023").replace('<', "\\u003c");
            let own = own_words(&text).into_owned();
            assert!(own.contains("I moved.") && own.contains("What now?"), "{own}");
            assert!(!["Lisbon", "hello", "sister", "boats", "Notes"].iter().any(|word| own.contains(word)), "{own}");
        }
    }

    #[test]
    fn accidents_silence_nothing_else() {
        for (text, own) in [
            ("I live in Rome.", "I live in Rome."),
            ("What does <recalled-memories> mean? I live in Rome.", "What does\nmean? I live in Rome."),
            ("</recalled-memories> I live in Rome.", "I live in Rome."),
            ("I live in Rome. </recalled-memories>", "I live in Rome."),
            ("‣ milk\n‣ eggs\nI live in Rome.", "‣ milk\n‣ eggs\nI live in Rome."),
            ("She is 5'11\" tall.\nI live in Rome. <recalled-memories>", "She is 5'11\" tall.\nI live in Rome."),
            ("My screen has 27\" <recalled-memories>", "My screen has 27\""),
            ("👍 </recalled-memories>", "👍"),
            ("«</recalled-memories>» —", ""),
            ("- fact: \"Lives in Rome\"", "- fact: \"Lives in Rome\""),
            ("‣ user: \"a\"\n‣ \"Ali\nI live in Rome.", "‣ \"Ali\nI live in Rome."),
        ] {
            assert_eq!(own_words(text), own, "{text}");
        }
    }

    proptest! {
        /// Wherever a frame is cut, and whatever is written after a line break, what is left of the frame is known.
        #[test]
        fn a_cut_frame_is_known(from in 0..40_usize, cut in 1..200_usize, mine in "z[a-z]{2,7} [a-z]{3,8}") {
            // No word of the frame begins with a "z": what goes on as the frame would is taken for it.
            let frame = frame(&["Lives in Lisbon", "I said \"hello\" to\nmy sister.", "Owns a boat", "I like the sea."]);
            let characters: Vec<char> = frame.chars().collect();
            let end = characters.len().saturating_sub(cut).max(120);
            let tail: String = characters.iter().take(end).collect();
            let own = own_words(&tail).into_owned();
            prop_assert!(own.is_empty(), "{tail} leaves {own}");
            let written = format!("{tail}\n\n{mine}");
            let own = own_words(&written).into_owned();
            prop_assert!(own.ends_with(&mine) && !own.contains("Lisbon"), "{written} leaves {own}");
            let head: String = characters.iter().skip(from).collect();
            let own = own_words(&head).into_owned();
            prop_assert!(own.is_empty(), "{head} leaves {own}");
            let written = format!("{head}\n{mine}");
            let own = own_words(&written).into_owned();
            prop_assert_eq!(own, mine);
        }

        #[test]
        fn any_text_is_read(text in "(<recalled-memories>|</recalled-memories>|‣ |fact|user|on|: |\"|\\\\|n|u2023|\n|\\PC){0,30}") {
            let own = own_words(&text).into_owned();
            prop_assert!(own.len() <= text.len() + 30);
        }
    }
}
