//! Times that a text names: "last Friday", "в мае 2023 года", "hace dos semanas", "去年夏天".
//!
//! ```
//! use ingrain::{Timestamp, dates};
//! let now: Timestamp = "2023-08-16T12:00:00Z".parse()?;
//! let found = dates::find("What did we eat in May, and yesterday?", now);
//! assert_eq!(found[0].range.start().to_string(), "2023-05-01 00:00:00 UTC");
//! assert_eq!((found[1].range.end().to_string().as_str(), found[1].grain), ("2023-08-16 00:00:00 UTC", dates::Grain::Day));
//! # Ok::<(), chrono::ParseError>(())
//! ```
//!
//! English, Russian, Spanish, German, French and Chinese are all read in every text. Each is a table of words and
//! patterns; one grammar holds them against the text, the longest first, and one calendar reckons. There is no clock in
//! here: times are reckoned from the instant that is given, in its own offset from UTC.
//!
//! What is doubtful is left alone: "may" and "march" without a sign that a month is meant, four digits without "in" or
//! the like, durations ("for two weeks"), habits ("on Mondays"), feasts that move. What may be two days
//! (`05/06/2023`), or two winters (of 2022), is found as both.
//!
//! - A month, season, day of a month or feast without a year is the last that has begun; in a text that looks ahead
//!   ("will") the first that is not over. With "last" it is the last that is over, with "next" the first to come.
//! - A weekday is the one before today, never today; with "next" the one after. Weeks begin on Monday, weekends on
//!   Saturday. Seasons are the northern ones, of whole months: summer is June to August.
//! - "Two weeks ago" is a week around that day, "two months ago" a month around it, "two years ago" the year; "a few"
//!   is two to five, "several" three to seven, "a couple" two or three, all of it together.
//! - "Early", "mid" and "late" are thirds; of a month its first ten days, its second, and the rest.
//! - "Since" and "after" go up to the end of today, and are open if they begin later; "before" and "until" are open.

mod calendar;
mod grammar;
mod languages;
mod lexicon;
mod numeric;
mod reckoned;
mod resolve;
mod table;
mod token;

use std::ops::Range;

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveTime};

use crate::{TimeRange, Timestamp};
pub(crate) use calendar::Unit;
use grammar::Reading;
pub(crate) use reckoned::{Form, Reckoned, Words, before, periods};
use resolve::{Here, Named};

/// How exact a time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Grain {
    /// A day, or the two or three of a feast.
    Day,
    /// Saturday and Sunday.
    Weekend,
    /// A week.
    Week,
    /// A month or a part of it.
    Month,
    /// Three months of the calendar.
    Quarter,
    /// Three months of the weather.
    Season,
    /// A year or a part of it.
    Year,
    /// Ten years.
    Decade,
    /// From one time to another, or to no end.
    Span,
}

impl Grain {
    /// The grain in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Weekend => "weekend",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Season => "season",
            Self::Year => "year",
            Self::Decade => "decade",
            Self::Span => "span",
        }
    }
}

/// A time that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// When it is; an open side is that of [`TimeRange`].
    pub range: TimeRange,
    /// The bytes of the text that name it.
    pub span: Range<usize>,
    /// How exact it is.
    pub grain: Grain,
    /// Whether its words tell only how far it is from now, as "yesterday" and "two weeks ago" do; "last May" and "on
    /// Friday" name a part of the calendar too. Said at another time, such words mean another.
    pub relative: bool,
}

/// The times that a text names, seen from `now`: a [`Timestamp`], whose days are those of UTC, or an instant with the
/// offset of whoever speaks.
///
/// In the order of the text, without overlap; what can be read in two ways is there twice, over the same bytes. Every
/// range has its beginning before its end, every span lies between characters. Times beyond what the calendar of
/// [`chrono`] holds are not found. Of a text over 64 KiB only so much is read. Takes time in proportion to the text, and
/// never panics.
#[must_use]
pub fn find(text: &str, now: impl Into<DateTime<FixedOffset>>) -> Vec<Found> {
    let now = now.into();
    let offset = *now.offset();
    // At the very ends of the calendar there is no local time.
    let Some(local) = now.naive_utc().checked_add_offset(offset) else { return Vec::new() };
    let reading = Reading::new(text);
    let here = Here { today: local.date(), ahead: reading.ahead };
    let mut found = Vec::new();
    for matched in reading.matches() {
        let first = reading.tokens.get(matched.start).map_or(0, |token| token.start);
        let last = reading.tokens.get(matched.end.saturating_sub(1)).map_or(first, |token| token.end);
        let relative = matched.period.is_relative();
        let named = matched.period.resolve(here);
        let ranges = named.iter().filter_map(|named| Some((range(named, offset)?, named.grain)));
        found.extend(ranges.map(|(range, grain)| Found { range, span: first..last, grain, relative }));
    }
    found
}

/// Whether a text names a time, as [`find`] would see it: cheaper, since nothing is reckoned, so that a day which does
/// not exist counts too.
#[must_use]
pub fn mentions_time(text: &str) -> bool {
    Reading::new(text).matches().next().is_some()
}

/// The instants of local days.
fn range(named: &Named, offset: FixedOffset) -> Option<TimeRange> {
    let instant = |date: NaiveDate| Some(date.and_time(NaiveTime::MIN).checked_sub_offset(offset)?.and_utc());
    let start = named.start.map_or(Some(Timestamp::MIN_UTC), instant)?;
    let end = named.end.map_or(Some(Timestamp::MAX_UTC), instant)?;
    TimeRange::new(start, end)
}
