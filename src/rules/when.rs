//! Times that follow a statement ("in May", "two years ago", "в прошлом году").

use chrono::{Datelike, Days, Months, NaiveDate, NaiveTime};

use super::token::Token;
use crate::Timestamp;

/// The words for times of a language. Entries are `word=number`.
#[derive(Debug)]
pub(super) struct Calendar {
    /// Months, in every form.
    pub(super) months: &'static str,
    /// Units, as `word=d`, `w`, `m` or `y`.
    pub(super) units: &'static str,
    /// Numbers in words.
    pub(super) numbers: &'static str,
    /// Days, as the difference to today.
    pub(super) days: &'static str,
    /// `last` is −1, `next` is 1, `this` is 0.
    pub(super) shifts: &'static str,
    /// May stand before a month, year or day.
    pub(super) before: &'static str,
    /// Make a time a beginning ("since 2019").
    pub(super) since: &'static str,
    /// Stands after a number and a unit and means the past.
    pub(super) ago: &'static str,
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
    pub(super) wording: Wording,
    /// It is a time that goes on ("since 2019", "for three years").
    pub(super) lasting: bool,
}

fn number(list: &str, word: &str) -> Option<i32> {
    list.split_whitespace().filter_map(|entry| entry.split_once('=')).find(|(form, _)| *form == word)?.1.parse().ok()
}

fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|entry| entry == word)
}

fn midnight(date: NaiveDate) -> Timestamp {
    date.and_time(NaiveTime::MIN).and_utc()
}

impl Calendar {
    /// Whether the word names a month.
    pub(super) fn is_month(&self, word: &str) -> bool {
        number(self.months, word).is_some()
    }

    /// Whether the word names a weekday, season or the like.
    pub(super) fn is_loose(&self, word: &str) -> bool {
        listed(self.loose, word)
    }

    /// Whether a time may begin with the word.
    pub(super) fn begins(&self, word: &str) -> bool {
        self.is_loose(word) || self.is_month(word) || self.unit(word).is_some()
    }

    /// A number written in digits or words.
    pub(super) fn number(&self, word: &str) -> Option<i32> {
        word.parse().ok().or_else(|| number(self.numbers, word))
    }

    fn unit(&self, word: &str) -> Option<char> {
        let (_, unit) =
            self.units.split_whitespace().filter_map(|entry| entry.split_once('=')).find(|(form, _)| *form == word)?;
        unit.chars().next()
    }

    /// The time that begins with the first of `tokens`, as it was said at `now`.
    pub(super) fn at(&self, tokens: &[Token], now: Timestamp) -> Option<When> {
        let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
        let today = now.date_naive();
        if let Some(days) = number(self.days, word(0)) {
            return self.day(today, days, now);
        }
        if let Some(when) = self.counted(tokens, today) {
            return Some(when);
        }
        let skip = (0..2).take_while(|&at| listed(self.before, word(at)) || listed(self.since, word(at))).count();
        if let Some(shift) = number(self.shifts, word(skip)) {
            let lasting = (0..skip).any(|at| listed(self.since, word(at)));
            return self.shifted(shift, word(skip + 1), today, skip + 2).map(|when| When { lasting, ..when });
        }
        if (skip > 0 || number(self.months, word(0)).is_some())
            && let Some(when) = self.absolute(tokens, skip, now)
        {
            return Some(when);
        }
        let loose = listed(self.loose, word(skip)) || (skip > 0 && listed(self.loose, word(skip + 1)));
        loose.then(|| When {
            len: skip + 1 + usize::from(!listed(self.loose, word(skip))),
            from: None,
            wording: Wording::Habit,
            lasting: false,
        })
    }

    fn day(&self, today: NaiveDate, days: i32, now: Timestamp) -> Option<When> {
        let length = Days::new(days.unsigned_abs().into());
        let date = if days < 0 { today.checked_sub_days(length) } else { today.checked_add_days(length) }?;
        let month = self.of_month.get(date.month0() as usize)?;
        let text = format!("{} {month} {}", date.day(), date.year());
        Some(When {
            len: 1,
            from: Some(midnight(date)).filter(|date| *date < now),
            wording: Wording::Instead(self.on_day.replace("{}", &text)),
            lasting: false,
        })
    }

    /// "two years ago", "for three months".
    fn counted(&self, tokens: &[Token], today: NaiveDate) -> Option<When> {
        let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
        let lasting = listed(self.lasting, word(0));
        let mut at = usize::from(lasting);
        let count = match self.number(word(at)) {
            Some(count) => {
                at += 1;
                count
            }
            // "год назад" has no number.
            None => 1,
        };
        let unit = self.unit(word(at))?;
        at += 1;
        let ago = listed(self.ago, word(at));
        if !ago && !lasting {
            return None;
        }
        let count = u32::try_from(count).ok()?;
        let then = match unit {
            'd' => today.checked_sub_days(Days::new(count.into())),
            'w' => today.checked_sub_days(Days::new(u64::from(count) * 7)),
            'm' => today.checked_sub_months(Months::new(count)),
            _ => today.checked_sub_months(Months::new(count.checked_mul(12)?)),
        }?;
        let wording = match unit {
            _ if lasting => Wording::Dropped,
            'y' => Wording::Instead(self.in_year.replace("{}", &then.year().to_string())),
            'm' => Wording::Instead(self.month_text(then)?),
            _ => Wording::Dropped,
        };
        Some(When { len: at + usize::from(ago), from: Some(midnight(then)), wording, lasting })
    }

