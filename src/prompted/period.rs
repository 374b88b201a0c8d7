//! Days, months and years, as models write them.

use chrono::{Datelike, Days, Months, NaiveDate, NaiveTime};

use crate::Timestamp;

/// A day, month or year, in UTC, from its first instant to the first of the next; or an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
}

impl Period {
    /// Years have four digits: a shorter number is something else, such as an age. The year 9999 means "always".
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Some(Self { start: instant, end: instant }).filter(|_| (1_000..9_999).contains(&instant.year()));
        }
        let mut parts = text.get(..10).unwrap_or(text).splitn(3, '-');
        let year =
            parts.next().filter(|year| year.len() == 4)?.parse().ok().filter(|year| (1_000..9_999).contains(year))?;
        let (month, day) = (parts.next(), parts.next());
        let number = |part: Option<&str>| part.map_or(Some(1), |part| part.parse::<u32>().ok());
        let first = NaiveDate::from_ymd_opt(year, number(month)?, number(day)?)?;
        let next = match (month, day) {
            (_, Some(_)) => first.checked_add_days(Days::new(1)),
            (Some(_), None) => first.checked_add_months(Months::new(1)),
            (None, None) => first.checked_add_months(Months::new(12)),
        };
        let at = |date: NaiveDate| date.and_time(NaiveTime::MIN).and_utc();
        Some(Self { start: at(first), end: at(next?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_date_is_left_out() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap_or_default();
        let period = |start: &str, end: &str| Some(Period { start: at(start), end: at(end) });
        let year = period("2023-01-01T00:00:00Z", "2024-01-01T00:00:00Z");
        let day = period("2023-12-31T00:00:00Z", "2024-01-01T00:00:00Z");
        assert_eq!(["2023", "2023-12-31", "2023-12-31 at noon"].map(Period::read), [year, day, day]);
        for nonsense in [
            "12 May",
            "",
            "2023-13-01",
            "é-é-é-é-é",
            "5",
            "0005-01-01",
            "99999",
            "0000",
            "9999-12-31",
            "-2023",
            "2023-02-30",
        ] {
            assert_eq!(Period::read(nonsense), None, "{nonsense}");
        }
    }
}
