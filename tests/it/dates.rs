//! Times that texts name, by the golden cases: a text, then for each time that it names the words and the range. A range
//! is a day, month or year, or two days with a stroke between them, where `..` is an open side.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, NaiveDate, TimeZone, Utc};
use ingrain::{TimeRange, Timestamp, dates};
use proptest::prelude::*;
use serde_json::Value;

fn midnight(date: NaiveDate) -> Timestamp {
    date.and_time(chrono::NaiveTime::MIN).and_utc()
}

fn range(text: &str) -> TimeRange {
    let day = |text: &str| text.parse::<NaiveDate>().ok();
    let (start, end) = if let Some((start, end)) = text.split_once('/') {
        let start = if start == ".." { Timestamp::MIN_UTC } else { midnight(day(start).unwrap()) };
        (start, if end == ".." { Timestamp::MAX_UTC } else { midnight(day(end).unwrap()) })
    } else if let Some(date) = day(text) {
        (midnight(date), midnight(date.succ_opt().unwrap()))
    } else if let Some(first) = day(&format!("{text}-01")) {
        (midnight(first), midnight(first.checked_add_months(chrono::Months::new(1)).unwrap()))
    } else {
        let first = day(&format!("{text}-01-01")).unwrap();
        (midnight(first), midnight(first.checked_add_months(chrono::Months::new(12)).unwrap()))
    };
    TimeRange::new(start, end).unwrap()
}

#[test]
fn golden_cases_hold() {
    let cases: BTreeMap<String, Value> = serde_json::from_str(include_str!("../data/dates.json")).unwrap();
    let now: Timestamp = cases["now"].as_str().unwrap().parse().unwrap();
    let mut wrong = Vec::new();
    for (language, cases) in cases.iter().filter(|(name, _)| *name != "now") {
        let cases = cases.as_array().unwrap();
        assert!(cases.len() >= 40, "{language} has {} cases", cases.len());
        for case in cases {
            let parts: Vec<&str> = case.as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect();
            let (text, named) = parts.split_first().unwrap();
            let wanted: Vec<(String, TimeRange)> = named
                .iter()
                .map(|named| {
                    let (words, when) = named.rsplit_once(": ").unwrap();
                    (words.to_owned(), range(when))
                })
                .collect();
            let found: Vec<(String, TimeRange)> =
                dates::find(text, now).into_iter().map(|found| (text[found.span].to_owned(), found.range)).collect();
            if found != wanted {
                let show = |(words, range): &(String, TimeRange)| {
                    format!("{words}: {}/{}", range.start().date_naive(), range.end().date_naive())
                };
                wrong.push(format!(
                    "{language}: {text}\n  wanted {:?}\n  found  {:?}",
                    wanted.iter().map(show).collect::<Vec<_>>(),
                    found.iter().map(show).collect::<Vec<_>>()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn days_are_those_of_the_speaker() {
    // Late in the evening in UTC it is the next day in Tokyo.
    let tokyo = FixedOffset::east_opt(9 * 3600).unwrap();
    let now = Utc.with_ymd_and_hms(2023, 8, 16, 22, 0, 0).unwrap();
    let found = dates::find("yesterday", now.with_timezone(&tokyo));
    assert_eq!(found[0].range.start().to_rfc3339(), "2023-08-15T15:00:00+00:00");
    let found = dates::find("yesterday", now);
    assert_eq!(found[0].range.start().to_rfc3339(), "2023-08-15T00:00:00+00:00");
}

#[test]
fn grains_say_how_exact_a_time_is() {
    use dates::Grain;
    let now = Utc.with_ymd_and_hms(2023, 8, 16, 12, 0, 0).unwrap();
    let cases = [
        ("yesterday", Grain::Day),
        ("last weekend", Grain::Weekend),
        ("two weeks ago", Grain::Week),
        ("in early May", Grain::Month),
        ("Q1 2023", Grain::Quarter),
        ("last summer", Grain::Season),
        ("in 2022", Grain::Year),
        ("in the 1990s", Grain::Decade),
        ("since March", Grain::Span),
    ];
    for (text, grain) in cases {
        assert_eq!(dates::find(text, now)[0].grain, grain, "{text}");
        assert!(dates::mentions_time(text));
    }
    assert!(!dates::mentions_time("I may march on"));
}

#[test]
fn the_ends_of_the_calendar_are_no_trap() {
    let text =
        "yesterday, tomorrow, 999 decades ago, in 2199, since yesterday, last winter, next year, 999 years from now";
    for now in [Timestamp::MIN_UTC, Timestamp::MAX_UTC] {
        for hours in [-12, 0, 14] {
            // Where the local time does not exist there is nothing to reckon from.
            let offset = FixedOffset::east_opt(hours * 3600).unwrap();
            for found in dates::find(text, DateTime::<FixedOffset>::from_naive_utc_and_offset(now.naive_utc(), offset))
            {
                assert!(found.range.start() < found.range.end());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_text_at_any_time_is_safe(
        pieces in prop::collection::vec(prop_oneof![
            "\\PC{0,6}".boxed(),
            "[0-9]{1,12}".boxed(),
            prop::sample::select(vec![
                "last ", "in ", "may ", "May ", "since ", "between ", "and ", "from ", "to ", "years ", "ago ", "week ",
                "year ", "5 ", "31 ", "February ", "2023", "-", "/", ".", "年", "月", "日", "上", "个", "周", "三", "十", "назад ",
                "лет ", "в ", "мае ", "до ", "prima", "été", "l'", "e\u{301}te\u{301} ", "hace ", "vor ", "il y a ", "ans ", "9999 ",
                "a few ", "decades ", "quarter ", "the ", "before ", "  ", "\n",
            ]).prop_map(str::to_owned).boxed(),
        ], 0..24),
        seconds in any::<i64>(),
        offset in -86_399..86_400_i32,
    ) {
        let text = pieces.concat();
        let now = DateTime::<Utc>::from_timestamp(seconds % 8_000_000_000_000, 0).unwrap_or_default();
        let now = DateTime::<FixedOffset>::from_naive_utc_and_offset(now.naive_utc(), FixedOffset::east_opt(offset).unwrap());
        let mut last = 0;
        let mut before = 0..0;
        for found in dates::find(&text, now) {
            prop_assert!(found.range.start() < found.range.end());
            prop_assert!(text.get(found.span.clone()).is_some_and(|words| !words.is_empty()));
            prop_assert!(found.span == before || found.span.start >= last, "{text}: {before:?} {:?}", found.span);
            last = found.span.end;
            before = found.span;
        }
        let _ = dates::mentions_time(&text);
    }
}
