//! How large things are, in the unit of the limit.

use std::sync::Arc;

use super::{ConversationOptions, ConversationSize};
use crate::{
    Error, ErrorKind, MemoryKind, Message, Result, TokenCounter,
    frame::{BEGIN, END, Line, PREAMBLE},
    text::{count_words, cut},
};

/// What the line of the summary is called in the frame.
const SUMMARY: &str = "this conversation so far";
/// What stands after it where messages are missing.
const GAP: (&str, &str) = ("this conversation", "What was said next is left out here.");

/// The options as numbers of one unit.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    counter: Arc<dyn TokenCounter>,
    in_words: bool,
    /// Most of a view.
    pub(super) size: usize,
    pub(super) exchanges: usize,
    /// Most words of a summary, and its greatest size with the frame around it and the note of a gap.
    pub(super) summary_words: usize,
    summary_most: usize,
    /// The size that a summary is expected to have, with the frame.
    summary_expected: usize,
}

impl Limits {
    /// # Errors
    /// `Configuration`, naming all that is wrong.
    pub(super) fn of(options: &ConversationOptions, counter: Arc<dyn TokenCounter>) -> Result<Self> {
        let (in_words, size) = match options.max_size {
            ConversationSize::Words(words) => (true, words),
            ConversationSize::Tokens(tokens) => (false, tokens),
        };
        // Three quarters of a word to a token is what vendors tell of English; other languages have up to twice as many
        // tokens.
        let words = options.summary_words.unwrap_or(if in_words { size / 8 } else { size / 32 * 3 }.max(1));
        let (expected, most) = match (options.summary_words, in_words) {
            (None, _) => (size / 8, size / 4),
            (Some(words), true) => (words, words),
            (Some(words), false) => (words.saturating_mul(4) / 3, words.saturating_mul(2)),
        };
        let exchanges = options.max_exchanges.unwrap_or(usize::MAX);
        let mut limits =
            Self { counter, in_words, size, exchanges, summary_words: words, summary_most: 0, summary_expected: 0 };
        let frame = limits.of_text(&framed(Some(""), true));
        limits.summary_most = frame.saturating_add(most);
        limits.summary_expected = limits.of_text(&framed(Some(""), false)).saturating_add(expected);
        let least = frame.saturating_mul(2);
        let too_small = format!("the size of a conversation must be {least} or more");
        let wrong = [
            (exchanges == 0, "a conversation of no exchange"),
            (options.segment == 0, "a segment of no exchange"),
            (options.parallel == 0, "no segment is summarised at a time"),
            (options.summary_words == Some(0), "a summary of no word"),
            (size < least, too_small.as_str()),
            (
                options.summary_words.is_some() && limits.summary_most > size / 4 * 3,
                "the summary leaves less than a quarter of the conversation's size for messages",
            ),
        ];
        let wrong: Vec<&str> = wrong.into_iter().filter_map(|(is_so, what)| is_so.then_some(what)).collect();
        if wrong.is_empty() { Ok(limits) } else { Err(Error::new(ErrorKind::Configuration, wrong.join("; "))) }
    }

    pub(super) fn of_text(&self, text: &str) -> usize {
        if self.in_words { count_words(text) } else { self.counter.count(text) }
    }

    /// The size of a message: its text, and the names and arguments of its tool calls.
    pub(super) fn of_message(&self, message: &Message) -> usize {
        let calls = message.tool_calls.iter().map(|call| self.of_text(&call.name) + self.of_text(&call.arguments));
        self.of_text(&message.text) + calls.sum::<usize>()
    }

    /// The size of what stands before the messages.
    pub(super) fn of_summary(&self, summary: Option<&str>) -> usize {
        summary.map_or(0, |summary| self.of_text(&framed(Some(&self.shortened(summary)), false)))
    }

    /// What messages may take up once more of them are summarised, given the summary there is now.
    pub(super) fn beside(&self, summary: usize) -> usize {
        self.size.saturating_sub(summary.max(self.summary_expected))
    }

    /// The summary, cut after a sentence if it is longer than a summary may be.
    pub(super) fn shortened(&self, summary: &str) -> String {
        let fits = |text: &str| {
            count_words(text) <= self.summary_words && self.of_text(&framed(Some(text), true)) <= self.summary_most
        };
        // What stands in the store may have been written with other limits.
        if fits(summary) { summary.to_owned() } else { cut(summary, fits).unwrap_or_default().to_owned() }
    }
}

/// The summary as data that nothing in it can break out of, and a note where messages after it are not shown.
pub(super) fn framed(summary: Option<&str>, gap: bool) -> String {
    let line = |kind: &str, text: &str| {
        let kind = MemoryKind::Custom(kind.to_owned());
        Line::Memory { kind: &kind, held: None, who: None, text, cut: false }.to_string()
    };
    let mut lines = vec![BEGIN.to_owned(), PREAMBLE.to_owned()];
    lines.extend(summary.map(|summary| line(SUMMARY, summary)));
    lines.extend(gap.then(|| line(GAP.0, GAP.1)));
    lines.push(END.to_owned());
    lines.join("\n")
}
