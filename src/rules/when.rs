//! Times that follow a statement ("in May", "two years ago", "в прошлом году").
//!
//! Which words name a time, and when it is, is found by [`dates`](crate::dates); what is decided here is what a fact
//! makes of it: how it is written, whether the fact began then, and what is a habit or lasts.

use chrono::{Datelike, NaiveDate, NaiveTime};

use super::token::{Shape, Token};
use crate::{
    Timestamp,
    dates::{self, Form, Reckoned, Unit, Words},
};

/// What a language does with times.
#[derive(Debug)]
pub(super) struct Calendar {
    /// Its words for times.
    pub(super) words: Words,
    /// Short names of months that are names of people too.
    pub(super) names: &'static str,
    /// May stand before a month, year or day.
    pub(super) before: &'static str,
    /// Make a time a beginning ("since 2019").
    pub(super) since: &'static str,
    /// Stands before a number and a unit and means a duration.
    pub(super) lasting: &'static str,
    /// Other words that begin a time too loose to say more about (weekdays, seasons).
    pub(super) loose: &'static str,
    /// `on {}`, `in {}` and the names of months, for what is written instead of a relative time.
    pub(super) on_day: &'static str,
    pub(super) in_month: &'static str,
    pub(super) in_year: &'static str,
    pub(super) of_month: [&'static str; 12],
    pub(super) month_names: [&'static str; 12],
}

/// How the time is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wording {
    /// As in the text: it means the same tomorrow.
    AsIs,
    /// This instead: the text counts from the day it was said.
    Instead(String),
    /// Not at all.
    Dropped,
    /// Not at all where something happened then, but it may be a habit ("in the morning").
    Habit,
}

/// A time found in a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct When {
    /// How many tokens it takes.
    pub(super) len: usize,
    /// When it begins, where that is clear.
    pub(super) from: Option<Timestamp>,
    /// When it is over, where that lies ahead and is clear.
    pub(super) until: Option<Timestamp>,
    pub(super) wording: Wording,
    /// It is a time that goes on ("since 2019", "for three years").
    pub(super) lasting: bool,
    /// Its words say when it is over ("until Friday", "from 2018 to 2021"): `until` then may lie behind, too.
    pub(super) bounded: bool,
    /// It is still to come.
    pub(super) ahead: bool,
}

fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|entry| entry == word)
}

fn midnight(date: NaiveDate) -> Timestamp {
    date.and_time(NaiveTime::MIN).and_utc()
}

impl Calendar {
    /// Whether the word names a month, and not rather a person.
    pub(super) fn is_month(&self, word: &str) -> bool {
        self.words.is_month(word) && !listed(self.names, word)
    }

    /// Whether the word names a weekday, season or the like.
    pub(super) fn is_loose(&self, word: &str) -> bool {
        listed(self.loose, word)
    }

    /// Whether a time may begin with the word.
    pub(super) fn begins(&self, word: &str) -> bool {
        self.is_loose(word) || self.is_month(word) || self.words.unit(word).is_some()
    }

    /// A number written in digits or words.
    pub(super) fn number(&self, word: &str) -> Option<i32> {
        word.parse().ok().or_else(|| self.words.number(word))
    }

    /// Notes on the tokens of a text which times begin at them, as they were said at `now`.
    pub(super) fn mark(&self, tokens: &mut [Token], text: &str, now: Timestamp) {
        for found in dates::periods(text, now) {
            let at = tokens.partition_point(|token| token.start < found.span.start);
            let len =
                tokens.iter().skip(at).take_while(|token| token.start < found.span.end && token.end > token.start);
            let len = len.take_while(|token| !matches!(token.shape, Shape::Masked | Shape::Break)).count();
            let whole = at.checked_add(len).and_then(|end| tokens.get(at..end));
            let ends = whole.and_then(<[Token]>::last).is_some_and(|last| last.end == found.span.end);
            if let Some(first) = tokens.get_mut(at).filter(|first| ends && first.start == found.span.start) {
                first.when = self.when(&found, len, now).map(Box::new);
            }
        }
    }

