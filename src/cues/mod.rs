//! What the words of a text tell about its part in a talk, whatever it is about: whether it asks or says, names a time or
//! a number, tells of a change; and what a query wants to hear.
//!
//! Read by tables of words, without a model, in English, Russian, Spanish, German, French and Chinese; questions are
//! told by their marks in any language. A cue that is missed costs a little rank and nothing else, so the tables hold
//! common words and no grammar.

mod instructions;
mod sentences;
mod words;

pub use instructions::looks_like_instruction;
use unicode_segmentation::UnicodeSegmentation;
use words::{
    CHANGE, CHANGE_PHRASES, NUMBER, NUMBER_SIGNS, TIME, TIME_SIGNS, WANTS_NUMBER, WANTS_PAST, WANTS_PAST_AT_END,
    WANTS_TIME,
};

/// What the words of a text tell about its part in a talk. The default is that of the empty text.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Cues {
    /// The share of its letters that stand in sentences with a question mark, 0 to 1.
    pub asks: f32,
    /// Its length in words; two characters count as one where a script is written without spaces.
    pub words: u32,
    /// Whether it names a time: a date, a day or month, "yesterday", "two weeks ago".
    pub tells_time: bool,
    /// Whether it names a number, in digits or words.
    pub tells_number: bool,
    /// Whether it says that something is no longer as it was: "now", "moved to", "increased", "no longer".
    pub tells_change: bool,
}

impl Cues {
    /// The cues of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut cues = Self { asks: sentences::share_of_questions(text), ..Self::default() };
        let mut unspaced = 0_u32;
        for word in text.unicode_words() {
            if is_unspaced(word) {
                unspaced += 1;
                continue;
            }
            cues.words = cues.words.saturating_add(1);
            let digits = word.bytes().all(|byte| byte.is_ascii_digit());
            cues.tells_number |= word.bytes().any(|byte| byte.is_ascii_digit());
            // A number of four digits that a year may be.
            cues.tells_time |= digits && word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
            if !digits {
                let kinds = words::kinds(word);
                cues.tells_time |= kinds & TIME != 0;
                cues.tells_number |= kinds & NUMBER != 0;
                cues.tells_change |= kinds & CHANGE != 0;
            }
        }
        if unspaced > 0 {
            cues.words = cues.words.saturating_add(unspaced.div_ceil(2));
            cues.tells_time |= contains(text, TIME_SIGNS);
            cues.tells_number |= contains(text, NUMBER_SIGNS);
        }
        cues.tells_change = cues.tells_change || contains(&text.to_lowercase(), CHANGE_PHRASES);
        cues
    }
}

/// The tables that cues are read by, in a fixed order: cues that were kept are of no use once these have changed.
#[cfg(feature = "sqlite")]
pub(crate) fn tables() -> impl Iterator<Item = &'static str> {
    let phrases = [TIME_SIGNS, NUMBER_SIGNS, CHANGE_PHRASES];
    words::lists().into_iter().chain(phrases.into_iter().flatten().copied())
}

/// What sort of answer a query wants, as far as its words tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wanted {
    /// A time: "when …", "what day …".
    pub time: bool,
    /// A number: "how many …", "how often …".
    pub number: bool,
    /// What is so no longer: "used to", "previous", "… before?".
    pub past: bool,
}

impl Wanted {
    /// What a query wants to hear.
    #[must_use]
    pub fn by(query: &str) -> Self {
        let query = format!(" {} ", query.unicode_words().collect::<Vec<_>>().join(" ").to_lowercase());
        let unspaced: String = query.split(' ').collect();
        let ends = |phrase: &&str| {
            if is_unspaced(phrase) { unspaced.ends_with(phrase) } else { query.ends_with(&format!(" {phrase} ")) }
        };
        let has = |phrases: &[&str]| {
            phrases.iter().any(|phrase| {
                if is_unspaced(phrase) { unspaced.contains(phrase) } else { query.contains(&format!(" {phrase} ")) }
            })
        };
        Self {
            time: has(WANTS_TIME),
            number: has(WANTS_NUMBER),
            past: has(WANTS_PAST) || WANTS_PAST_AT_END.iter().any(ends),
        }
    }
}

