//! The words and patterns of all languages, ready to be looked up.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::{
    languages,
    table::{Class, Make, Table},
    token::{Kind, Token, spelled},
};

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
    /// The classes without which it cannot fit.
    pub(super) needs: Classes,
}

/// A set of classes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Classes(u32);

impl Classes {
    const fn add(&mut self, class: Class) {
        self.0 |= 1 << class as u32;
    }

    /// Adds what a token may fill.
    pub(super) fn add_token(&mut self, token: &Token, senses: &[Sense]) {
        const IN_DIGITS: [Class; 7] =
            [Class::Count, Class::NumberedMonth, Class::Day, Class::Year, Class::Digits, Class::Tens, Class::Quarter];
        if token.kind == Kind::Number {
            IN_DIGITS.into_iter().for_each(|class| self.add(class));
        }
        for sense in senses {
            self.add(sense.class);
            match sense.class {
                Class::Year => self.add(Class::WordedYear),
                // Signs are digits too.
                Class::Count if token.kind == Kind::Sign => {
                    IN_DIGITS.into_iter().for_each(|class| self.add(class));
                }
                _ => {}
            }
        }
    }

    pub(super) const fn holds(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
}

/// What a language says about a word on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    NotBefore,
    NotAfter,
    Ahead,
    Hint,
}

/// The endings of ordinals in digits ("5th", "5-го", "1er").
pub(super) const ENDINGS: [&str; 12] = ["st", "nd", "rd", "th", "er", "º", "ª", "°", "го", "е", "й", "ого"];

/// What the grammar looks at besides the words of tables: marks, the letters of a time of day, zero.
const MARKS: [&str; 27] = [
    "-", "/", ".", ",", ":", "+", "_", "@", "#", "&", "=", "\\", "$", "€", "£", "¥", "₽", "%", "°", "'", "t", "z", "y",
    "〇", "零", "(", ")",
];

/// All tables.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    /// Every word, sign and mark that something depends on.
    pub(super) known: HashSet<String>,
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
        lexicon.know();
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
        let mut words = phrase(word);
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

    fn know(&mut self) {
        let marks = ENDINGS.into_iter().chain(MARKS).map(str::to_owned);
        let senses = self.senses.iter().flat_map(|(word, senses)| {
            std::iter::once(word.clone()).chain(senses.iter().flat_map(|sense| sense.rest.iter().cloned()))
        });
        let patterns = self.rows.iter().flat_map(|row| &row.elements).filter_map(|(element, _)| match element {
            Element::Words(runs) => Some(runs.iter().flatten().cloned()),
            Element::Slot(_) => None,
        });
        self.known = marks.chain(senses).chain(patterns.flatten()).chain(self.roles.keys().cloned()).collect();
    }

    /// The rows that may begin with a token.
    pub(super) fn starting(&self, token: &Token) -> &[usize] {
        match token.kind {
            Kind::Number => &self.number_starts,
            _ if token.word.is_empty() => &[],
            _ => self.starts.get(token.word).map_or(&[], Vec::as_slice),
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

/// The tokens of a word or phrase of a table, where `_` is a space.
fn phrase(phrase: &str) -> Vec<String> {
    spelled(&phrase.replace('_', " "))
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
                None => Element::Words(element.split('|').map(phrase).filter(|run| !run.is_empty()).collect()),
            };
            (element, optional)
        })
        .collect();
    let compound = elements.iter().any(|(element, _)| matches!(element, Element::Slot(Class::Period)));
    let mut needs = Classes::default();
    for (element, optional) in &elements {
        if let Element::Slot(class) = element
            && *class != Class::Period
            && !optional
        {
            needs.add(*class);
        }
    }
    Row { language, elements, make, doubt, own_text, looks_ahead, compound, needs }
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
