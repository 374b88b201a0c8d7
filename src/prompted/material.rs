//! How texts of others stand in a prompt: so that nothing in them can pass for the prompt itself.

use std::{borrow::Cow, collections::HashSet, fmt::Write};

use chrono::{Datelike, Timelike};
use unicode_segmentation::UnicodeSegmentation;

use crate::{Message, Timestamp, score::sameness::normalized};

/// Messages for a model to read: each in a tag of its own, with who said it and when, the text byte for byte.
///
/// The tag's name has a number that occurs behind that name in none of the texts, so no text can close its tag or open
/// another. The number is the least there is: the same messages give the same prompt.
#[derive(Debug)]
pub(super) struct Transcript {
    /// The name of the tags.
    pub(super) tag: String,
    /// The messages in their tags.
    pub(super) text: String,
}

impl Transcript {
    /// Of messages, each with its number and its time, if that is known.
    pub(super) fn of<'m>(messages: impl Iterator<Item = (usize, &'m Message, Option<Timestamp>)> + Clone) -> Self {
        let texts = messages.clone().map(|(_, message, _)| message.text.as_str());
        let names = messages.clone().filter_map(|(_, message, _)| message.speaker.as_deref());
        let tag = tag_for(texts.chain(names));
        let mut text = String::new();
        for (number, message, at) in messages {
            let role = message.role.as_str();
            let speaker = message.speaker.as_deref().filter(|name| !name.trim().is_empty());
            // A JSON string has no line break, and its quotation marks are escaped.
            let speaker = speaker.map(|name| format!(" speaker={}", serde_json::Value::from(name))).unwrap_or_default();
            let said = at.map(|at| format!(" said=\"{}\"", date(at))).unwrap_or_default();
            // Writing to a string does not fail.
            let _ = writeln!(text, "<{tag} number={number} role={role}{speaker}{said}>");
            let _ = writeln!(text, "{}\n</{tag}>", message.text);
        }
        Self { tag, text }
    }
}

/// The beginning of a text: what a prompt costs must not depend on what was stored.
pub(super) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// Whether the texts share a word of three letters or more, or an ideograph: enough to tell that one may be about the
/// other, and not more.
pub(super) fn share_a_word(left: &str, right: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        let lower = normalized(text);
        let wide = |char: char| matches!(char, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}');
        let counts = |word: &&str| word.chars().count() >= 3 || word.chars().any(wide);
        lower.unicode_words().filter(counts).map(str::to_owned).collect()
    };
    !words(left).is_disjoint(&words(right))
}

/// The first of `message-1`, `message-2`, … that occurs in none of the texts.
pub(super) fn tag_for<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut taken: Vec<u64> = Vec::new();
    for text in texts {
        let lower = text.to_ascii_lowercase();
        for (at, name) in lower.match_indices("message-") {
            let digits: String = lower
                .get(at + name.len()..)
                .unwrap_or_default()
                .chars()
                .take_while(char::is_ascii_digit)
                .take(18)
                .collect();
            // A shorter number is taken as well, since it begins the longer one.
            taken.extend((1..=digits.len()).filter_map(|length| digits.get(..length)?.parse::<u64>().ok()));
        }
    }
    taken.sort_unstable();
    taken.dedup();
    let mut free = 1;
    for number in taken {
        if number == free {
            free += 1;
        }
    }
    format!("message-{free}")
}

/// A day with the name it has in the week, which "last Friday" counts from, and the time.
pub(super) fn date(at: Timestamp) -> String {
    const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let day = usize::try_from(at.weekday().num_days_from_monday()).ok().and_then(|day| DAYS.get(day));
    format!("{}, {}, {:02}:{:02} UTC", at.date_naive(), day.unwrap_or(&""), at.hour(), at.minute())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn transcript(messages: &[Message]) -> Transcript {
        let at = "2024-03-01T07:00:00Z".parse().ok();
        Transcript::of(messages.iter().enumerate().map(move |(number, message)| (number, message, at)))
    }

    #[test]
    fn each_message_tells_who_said_it_and_when() {
        let messages = [Message::user("Hi\nthere"), Message::assistant("Yes?").from_speaker("Ari \"A\"\n>")];
        let expected = "<message-1 number=0 role=user said=\"2024-03-01, Friday, 07:00 UTC\">\nHi\nthere\n</message-1>\n\
            <message-1 number=1 role=assistant speaker=\"Ari \\\"A\\\"\\n>\" said=\"2024-03-01, Friday, 07:00 UTC\">\n\
            Yes?\n</message-1>\n";
        assert_eq!(transcript(&messages).text, expected);
    }

    #[test]
    fn no_text_can_close_its_tag() {
        assert_eq!(tag_for(["</message-1> </MESSAGE-2>", "message-34"].into_iter()), "message-4");
        assert_eq!(tag_for(["message-999999999999999999999"].into_iter()), "message-1");
    }

    proptest! {
        #[test]
        fn the_tag_is_in_no_text(texts in proptest::collection::vec("(message-|MESSAGE-|[0-9]|</|>|\\PC){0,20}", 0..6)) {
            let messages: Vec<Message> = texts.iter().map(|text| Message::user(text.as_str())).collect();
            let transcript = transcript(&messages);
            for text in &texts {
                prop_assert!(!text.to_ascii_lowercase().contains(&transcript.tag));
                prop_assert!(transcript.text.contains(text.as_str()));
            }
            prop_assert_eq!(transcript.text.matches(&transcript.tag).count(), texts.len() * 2);
        }
    }
}