    fn month_text(&self, date: NaiveDate) -> Option<String> {
        let month = self.month_names.get(date.month0() as usize)?;
        Some(self.in_month.replace("{}", &format!("{month} {}", date.year())))
    }

    /// "last year", "next month"; of a week or season only that it was.
    fn shifted(&self, shift: i32, unit: &str, today: NaiveDate, len: usize) -> Option<When> {
        let first = today.with_day(1)?;
        let months = |count: u32, back: bool| {
            if back {
                first.checked_sub_months(Months::new(count))
            } else {
                first.checked_add_months(Months::new(count))
            }
        };
        let (date, text) = match self.unit(unit) {
            Some('m') => {
                let date = months(shift.unsigned_abs(), shift < 0)?;
                (date, self.month_text(date)?)
            }
            Some('y') => {
                let date = months(12 * shift.unsigned_abs(), shift < 0)?.with_month(1)?;
                (date, self.in_year.replace("{}", &date.year().to_string()))
            }
            Some(_) => return Some(When { len, from: None, wording: Wording::Dropped, lasting: false }),
            None => {
                let known = listed(self.loose, unit) || number(self.months, unit).is_some();
                return known.then_some(When { len, from: None, wording: Wording::Dropped, lasting: false });
            }
        };
        // "This year" began before many things that were so in it: no beginning to speak of.
        let from = (shift < 0).then(|| midnight(date));
        Some(When { len, from, wording: Wording::Instead(text), lasting: false })
    }

    /// "in May", "on May 3rd, 2019", "3 мая", "in 2019".
    fn absolute(&self, tokens: &[Token], skip: usize, now: Timestamp) -> Option<When> {
        let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
        let since = (0..skip).any(|at| listed(self.since, word(at)));
        let (mut at, mut day, mut month, mut year) = (skip, None, None, None);
        let mut used = skip;
        // A date has no more words than this.
        while let Some(token) = tokens.get(at).filter(|_| at < skip + 6) {
            if let Some(found) = number(self.months, &token.word).filter(|_| month.is_none()) {
                month = u32::try_from(found).ok();
            } else if let Some(found) = ordinal(&token.word).filter(|_| day.is_none() && year.is_none()) {
                day = Some(found);
            } else if let Some(found) = a_year(&token.word).filter(|_| year.is_none()) {
                year = Some(found);
                // "в 2019 году"
                if self.unit(word(at + 1)) == Some('y') {
                    at += 1;
                }
            } else {
                let comma = token.is(",") && a_year(word(at + 1)).is_some();
                let of = month.is_none() && token.word == "of";
                if !comma && !of {
                    break;
                }
            }
            at += 1;
            used = at;
        }
        if month.is_none() && (year.is_none() || day.is_some()) {
            return None;
        }
        let from = begins(day, month, year, now);
        let wording = if since && month.is_none() && year.is_none() { Wording::Dropped } else { Wording::AsIs };
        Some(When { len: used, from, wording, lasting: since })
    }
}

/// When the period begins: of several, the last that did; nothing for a period that is not over, since a thing that
/// happened in it may have happened today.
fn begins(day: Option<u32>, month: Option<u32>, year: Option<i32>, now: Timestamp) -> Option<Timestamp> {
    let date = |year: i32| NaiveDate::from_ymd_opt(year, month.unwrap_or(1), day.unwrap_or(1)).map(midnight);
    let first = match year {
        Some(year) => date(year)?,
        None => date(now.year()).filter(|date| *date <= now).or_else(|| date(now.year() - 1))?,
    };
    let length = if day.is_some() {
        1
    } else if month.is_some() {
        31
    } else {
        366
    };
    let end = first.checked_add_days(Days::new(length))?;
    (end <= now).then_some(first)
}

/// A day of a month; of "14-15" the first.
fn ordinal(word: &str) -> Option<u32> {
    let word = word.split_once('-').filter(|(_, to)| to.parse::<u8>().is_ok()).map_or(word, |(from, _)| from);
    let digits = word.trim_end_matches(|char: char| char.is_alphabetic() || char == '-');
    let ending = word.get(digits.len()..)?;
    let fits = matches!(ending, "" | "st" | "nd" | "rd" | "th" | "-го" | "го");
    digits.parse().ok().filter(|day| fits && (1..=31).contains(day))
}

fn a_year(word: &str) -> Option<i32> {
    (word.len() == 4).then(|| word.parse().ok()).flatten().filter(|year| (1900..=2100).contains(year))
}
