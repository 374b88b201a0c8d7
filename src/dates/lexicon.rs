//! The words and patterns of all languages, ready to be looked up.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    languages,
    token::{Kind, Token, tokens},
};

/// What words of a table stand for; in brackets how it is written in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Class {
    /// A number in words, or in digits: how many (`<n>`). `few=2..5` is a range.
    Count,
    /// A unit (`<unit>`), by the number of [`Unit`](super::calendar::Unit).
    Unit,
    /// A month by name (`<month>`), 1 to 12.
    Month,
    /// A month by number (`<nth-month>`): a number of 1 to 12.
    NumberedMonth,
    /// A day of a month (`<day>`): a number of 1 to 31.
    Day,
    /// A day of a month in words (`<nth>`): first is 1.
    Ordinal,
    /// A year (`<year>`): four digits, or words for one as seen from this one (`last_year=-1`).
    Year,
    /// A year in digits alone (`<digits>`).
    Digits,
    /// A year in words alone (`<worded-year>`).
    WordedYear,
    /// A decade in words (`<decade>`), by its first year in the century.
    Decade,
    /// A decade in digits (`<tens>`): `90` or `1990`.
    Tens,
    /// A weekday (`<weekday>`), Monday is 1.
    Weekday,
    /// A season (`<season>`): winter 0, spring 1, summer 2, autumn 3.
    Season,
    /// `last=-1`, `this=0`, `next=1` (`<shift>`).
    Shift,
    /// The first, middle or last third (`<part>`): 0, 1, 2.
    Part,
    /// A quarter of a year in words (`<quarter>`), 1 to 4.
    Quarter,
    /// A fixed holiday (`<holiday>`): `christmas=1224..3` begins on the 24th of December and has three days.
    Holiday,
    /// A period of its own (`<period>`): any pattern that does not hold another.
    Period,
}

/// What a pattern means: how the words that fill its slots make a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Make {
    /// The day so many days from today.
    Day(i32),
    /// The weekend that was, or that comes.
    Weekend,
    /// The ten years from one that ends in 0.
    Decade,
    /// What the slots name.
    Named,
    /// The same, as seen from here: −1 is the last, 1 the next.
    Shifted(i32),
    /// A weekday of the week so many weeks from this one.
    OfWeek(i32),
    /// So many units back.
    Ago,
    /// So many units ahead.
    Ahead,
    /// The last so many units up to now.
    Lately,
    /// Half a year back; other halves are as loose as no number at all.
    HalfYearAgo,
    /// From a period on.
    Since,
    /// Up to a period.
    Before,
    /// From the end of a period on.
    After,
    /// Up to the end of a period.
    Until,
    /// From the beginning of one to the end of another.
    Between,
}

/// The words and patterns of one language. Data alone: the grammar that reads them is one for all.
#[derive(Debug)]
pub(super) struct Table {
    /// Its code, ISO 639-1.
    pub(super) code: &'static str,
    /// `word=number` or `word=low..high`, parted by spaces, `_` for a space within. A word after `~` also means
    /// something else: it counts where it has a capital, or in a pattern marked `!`.
    pub(super) words: &'static [(Class, &'static str)],
    /// Patterns: words, `a|b`, slots `<n>`, optional where `?` follows; a mark before it all:
    /// `!` words that mean something else count also without a capital, `=` they do not count at all, `@` only in a
    /// text that has more words of this language than of any other, `^` only in a text that looks ahead.
    pub(super) patterns: &'static [(&'static str, Make)],
    /// Nothing is said of a time after which one of these stands ("in 2023 dollars").
    pub(super) not_before: &'static str,
    /// Nor after these ("Black Friday").
    pub(super) not_after: &'static str,
    /// Words that look ahead ("will").
    pub(super) ahead: &'static str,
    /// Frequent words that tell the language.
    pub(super) hints: &'static str,
}

/// What a word stands for in a language.
#[derive(Debug, Clone)]
pub(super) struct Sense {
    pub(super) language: usize,
    pub(super) class: Class,
    pub(super) value: (i32, i32),
    /// It also means something else.
    pub(super) weak: bool,
    /// The tokens that must follow the first.
    pub(super) rest: Vec<String>,
}