fn contains(text: &str, signs: &[&str]) -> bool {
    signs.iter().any(|sign| text.contains(sign))
}

/// Whether a word is of a script that is written without spaces.
fn is_unspaced(word: &str) -> bool {
    word.chars().next().is_some_and(|first| matches!(u32::from(first), 0x2E80..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_numbers_are_told_in_six_languages() {
        for (text, time, number) in [
            ("I saw her yesterday.", true, false),
            ("We met in 2019", true, true),
            ("It cost 2500 or so", false, true),
            ("He has two sisters", false, true),
            ("Blue is nice", false, false),
            ("I may buy an umbrella", false, false),
            ("Ich bin hier", false, false),
            ("Вчера ходила в театр", true, false),
            ("У меня три кошки", false, true),
            ("Me mudé hace dos años", true, true),
            ("Letzte Woche war schön", true, false),
            ("Ich habe drei Katzen", false, true),
            ("La semaine dernière à Lyon", true, false),
            ("我昨天去了博物馆", true, false),
            ("我有三只猫", false, true),
            ("我喜欢茶", false, false),
        ] {
            let cues = Cues::of(text);
            assert_eq!((cues.tells_time, cues.tells_number), (time, number), "{text}");
        }
    }

    #[test]
    fn length_counts_words() {
        for (text, words) in [("", 0), ("one two, three", 3), ("我喜欢茶", 2), ("C++ и Rust", 3)] {
            assert_eq!(Cues::of(text).words, words, "{text}");
        }
    }

    #[test]
    fn what_is_wanted() {
        for (query, time, number) in [
            ("When did she move?", true, false),
            ("What day is the party?", true, false),
            ("How many cats does he have?", false, true),
            ("Whenever it rains", false, false),
            ("Where does he live?", false, false),
            ("Когда она переехала?", true, false),
            ("Сколько у него кошек?", false, true),
            ("¿Cuándo se mudó?", true, false),
            ("¿Cuántos gatos tiene?", false, true),
            ("Wann ist sie umgezogen?", true, false),
            ("Wie viele Katzen hat er?", false, true),
            ("Quand a-t-elle déménagé ?", true, false),
            ("Combien de chats a-t-il ?", false, true),
            ("她什么时候搬家的？", true, false),
            ("他有几只猫？", false, true),
        ] {
            assert_eq!(Wanted::by(query), Wanted { time, number, past: false }, "{query}");
        }
    }

    #[test]
    fn what_was_is_wanted() {
        for (query, past) in [
            ("Where did I live before?", true),
            ("What did I used to drink?", true),
            ("Where did I use to work?", true),
            ("What was my last job?", true),
            ("Do you remember my old address?", true),
            ("What do I use to cook rice?", false),
            ("What did I do at my old desk, last thing?", false),
            ("Who was my previous boss?", true),
            ("What do I take before I go to bed?", false),
            ("What is the fastest way to Rome?", false),
            ("Где я жила раньше?", true),
            ("¿Dónde vivía antes?", true),
            ("Wo habe ich früher gewohnt?", true),
            ("Où habitais-je avant ?", true),
            ("我以前住在哪里？", true),
            ("我住在哪里？", false),
        ] {
            assert_eq!(Wanted::by(query).past, past, "{query}");
        }
    }

    #[test]
    fn changes_are_told() {
        for text in [
            "My goal is now 12 books",
            "The meeting was rescheduled",
            "I no longer eat fish",
            "Я больше не ем рыбу",
            "Ya no como pescado",
            "Ich esse keinen Fisch mehr, es hat sich geändert",
            "Je ne mange plus de poisson",
            "我搬到了成都",
        ] {
            assert!(Cues::of(text).tells_change, "{text}");
        }
        for text in ["I have a cat", "У меня есть кот", "我有一只猫", "We know the snow"] {
            assert!(!Cues::of(text).tells_change, "{text}");
        }
    }
}
