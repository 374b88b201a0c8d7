//! Dates in digits alone.

use chrono::NaiveDate;

use super::token::{Kind, Token};

/// The date in digits that begins at a token: how many tokens it takes, and the days it may mean.
///
/// `2023-05-08`, `2023/5/8` and `2023.5.8` begin with the year, `8.5.2023` with the day. Of `5/8/2023` and `5-8-2023`
/// nobody knows whether the day or the month comes first: both days are given, or the one there is. A year of two
/// digits is taken after slashes, and between dots where all three have two digits.
pub(super) fn date(tokens: &[Token], at: usize) -> Option<(usize, Vec<NaiveDate>)> {
    let token = |offset: usize| tokens.get(at + offset).filter(|token| offset == 0 || token.glued);
    let number = |offset: usize| {
        let token = token(offset).filter(|token| token.kind == Kind::Number)?;
        Some((token.number?, token.digits))
    };
    let mark = token(1)?.word;
    if !matches!(mark, "-" | "/" | ".") || !token(3)?.is(mark) {
        return None;
    }
    let (first, second, third) = (number(0)?, number(2)?, number(4)?);
    let day = |(year, _): (u32, usize), (month, _): (u32, usize), (day, _): (u32, usize)| {
        NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
    };
    let short = |(_, digits): (u32, usize)| digits <= 2;
    let year = match (third.1, mark) {
        (4, _) => third,
        (2, "/") => (century(third.0), 4),
        (2, ".") if first.1 == 2 && second.1 == 2 => (century(third.0), 4),
        _ => (0, 0),
    };
    let mut days: Vec<NaiveDate> = if first.1 == 4 && short(second) && short(third) {
        day(first, second, third).into_iter().collect()
    } else if year.1 == 4 && short(first) && short(second) {
        let day_first = day(year, second, first);
        let month_first = day(year, first, second).filter(|_| mark != ".");
        day_first.into_iter().chain(month_first).collect()
    } else {
        return None;
    };
    days.dedup();
    let plausible = |date: &NaiveDate| (1800..2200).contains(&chrono::Datelike::year(date));
    days.retain(plausible);
    // "2023-05-08T10:00:00Z": the time of day goes with it, as far as its hour.
    let timed = token(5).is_some_and(|token| token.is("t")) && number(6).is_some() && first.1 == 4;
    let mut end = at + if timed { 7 } else { 5 };
    if timed {
        while tokens.get(end).is_some_and(|token| token.glued && (token.kind == Kind::Number || is_of_time(token))) {
            end += 1;
        }
    }
    Some((end, days))
}

fn is_of_time(token: &Token) -> bool {
    matches!(token.word, ":" | "." | "+" | "-" | "z")
}

/// The year of two digits: up to 2069, and from 1970 on.
const fn century(year: u32) -> u32 {
    if year < 70 { 2000 + year } else { 1900 + year }
}
