//! What a filter means, for whatever has the fields of a memory.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Comparison, Field};
use crate::types::{Memory, Metadata, Timestamp, truncate};

/// A field's content, borrowed from whatever has it.
#[derive(Clone, Copy)]
pub(crate) enum Content<'m> {
    Missing,
    Text(&'m str),
    Number(f32),
    Whole(u64),
    Flag(bool),
    Time(Timestamp),
    Texts(&'m [String]),
    Json(&'m Value),
}

impl<'m> Content<'m> {
    pub(crate) fn text(text: Option<&'m str>) -> Self {
        text.map_or(Self::Missing, Self::Text)
    }

    pub(crate) fn time(at: Option<Timestamp>) -> Self {
        at.map_or(Self::Missing, Self::Time)
    }

    pub(crate) fn metadata(metadata: &'m Metadata, path: &str) -> Self {
        look_up(metadata, path).map_or(Self::Missing, Self::Json)
    }
}

/// What a filter can look at: a memory, or the part of one that an index keeps.
pub(crate) trait Fields {
    fn content(&self, field: &Field) -> Content<'_>;
}

impl Fields for Memory {
    fn content(&self, field: &Field) -> Content<'_> {
        match field {
            Field::Kind => Content::Text(self.kind.as_str()),
            Field::Category => Content::Texts(&self.categories),
            Field::Importance => Content::Number(self.importance),
            Field::Pinned => Content::Flag(self.pinned),
            Field::Speaker => Content::text(self.speaker.as_deref()),
            Field::Trust => Content::Text(self.trust.as_str()),
            Field::Slot => Content::text(self.slot.as_deref()),
            Field::User => Content::text(self.scope.user_id()),
            Field::Agent => Content::text(self.scope.agent_id()),
            Field::Session => Content::text(self.scope.session_id()),
            Field::Ordinal => self.ordinal.map_or(Content::Missing, Content::Whole),
            Field::ObservedAt => Content::Time(self.observed_at),
            Field::ValidAt => Content::Time(self.valid_at),
            Field::InvalidAt => Content::time(self.invalid_at),
            Field::ExpiresAt => Content::time(self.expires_at),
            Field::CreatedAt => Content::Time(self.created_at),
            Field::UpdatedAt => Content::Time(self.updated_at),
            Field::Metadata(path) => Content::metadata(&self.metadata, path),
        }
    }
}

/// The value under the key itself, else under the path that its dots make.
fn look_up<'m>(metadata: &'m Metadata, path: &str) -> Option<&'m Value> {
    if let Some(value) = metadata.get(path) {
        return Some(value);
    }
    let mut steps = path.split('.');
    let first = metadata.get(steps.next()?)?;
    steps.try_fold(first, |value, step| value.as_object()?.get(step))
}

pub(super) fn holds(content: Content<'_>, comparison: Comparison, value: &Value) -> bool {
    match comparison {
        Comparison::Eq => equals(content, value),
        Comparison::Ne => !equals(content, value),
        Comparison::In => listed(content, value),
        Comparison::NotIn => !listed(content, value),
        Comparison::Lt => in_range(content, value, Ordering::is_lt),
        Comparison::Lte => in_range(content, value, Ordering::is_le),
        Comparison::Gt => in_range(content, value, Ordering::is_gt),
        Comparison::Gte => in_range(content, value, Ordering::is_ge),
        Comparison::Exists => {
            let there = match content {
                Content::Missing | Content::Json(Value::Null) => false,
                Content::Texts(texts) => !texts.is_empty(),
                _ => true,
            };
            value.as_bool().unwrap_or(true) == there
        }
    }
}

fn listed(content: Content<'_>, value: &Value) -> bool {
    value.as_array().is_some_and(|values| values.iter().any(|value| equals(content, value)))
}

fn equals(content: Content<'_>, value: &Value) -> bool {
    match content {
        Content::Missing => false,
        Content::Flag(flag) => value.as_bool() == Some(flag),
        Content::Texts(texts) => texts.iter().any(|text| value.as_str() == Some(text)),
        Content::Json(json) => json_equals(json, value),
        scalar => compare(scalar, value).is_some_and(Ordering::is_eq),
    }
}

fn json_equals(stored: &Value, value: &Value) -> bool {
    match (stored, value) {
        (Value::Number(_), Value::Number(_)) => compare_numbers(stored, value) == Some(Ordering::Equal),
        (Value::Array(elements), value) if !value.is_array() => {
            elements.iter().any(|element| json_equals(element, value))
        }
        (stored, value) => stored == value,
    }
}

fn in_range(content: Content<'_>, value: &Value, wanted: fn(Ordering) -> bool) -> bool {
    match content {
        Content::Texts(texts) => texts.iter().any(|text| in_range(Content::Text(text), value, wanted)),
        Content::Json(Value::Array(elements)) => {
            elements.iter().any(|element| in_range(Content::Json(element), value, wanted))
        }
        content => compare(content, value).is_some_and(wanted),
    }
}

fn compare(content: Content<'_>, value: &Value) -> Option<Ordering> {
    match content {
        Content::Text(text) => value.as_str().map(|value| text.cmp(value)),
        // At the field's own precision: 0.8 as an f32 is not 0.8 as an f64.
        #[expect(clippy::cast_possible_truncation, reason = "rounding to the field's precision is the point")]
        Content::Number(number) => number.partial_cmp(&(value.as_f64()? as f32)),
        Content::Whole(number) => compare_numbers(&Value::from(number), value),
        Content::Time(at) => Some(at.cmp(&instant(value)?)),
        Content::Json(Value::String(text)) => compare(Content::Text(text), value),
        Content::Json(number @ Value::Number(_)) => compare_numbers(number, value),
        Content::Missing | Content::Flag(_) | Content::Texts(_) | Content::Json(_) => None,
    }
}

/// Whole numbers compare exactly: ids beyond 2^53 are common in metadata, and a float would merge neighbours.
fn compare_numbers(stored: &Value, value: &Value) -> Option<Ordering> {
    fn whole(value: &Value) -> Option<i128> {
        value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
    }
    match (whole(stored), whole(value)) {
        (Some(stored), Some(value)) => Some(stored.cmp(&value)),
        _ => stored.as_f64()?.partial_cmp(&value.as_f64()?),
    }
}

pub(super) fn instant(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?;
    let day = || text.parse::<chrono::NaiveDate>().ok()?.and_hms_opt(0, 0, 0).map(|midnight| midnight.and_utc());
    // The second form reads years of more than four digits, which RFC 3339 does not have.
    let far = || text.parse::<Timestamp>().ok();
    // As fine as what is stored: what was stored at an instant is not before it.
    chrono::DateTime::parse_from_rfc3339(text).ok().map(|at| at.to_utc()).or_else(day).or_else(far).map(truncate)
}