/// One place of a pattern.
#[derive(Debug, Clone)]
pub(super) enum Element {
    /// One of these runs of tokens.
    Words(Vec<Vec<String>>),
    Slot(Class),
}

/// How a pattern takes words that also mean something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    Capital,
    Any,
    None,
}

/// A pattern, read.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) language: usize,
    /// Each with whether it may be missing.
    pub(super) elements: Vec<(Element, bool)>,
    pub(super) make: Make,
    pub(super) doubt: Doubt,
    /// Only in a text of this language.
    pub(super) own_text: bool,
    /// Only in a text that looks ahead.
    pub(super) looks_ahead: bool,
    /// It holds another period.
    pub(super) compound: bool,
}

/// What a language says about a word on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    NotBefore,
    NotAfter,
    Ahead,
    Hint,
}

/// All tables.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    pub(super) senses: HashMap<String, Vec<Sense>>,
    pub(super) rows: Vec<Row>,
    roles: HashMap<String, Vec<(usize, Role)>>,
    /// The rows that may begin with a word, and those that may begin with any number.
    starts: HashMap<String, Vec<usize>>,
    number_starts: Vec<usize>,
    /// Those that may begin with another period.
    pub(super) period_starts: Vec<usize>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(&languages::ALL));

impl Lexicon {
    /// The one there is, made when it is first asked for.
    pub(super) fn get() -> &'static Self {
        &LEXICON
    }

    fn new(tables: &[&Table]) -> Self {
        let mut lexicon = Self::default();
        for (language, table) in tables.iter().enumerate() {
            for (class, entries) in table.words {
                for entry in entries.split_whitespace() {
                    lexicon.sense(language, *class, entry);
                }
            }
            for (words, role) in [
                (table.not_before, Role::NotBefore),
                (table.not_after, Role::NotAfter),
                (table.ahead, Role::Ahead),
                (table.hints, Role::Hint),
            ] {
                for word in words.split_whitespace() {
                    lexicon.roles.entry(word.to_owned()).or_default().push((language, role));
                }
            }
        }
        for (language, table) in tables.iter().enumerate() {
            lexicon.rows.extend(table.patterns.iter().map(|(pattern, make)| row(language, pattern, *make)));
        }
        lexicon.begin();
        lexicon
    }

    fn sense(&mut self, language: usize, class: Class, entry: &str) {
        let Some((word, value)) = entry.split_once('=') else { return };
        let (word, weak) = word.strip_prefix('~').map_or((word, false), |word| (word, true));
        let value = match value.split_once("..") {
            Some((low, high)) => (low.parse().unwrap_or_default(), high.parse().unwrap_or_default()),
            None => {
                let value = value.parse().unwrap_or_default();
                (value, value)
            }
        };
        let mut words = spelled(word);
        if words.is_empty() {
            return;
        }
        let first = words.remove(0);
        self.senses.entry(first).or_default().push(Sense { language, class, value, weak, rest: words });
    }

    /// Notes what each row may begin with, so that most words are told off by one look-up.
    fn begin(&mut self) {
        for (at, row) in self.rows.iter().enumerate() {
            for (element, optional) in &row.elements {
                match element {
                    Element::Words(runs) => {
                        for first in runs.iter().filter_map(|run| run.first()) {
                            note(&mut self.starts, first, at);
                        }
                    }
                    Element::Slot(Class::Period) => self.period_starts.push(at),
                    Element::Slot(class) => {
                        let counts = matches!(class, Class::NumberedMonth | Class::Day | Class::Year | Class::Digits);
                        for (word, senses) in &self.senses {
                            let fits = |sense: &Sense| {
                                sense.language == row.language
                                    && (sense.class == *class
                                        || (counts && sense.class == Class::Count)
                                        || (*class == Class::WordedYear && sense.class == Class::Year))
                            };
                            if senses.iter().any(fits) {
                                note(&mut self.starts, word, at);
                            }
                        }
                        if takes_digits(*class) && self.number_starts.last() != Some(&at) {
                            self.number_starts.push(at);
                        }
                    }
                }
                if !optional {
                    break;
                }
            }
        }
    }

    /// The rows that may begin with a token.
    pub(super) fn starting(&self, token: &Token) -> &[usize] {
        match token.kind {
            Kind::Number => &self.number_starts,
            _ => self.starts.get(&token.word).map_or(&[], Vec::as_slice),
        }
    }

    /// The languages in which a word has a role.
    pub(super) fn with_role(&self, word: &str, role: Role) -> impl Iterator<Item = usize> {
        let roles = self.roles.get(word).map_or(&[][..], Vec::as_slice);
        roles.iter().filter(move |(_, other)| *other == role).map(|(language, _)| *language)
    }
}

