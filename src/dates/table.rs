//! What a language's table is made of.

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
