//! What the extraction rules ask: not only when a time is, but how it was put.

use std::ops::Range;

use chrono::NaiveDate;

use super::{
    Grain,
    calendar::Unit,
    grammar::{Match, Reading},
    languages,
    lexicon::Lexicon,
    resolve::{Here, Period, Year},
    table::{Class, Make},
};
use crate::Timestamp;

/// How a time was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A day counted from here: "yesterday".
    Day,
    /// So many units from here: "two years ago".
    Counted(Unit),
    /// A unit counted from here, so many on: "last year".
    Shifted(Unit, i32),
    /// By the calendar: "on 8 May 2023", "in May", "in 2019".
    Calendar,
    /// One of many that come round: "on Friday", "in the summer".
    Recurring,
    /// From a time on: "since 2019".
    Since,
    /// To a time, from another or from today: "from 3 to 10 May", "until Friday".
    Span,
    /// In any other way: "last Friday", "in the last two weeks".
    Other,
}

/// A time that stands on its own, not bounded by another.
#[derive(Debug, Clone)]
pub(crate) struct Reckoned {
    /// The bytes that name it.
    pub(crate) span: Range<usize>,
    pub(crate) start: NaiveDate,
    pub(crate) end: NaiveDate,
    /// The day itself, where a stretch around it is meant.
    pub(crate) reckoned: Option<NaiveDate>,
    pub(crate) form: Form,
}

/// The times of a text, as they were said at `now`; of two readings the first. What begins or bounds a time ("before May")
/// is left out, but for what ends one: that is taken to lie ahead, where it names no year.
pub(crate) fn periods(text: &str, now: Timestamp) -> Vec<Reckoned> {
    let reading = Reading::new(text);
    let today = now.date_naive();
    let bounds = |matched: &Match| matches!(matched.period.make, Make::Until | Make::Between);
    let reckoned = |matched: Match| {
        let is_span = bounds(&matched);
        if !is_span && matches!(matched.period.make, Make::Before | Make::After) {
            return None;
        }
        let here = Here { today, ahead: reading.ahead || is_span };
        let named = *matched.period.resolve(here).first()?;
        let first = reading.tokens.get(matched.start)?;
        let last = reading.tokens.get(matched.end.checked_sub(1)?)?;
        let start = if matched.period.make == Make::Until { Some(today) } else { named.start };
        let (start, end) = (start?, named.end?);
        let form = if is_span { Form::Span } else { form(&matched.period, named.grain) };
        Some(Reckoned { span: first.start..last.end, start, end, reckoned: named.reckoned, form })
    };
    let mut found: Vec<Reckoned> = reading.matches().filter(bounds).filter_map(reckoned).collect();
    let (spans, single) =
        (found.len(), reading.simple_matches().filter(|matched| !bounds(matched)).filter_map(reckoned));
    for period in single {
        let after = found.get(..spans).unwrap_or_default().partition_point(|span| span.span.end <= period.span.start);
        if found.get(after).filter(|_| after < spans).is_none_or(|span| span.span.start >= period.span.end) {
            found.push(period);
        }
    }
    found.sort_by_key(|period| period.span.start);
    found
}

fn form(period: &Period, grain: Grain) -> Form {
    let bound = &period.bound;
    let shift = match period.make {
        Make::Day(_) => return Form::Day,
        Make::Ago => return bound.unit.map_or(Form::Other, Form::Counted),
        Make::Named => bound.shift,
        Make::Shifted(shift) => Some(shift),
        Make::Weekend => return Form::Recurring,
        Make::Decade => return Form::Calendar,
        Make::Since => return Form::Since,
        _ => return Form::Other,
    };
    if let Some(Year::From(years)) = bound.years.first()
        && grain == Grain::Year
        && bound.part.is_none()
    {
        return Form::Shifted(Unit::Year, *years);
    }
    match (shift, bound.unit) {
        (Some(shift), Some(unit)) => Form::Shifted(unit, shift),
        (Some(_), None) => Form::Other,
        (None, _) if bound.years.iter().any(|year| matches!(year, Year::From(_))) => Form::Other,
        (None, _) if !bound.given.is_empty() || !bound.years.is_empty() || !bound.months.is_empty() => Form::Calendar,
        (None, _) if bound.decade.is_some() => Form::Calendar,
        (None, _) => Form::Recurring,
    }
}

/// The words for times of one language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    /// Its code, ISO 639-1.
    pub(crate) code: &'static str,
}

impl Words {
    /// How much a number word is; of a loose one nothing.
    pub(crate) fn number(self, word: &str) -> Option<i32> {
        self.value(Class::Count, word).filter(|(low, high)| low == high).map(|(low, _)| low)
    }

    /// The unit of a word.
    pub(crate) fn unit(self, word: &str) -> Option<Unit> {
        self.value(Class::Unit, word).and_then(|(number, _)| Unit::new(number))
    }

    /// Whether a word is the name of a month, or short for it.
    pub(crate) fn is_month(self, word: &str) -> bool {
        self.value(Class::Month, word).is_some()
    }

    fn value(self, class: Class, word: &str) -> Option<(i32, i32)> {
        let senses = Lexicon::get().senses.get(word)?;
        let own = |language: usize| languages::ALL.get(language).is_some_and(|table| table.code == self.code);
        let mut fits =
            senses.iter().filter(|sense| sense.class == class && sense.rest.is_empty() && own(sense.language));
        fits.next().map(|sense| sense.value)
    }
}

/// The day so many units before another.
pub(crate) fn before(date: NaiveDate, count: i32, unit: Unit) -> Option<NaiveDate> {
    super::calendar::units_from(date, count.checked_neg()?, unit)
}
