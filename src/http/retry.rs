use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

use chrono::{DateTime, NaiveDateTime};
use reqwest::header::HeaderMap;

use crate::Timestamp;

/// The wait before try `tries + 1`: `first · 2^(tries − 1)`, at most `longest`, times a number from ½ to 1.
///
/// The chance keeps clients that failed together from coming back together ("equal jitter", Brooker, "Exponential
/// Backoff And Jitter", AWS Architecture Blog, 2015).
pub(super) fn backoff(first: Duration, tries: u32, longest: Duration, chance: f64) -> Duration {
    let doubled = first.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
    let (whole, share) = (doubled.min(longest), 0.5 + 0.5 * chance.clamp(0.0, 1.0));
    // `mul_f64` would panic where the longest wait is that of the type.
    Duration::try_from_secs_f64(whole.as_secs_f64() * share).unwrap_or(whole)
}

/// A number from 0 to 1 that nobody can foresee; the standard library seeds its hashers from the system.
pub(super) fn chance() -> f64 {
    let bits = RandomState::new().build_hasher().finish() >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

/// What the server asks to wait: seconds, milliseconds (`retry-after-ms`), or a date, which in the past means none.
///
/// # Source
/// RFC 9110, section 10.2.3, and 5.6.7 for the three forms of a date. Fractions of seconds are not in it, but are sent.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| text.parse::<f64>().ok().and_then(|number| Duration::try_from_secs_f64(number).ok());
    if let Some(wait) = header("retry-after-ms").and_then(seconds) {
        return Some(wait / 1000);
    }
    let text = header("retry-after")?;
    seconds(text).or_else(|| date(text).map(|date| (date - now).to_std().unwrap_or_default()))
}

fn date(text: &str) -> Option<Timestamp> {
    if let Ok(date) = DateTime::parse_from_rfc2822(text) {
        return Some(date.to_utc());
    }
    let old = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];
    old.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok()).map(|date| date.and_utc())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_of_retry_after_is_read() {
        let now = "1994-11-06T08:49:00Z".parse().unwrap();
        let wait = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers, now)
        };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(wait("retry-after", "2"), seconds(2));
        assert_eq!(wait("retry-after", " 0 "), seconds(0));
        assert_eq!(wait("retry-after", "1.5"), Some(Duration::from_millis(1_500)));
        assert_eq!(wait("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(wait("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), seconds(37));
        assert_eq!(wait("retry-after", "Sunday, 06-Nov-94 08:49:37 GMT"), seconds(37));
        assert_eq!(wait("retry-after", "Sun Nov  6 08:49:37 1994"), seconds(37));
        assert_eq!(wait("retry-after", "Sat, 05 Nov 1994 08:49:37 GMT"), seconds(0), "a date in the past");
        for odd in ["", "soon", "-3", "NaN", "inf", "1e400", "Sun, 32 Nov 1994 08:49:37 GMT"] {
            assert_eq!(wait("retry-after", odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn a_backoff_doubles_within_its_bounds(tries in 1_u32..200, chance in 0.0..1.0) {
            let (first, longest) = (Duration::from_millis(100), Duration::from_secs(30));
            let whole = backoff(first, tries, longest, 1.0);
            prop_assert!(whole <= longest && (whole == longest || whole == first * 2_u32.pow(tries - 1)));
            let wait = backoff(first, tries, longest, chance);
            prop_assert!(wait >= whole / 2 && wait <= whole);
        }
    }

    #[test]
    fn a_backoff_without_a_bound_is_no_panic() {
        for chance in [0.0, 0.5, 1.0] {
            assert!(backoff(Duration::MAX, 200, Duration::MAX, chance) >= Duration::MAX / 2);
        }
    }

    #[test]
    fn chance_is_between_0_and_1_and_not_always_the_same() {
        let drawn: Vec<f64> = (0..50).map(|_| chance()).collect();
        assert!(drawn.iter().all(|number| (0.0..1.0).contains(number)));
        assert!(drawn.windows(2).any(|pair| matches!(pair, [a, b] if a != b)));
    }
}