    /// What a fact makes of a time.
    fn when(&self, found: &Reckoned, len: usize, now: Timestamp) -> Option<When> {
        // What is not over says no beginning: a thing that happened in it may have happened today.
        let over = midnight(found.end) <= now;
        let (from, wording) = match found.form {
            Form::Day => (Some(found.start), Wording::Instead(self.day_text(found.start)?)),
            Form::Counted(unit) => match (found.reckoned, unit) {
                (Some(then), Unit::Year) => (Some(then), Wording::Instead(self.year_text(then))),
                (Some(then), Unit::Month) => (Some(then), Wording::Instead(self.month_text(then)?)),
                (then, _) => (then, Wording::Dropped),
            },
            // "This year" began before many things that were so in it: no beginning to speak of.
            Form::Shifted(Unit::Month, shift) => {
                (Some(found.start).filter(|_| shift < 0), Wording::Instead(self.month_text(found.start)?))
            }
            Form::Shifted(Unit::Year, shift) => {
                (Some(found.start).filter(|_| shift < 0), Wording::Instead(self.year_text(found.start)))
            }
            Form::Calendar => (Some(found.start).filter(|_| over), Wording::AsIs),
            // What is told to have lasted until a day that is over does not say since when.
            Form::Span => (Some(found.start).filter(|start| over && *start < found.end), Wording::AsIs),
            Form::Since => (Some(found.start), Wording::AsIs),
            Form::Recurring => (None, Wording::Habit),
            Form::Shifted(..) | Form::Other => (None, Wording::Dropped),
        };
        let from = from.map(midnight).filter(|from| *from < now);
        let ends = !matches!(found.form, Form::Since | Form::Recurring);
        let bounded = found.form == Form::Span;
        let until = Some(midnight(found.end)).filter(|until| bounded || (ends && *until > now));
        let ahead = midnight(found.start) > now;
        Some(When { len, from, until, wording, lasting: found.form == Form::Since, bounded, ahead })
    }

    /// The time that begins with the first of `tokens`, as it was said at `now`.
    pub(super) fn at(&self, tokens: &[Token], now: Timestamp) -> Option<When> {
        let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
        let skip = (0..2).take_while(|&at| listed(self.before, word(at)) || listed(self.since, word(at))).count();
        let marked = (0..=skip).find_map(|at| Some((at, tokens.get(at)?.when.as_deref()?)));
        if let Some((at, when)) = marked {
            let len = (at + when.len).min(tokens.len());
            let lasting = when.lasting || (0..=at).any(|at| listed(self.since, word(at)));
            // "From 3 May": nobody knows until when.
            let open = (0..at).any(|at| matches!(word(at), "from" | "с" | "со"));
            return Some(When { len, lasting, until: when.until.filter(|_| !open), ..when.clone() });
        }
        if let Some(when) = self.lasting(tokens, now.date_naive()) {
            return Some(when);
        }
        let loose = listed(self.loose, word(skip)) || (skip > 0 && listed(self.loose, word(skip + 1)));
        loose.then(|| When {
            len: skip + 1 + usize::from(!listed(self.loose, word(skip))),
            from: None,
            until: None,
            wording: Wording::Habit,
            lasting: false,
            bounded: false,
            ahead: false,
        })
    }

    /// "For three months": since then.
    fn lasting(&self, tokens: &[Token], today: NaiveDate) -> Option<When> {
        let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
        if !listed(self.lasting, word(0)) {
            return None;
        }
        let count = self.number(word(1));
        let at = 1 + usize::from(count.is_some());
        let then = dates::before(today, count.unwrap_or(1), self.words.unit(word(at))?)?;
        let from = Some(midnight(then));
        Some(When {
            len: at + 1,
            from,
            until: None,
            wording: Wording::Dropped,
            lasting: true,
            bounded: false,
            ahead: false,
        })
    }

    fn day_text(&self, date: NaiveDate) -> Option<String> {
        let month = self.of_month.get(date.month0() as usize)?;
        Some(self.on_day.replace("{}", &format!("{} {month} {}", date.day(), date.year())))
    }

    fn month_text(&self, date: NaiveDate) -> Option<String> {
        let month = self.month_names.get(date.month0() as usize)?;
        Some(self.in_month.replace("{}", &format!("{month} {}", date.year())))
    }

    fn year_text(&self, date: NaiveDate) -> String {
        self.in_year.replace("{}", &date.year().to_string())
    }
}