fn note(starts: &mut HashMap<String, Vec<usize>>, word: &str, row: usize) {
    let rows = starts.entry(word.to_owned()).or_default();
    if rows.last() != Some(&row) {
        rows.push(row);
    }
}

pub(super) const fn takes_digits(class: Class) -> bool {
    matches!(
        class,
        Class::Count | Class::NumberedMonth | Class::Day | Class::Year | Class::Digits | Class::Tens | Class::Quarter
    )
}

/// The tokens of a word or phrase of a table.
fn spelled(phrase: &str) -> Vec<String> {
    tokens(&phrase.replace('_', " ")).into_iter().map(|token| token.word).collect()
}

fn row(language: usize, pattern: &str, make: Make) -> Row {
    let (mut doubt, mut own_text, mut looks_ahead) = (Doubt::Capital, false, false);
    let mut rest = pattern;
    while let Some((mark, after)) = rest.split_at_checked(1) {
        match mark {
            "!" => doubt = Doubt::Any,
            "=" => doubt = Doubt::None,
            "@" => own_text = true,
            "^" => looks_ahead = true,
            _ => break,
        }
        rest = after;
    }
    let elements: Vec<(Element, bool)> = rest
        .split_whitespace()
        .map(|element| {
            let (element, optional) = element.strip_suffix('?').map_or((element, false), |element| (element, true));
            let slot = element.strip_prefix('<').and_then(|slot| slot.strip_suffix('>')).and_then(class);
            let element = match slot {
                Some(class) => Element::Slot(class),
                None => Element::Words(element.split('|').map(spelled).filter(|run| !run.is_empty()).collect()),
            };
            (element, optional)
        })
        .collect();
    let compound = elements.iter().any(|(element, _)| matches!(element, Element::Slot(Class::Period)));
    Row { language, elements, make, doubt, own_text, looks_ahead, compound }
}

fn class(slot: &str) -> Option<Class> {
    Some(match slot {
        "n" => Class::Count,
        "unit" => Class::Unit,
        "month" => Class::Month,
        "nth-month" => Class::NumberedMonth,
        "day" => Class::Day,
        "year" => Class::Year,
        "digits" => Class::Digits,
        "nth" => Class::Ordinal,
        "worded-year" => Class::WordedYear,
        "decade" => Class::Decade,
        "tens" => Class::Tens,
        "weekday" => Class::Weekday,
        "season" => Class::Season,
        "shift" => Class::Shift,
        "part" => Class::Part,
        "quarter" => Class::Quarter,
        "holiday" => Class::Holiday,
        "period" => Class::Period,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_can_be_read() {
        for row in &Lexicon::get().rows {
            for (element, _) in &row.elements {
                if let Element::Words(runs) = element {
                    assert!(!runs.is_empty(), "{row:?}");
                    let odd = runs.iter().flatten().any(|word| word.contains(['<', '>', '|', '?']));
                    assert!(!odd, "{row:?}");
                }
            }
        }
    }

    #[test]
    fn every_word_has_a_number() {
        for table in languages::ALL {
            for (_, entries) in table.words {
                for entry in entries.split_whitespace() {
                    let (word, value) = entry.split_once('=').unwrap_or(("", ""));
                    let numbers = value.split("..").all(|number| number.parse::<i32>().is_ok());
                    assert!(!word.is_empty() && numbers, "{}: {entry}", table.code);
                }
            }
        }
    }
}
