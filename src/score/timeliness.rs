//! How near a memory is to a time that a query names.
//!
//! ```text
//! instant = 1                                within the range
//!           2^(−days before it / 1)          before it
//!           2^(−days after it / 7)           after it
//! state   = max(instant of its beginning, instant of its end, ¼ · [it held within the range])
//! ```
//!
//! each times ¼ for a range that is open on a side ("before 2020"): it holds so much that to lie in it says little.
//!
//! The edges are soft, since people are no calendars, and softer behind: most of what is told of a day is told on that
//! day or in those after it, and only plans are told before. What has held since long before says little about the
//! range, so that it counts a quarter (not measured).
//!
//! # Source
//! Exponential decay around a window, as the temporal priors of Li and Croft, "Time-Based Language Models", CIKM 2003.
//! The half-lives were measured on LoCoMo: among 12 h and 1 day before and 1, 2, 4 and 7 days after, these are the
//! best; so is the quarter, among 1, ½, ¼ and 0.

use crate::{TimeRange, Timestamp};

/// Days before a range after which half of the value is left.
const BEFORE: f32 = 1.0;
/// The same behind it.
const AFTER: f32 = 7.0;
/// What held throughout a range.
const HELD: f32 = 0.25;
/// Anything in a range that is open on a side.
const OPEN: f32 = 0.25;

/// How near an instant is to a range: 1 within it, falling to 0 outside.
#[must_use]
pub fn of_instant(at: Timestamp, range: TimeRange) -> f32 {
    let days = |from: Timestamp, to: Timestamp| to.signed_duration_since(from).num_seconds() as f32 / 86_400.0;
    let nearness = if at < range.start() {
        (-days(at, range.start()) / BEFORE).exp2()
    } else if at >= range.end() {
        (-days(range.end(), at) / AFTER).exp2()
    } else {
        1.0
    };
    nearness * share(range)
}

fn share(range: TimeRange) -> f32 {
    let open = range.start() == Timestamp::MIN_UTC || range.end() == Timestamp::MAX_UTC;
    if open { OPEN } else { 1.0 }
}

/// How near something that began at `from`, and may have ended, is to a range, 0 to 1.
#[must_use]
pub fn of_state(from: Timestamp, until: Option<Timestamp>, range: TimeRange) -> f32 {
    let held = from < range.end() && until.is_none_or(|until| until > range.start());
    let ends = until.map_or(0.0, |until| of_instant(until, range));
    of_instant(from, range).max(ends).max(if held { HELD * share(range) } else { 0.0 })
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn edges_are_soft_and_softer_behind() {
        let day = TimeRange::new(at("2023-05-08T00:00:00Z"), at("2023-05-09T00:00:00Z")).expect("a day");
        for (time, value) in [
            ("2023-05-08T00:00:00Z", 1.0),
            ("2023-05-08T23:59:59Z", 1.0),
            ("2023-05-16T00:00:00Z", 0.5),
            ("2023-05-23T00:00:00Z", 0.25),
            ("2023-05-07T00:00:00Z", 0.5),
            ("2023-05-06T00:00:00Z", 0.25),
        ] {
            assert!((of_instant(at(time), day) - value).abs() < 1e-5, "{time}");
        }
        for far in [Timestamp::MIN_UTC, Timestamp::MAX_UTC] {
            assert_eq!(of_instant(far, day), 0.0);
        }
        let ever = TimeRange::new(Timestamp::MIN_UTC, Timestamp::MAX_UTC).expect("all of time");
        assert_eq!(of_instant(at("2023-05-08T00:00:00Z"), ever), OPEN);
    }

    #[test]
    fn a_state_counts_by_its_ends() {
        let may = TimeRange::new(at("2023-05-01T00:00:00Z"), at("2023-06-01T00:00:00Z")).expect("a month");
        let (long_ago, then, later) =
            (at("2019-01-01T00:00:00Z"), at("2023-05-10T00:00:00Z"), at("2025-01-01T00:00:00Z"));
        assert_eq!(of_state(then, None, may), 1.0);
        assert_eq!(of_state(long_ago, Some(then), may), 1.0);
        assert_eq!(of_state(long_ago, Some(later), may), HELD);
        assert_eq!(of_state(long_ago, None, may), HELD);
        assert!(of_state(later, None, may) < 1e-6);
    }
}
