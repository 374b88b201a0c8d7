//! Days, weeks, months, seasons: reckoning that gives nothing where a calendar ends.

use std::cmp::Reverse;

use chrono::{Datelike, Days, Months, NaiveDate};

/// From a day to just before another.
pub(super) type Stretch = (NaiveDate, NaiveDate);

/// A unit of time; tables name it by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Day,
    Week,
    Weekend,
    Month,
    Quarter,
    Year,
    Decade,
}

impl Unit {
    pub(super) const fn new(number: i32) -> Option<Self> {
        Some(match number {
            1 => Self::Day,
            2 => Self::Week,
            3 => Self::Weekend,
            4 => Self::Month,
            5 => Self::Quarter,
            6 => Self::Year,
            7 => Self::Decade,
            _ => return None,
        })
    }
}

/// Which of the times that come round again (a May, a summer) is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The last that has begun.
    Recent,
    /// The first that is not over.
    Coming,
    /// The last that is over.
    Last,
    /// That of this year.
    This,
    /// The first that has not begun.
    Next,
}

pub(super) fn days_from(date: NaiveDate, days: i64) -> Option<NaiveDate> {
    let length = Days::new(days.unsigned_abs());
    if days < 0 { date.checked_sub_days(length) } else { date.checked_add_days(length) }
}

pub(super) fn months_from(date: NaiveDate, months: i64) -> Option<NaiveDate> {
    let length = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
    if months < 0 { date.checked_sub_months(length) } else { date.checked_add_months(length) }
}

/// So many units from a day.
pub(super) fn units_from(date: NaiveDate, count: i32, unit: Unit) -> Option<NaiveDate> {
    let count = i64::from(count);
    match unit {
        Unit::Day => days_from(date, count),
        Unit::Week | Unit::Weekend => days_from(date, 7 * count),
        Unit::Month => months_from(date, count),
        Unit::Quarter => months_from(date, 3 * count),
        Unit::Year => months_from(date, 12 * count),
        Unit::Decade => months_from(date, 120 * count),
    }
}

fn monday(date: NaiveDate) -> Option<NaiveDate> {
    days_from(date, -i64::from(date.weekday().num_days_from_monday()))
}

/// The day.
pub(super) fn day(date: NaiveDate) -> Option<Stretch> {
    Some((date, days_from(date, 1)?))
}

/// A day of the week that is so many weeks from that of `today`; Monday is 1.
pub(super) fn day_of_week(today: NaiveDate, weeks: i32, weekday: u32) -> Option<Stretch> {
    day(days_from(monday(today)?, 7 * i64::from(weeks) + i64::from(weekday) - 1)?)
}

/// The weekday nearest to `today`, before it or after it.
pub(super) fn weekday(today: NaiveDate, weekday: u32, after: bool) -> Option<Stretch> {
    let this = i64::from(today.weekday().number_from_monday());
    let ahead = (i64::from(weekday) - this).rem_euclid(7);
    day(days_from(
        today,
        if after && ahead == 0 {
            7
        } else if after {
            ahead
        } else {
            ahead - 7
        },
    )?)
}

/// The month.
pub(super) fn month(year: i32, month: u32) -> Option<Stretch> {
    let first = NaiveDate::from_ymd_opt(year, month, 1)?;
    Some((first, months_from(first, 1)?))
}

/// So many years from the first day of a year on.
pub(super) fn years(first: i32, count: i32) -> Option<Stretch> {
    let first = NaiveDate::from_ymd_opt(first, 1, 1)?;
    Some((first, months_from(first, 12 * i64::from(count))?))
}

/// The quarter, 1 to 4.
pub(super) fn quarter(year: i32, quarter: u32) -> Option<Stretch> {
    let first = NaiveDate::from_ymd_opt(year, quarter.checked_sub(1)? * 3 + 1, 1)?;
    Some((first, months_from(first, 3)?))
}

/// A season of the northern year; the winter (0) that ends in it.
pub(super) fn season(year: i32, season: u32) -> Option<Stretch> {
    let spring = NaiveDate::from_ymd_opt(year, 3, 1)?;
    let first = months_from(spring, 3 * (i64::from(season) - 1))?;
    Some((first, months_from(first, 3)?))
}

/// The unit, as calendars begin it, so many from that of `today`.
pub(super) fn unit(today: NaiveDate, unit: Unit, shift: i32) -> Option<Stretch> {
    let then = units_from(
        match unit {
            Unit::Day => today,
            Unit::Week | Unit::Weekend => monday(today)?,
            _ => today.with_day(1)?,
        },
        shift,
        unit,
    )?;
    match unit {
        Unit::Day => day(then),
        Unit::Week => Some((then, days_from(then, 7)?)),
        Unit::Weekend => Some((days_from(then, 5)?, days_from(then, 7)?)),
        Unit::Month => month(then.year(), then.month()),
        Unit::Quarter => quarter(then.year(), then.month0() / 3 + 1),
        Unit::Year => years(then.year(), 1),
        Unit::Decade => years(then.year().div_euclid(10) * 10, 10),
    }
}

/// What is meant by a day that was reckoned in units: nobody counts weeks or months to the day, so that a unit around
/// it is meant; of years the calendar's.
pub(super) fn around(then: NaiveDate, unit_: Unit) -> Option<Stretch> {
    let within = |before: i64, after: i64| Some((days_from(then, -before)?, days_from(then, after)?));
    match unit_ {
        Unit::Day => day(then),
        Unit::Week => within(3, 4),
        Unit::Month => within(15, 16),
        Unit::Quarter => within(45, 46),
        Unit::Weekend | Unit::Year => unit(then, unit_, 0),
        Unit::Decade => years(then.year().checked_sub(5)?, 10),
    }
}

/// Longest that a day of the year is waited for: the 29th of February, around the turn of a century.
const YEARS: i32 = 8;

/// One of the times that come round every year, where `of` gives that of a year.
pub(super) fn yearly(today: NaiveDate, which: Which, of: impl Fn(i32) -> Option<Stretch>) -> Option<Stretch> {
    let this = today.year();
    let all = || (this.saturating_sub(YEARS)..=this.saturating_add(YEARS)).filter_map(&of);
    match which {
        Which::Recent => all().filter(|(start, _)| *start <= today).max(),
        Which::Last => all().filter(|(_, end)| *end <= today).max(),
        Which::Coming => all().filter(|(_, end)| *end > today).min(),
        Which::Next => all().filter(|(start, _)| *start > today).min(),
        Which::This => {
            let own = of(this)?;
            if own.0.year() == this {
                return Some(own);
            }
            // Of winters, which begin in another year than they end in, the nearest; one that is on is at no distance.
            let away = |(start, end): &Stretch| {
                let ahead = start.signed_duration_since(today).num_days().max(0);
                ahead.max(today.signed_duration_since(*end).num_days() + 1)
            };
            all().min_by_key(|stretch| (away(stretch), Reverse(stretch.0)))
        }
    }
}

/// The first, middle or last third of a stretch; of months ten days, the rest to the last.
pub(super) fn third((start, end): Stretch, which: i32) -> Option<Stretch> {
    let days = end.signed_duration_since(start).num_days();
    let third = days / 3;
    let (from, to) = match which {
        0 => (0, third),
        1 => (third, 2 * third),
        _ => (2 * third, days),
    };
    let stretch = (days_from(start, from)?, days_from(start, to)?);
    (stretch.0 < stretch.1).then_some(stretch)
}
