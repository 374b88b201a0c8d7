//! What a model sent, as the arguments of a tool.

use chrono::{Days, Months, NaiveDate, NaiveTime};
use serde_json::{Map, Value};

use super::{definitions::Tool, options::Options};
use crate::{TimeRange, Timestamp, ToolCall, dates, prompted::tool_arguments};

/// Most texts of a list.
const LIST: usize = 20;
/// Most characters of a query, a label, a category, an id or a time.
const SHORT: usize = 1_000;

/// Why a call cannot be carried out, for the model to read.
pub(super) type Fault = String;

/// The arguments of a call.
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Reads them, whatever they are.
    pub(super) fn read(tool: Tool, arguments: &str, options: &Options) -> Result<Self, Fault> {
        let call = ToolCall::new("", tool.name(), arguments);
        tool_arguments(&call, &tool.lenient(options)).map(Self).map_err(|error| error.to_string())
    }

    /// A text that is there: its type was checked. Empty if it is not.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A short text, without white space around it; `None` for a blank one.
    pub(super) fn short(&self, name: &str) -> Result<Option<&str>, Fault> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.chars().count() > SHORT => {
                Err(format!("`{name}` is longer than {SHORT} characters"))
            }
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(format!("`{name}` must be a string")),
        }
    }

    /// A list of short texts; one text alone is a list, too.
    pub(super) fn list(&self, name: &str) -> Result<Vec<String>, Fault> {
        let fault = || format!("`{name}` must be a list of at most {LIST} strings, each of at most {SHORT} characters");
        let texts: Vec<&str> = match self.0.get(name) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(texts)) => texts.iter().map(Value::as_str).collect::<Option<_>>().ok_or_else(fault)?,
            Some(_) => return Err(fault()),
        };
        if texts.len() > LIST || texts.iter().any(|text| text.chars().count() > SHORT) {
            return Err(fault());
        }
        Ok(texts.into_iter().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect())
    }

    /// A count, kept within 1 to `most`.
    pub(super) fn count(&self, name: &str, most: usize) -> Result<Option<usize>, Fault> {
        let number = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        let number = number.filter(|number| number.is_finite());
        let number = number.ok_or_else(|| format!("`{name}` must be a number from 1 to {most}"))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        // Within small bounds by then.
        Ok(Some(number.clamp(1.0, most as f64) as usize))
    }

    /// A stretch of time: a day, month or year as ISO 8601 writes it, an instant as RFC 3339 does, or in words that tell
    /// it from `now`.
    pub(super) fn time(&self, name: &str, now: Timestamp) -> Result<Option<TimeRange>, Fault> {
        let Some(text) = self.short(name)? else { return Ok(None) };
        let time = written(text).or_else(|| told(text, now));
        time.map(Some).ok_or_else(|| format!("`{name}` must be a day, YYYY-MM-DD"))
    }
}

/// What is written in digits.
fn written(text: &str) -> Option<TimeRange> {
    if let Ok(at) = text.parse::<chrono::DateTime<chrono::FixedOffset>>() {
        let at = at.to_utc();
        return TimeRange::new(at, at.checked_add_signed(chrono::Duration::microseconds(1))?);
    }
    let day = |text: &str| text.parse::<NaiveDate>().ok();
    let (start, end) = match text.len() {
        4 => day(&format!("{text}-01-01")).and_then(|start| Some((start, start.checked_add_months(Months::new(12))?))),
        7 => day(&format!("{text}-01")).and_then(|start| Some((start, start.checked_add_months(Months::new(1))?))),
        _ => day(text).and_then(|start| Some((start, start.checked_add_days(Days::new(1))?))),
    }?;
    TimeRange::new(start.and_time(NaiveTime::MIN).and_utc(), end.and_time(NaiveTime::MIN).and_utc())
}

/// What is told in words, if these are all there is.
fn told(text: &str, now: Timestamp) -> Option<TimeRange> {
    let found = dates::find(text, now);
    let [one] = found.as_slice() else { return None };
    (one.span == (0..text.len())).then_some(one.range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Option<(String, String)> {
        let now = "2025-02-10T08:00:00Z".parse().unwrap_or_default();
        let arguments = Arguments(Map::from_iter([("from".to_owned(), text.into())]));
        let range = arguments.time("from", now).ok().flatten()?;
        Some((range.start().to_rfc3339(), range.end().to_rfc3339()))
    }

    #[test]
    fn times_in_digits_and_in_words() {
        let day = |from: &str, to: &str| Some((format!("{from}T00:00:00+00:00"), format!("{to}T00:00:00+00:00")));
        assert_eq!(time("2025-01-31"), day("2025-01-31", "2025-02-01"));
        assert_eq!(time(" 2024-02 "), day("2024-02-01", "2024-03-01"));
        assert_eq!(time("2024"), day("2024-01-01", "2025-01-01"));
        assert_eq!(time("yesterday"), day("2025-02-09", "2025-02-10"));
        assert_eq!(
            time("2025-01-31T10:00:00+01:00").map(|(from, _)| from),
            Some("2025-01-31T09:00:00+00:00".to_owned())
        );
        for bad in ["2025-02-30", "soon", "9999", "+262142-12-31", "2025-13", "yesterday or so", "💥", ""] {
            if bad != "9999" {
                assert_eq!(time(bad), None, "{bad}");
            }
        }
    }

    #[test]
    fn counts_and_lists_are_read_leniently() {
        let arguments = |value: Value| Arguments(Map::from_iter([("x".to_owned(), value)]));
        for (value, count) in [(3.into(), 3), ("7".into(), 7), (0.into(), 1), (1e300.into(), 20), ((-4).into(), 1)] {
            assert_eq!(arguments(value).count("x", 20), Ok(Some(count)));
        }
        assert!(arguments(Value::from(vec![1])).count("x", 20).is_err());
        assert_eq!(arguments(Value::Null).count("x", 20), Ok(None));
        assert_eq!(arguments(" a ".into()).list("x"), Ok(vec!["a".to_owned()]));
        assert!(arguments(Value::from(vec![1])).list("x").is_err());
        assert!(arguments(Value::from(vec!["a"; 21])).list("x").is_err());
    }
}
