//! One filter language for every store, evaluated by one piece of code wherever a store cannot do better itself.

use std::{cmp::Ordering, fmt, str::FromStr};

use serde_json::Value;

use super::{Memory, Metadata, Timestamp};
use crate::{Error, Result};

/// Deepest nesting of a filter.
const DEPTH_LIMIT: usize = 32;

/// What a condition looks at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// The kind, as text.
    Kind,
    /// Each category.
    Category,
    /// The importance.
    Importance,
    /// Whether it is pinned.
    Pinned,
    /// The speaker's name.
    Speaker,
    /// Whose word it rests on, as text.
    Trust,
    /// The slot.
    Slot,
    /// The user part of the scope it is stored in.
    User,
    /// The agent part of the scope it is stored in.
    Agent,
    /// The session part of the scope it is stored in.
    Session,
    /// The place in its session.
    Ordinal,
    /// When it was said or seen.
    ObservedAt,
    /// Since when it holds.
    ValidAt,
    /// When it ceased to hold.
    InvalidAt,
    /// When it is to be dropped.
    ExpiresAt,
    /// When we learned it.
    CreatedAt,
    /// When it was last changed.
    UpdatedAt,
    /// A key of the metadata. If there is no such key, dots lead into nested objects.
    Metadata(String),
}

/// `created_at`, `kind` and so on name the built-in fields; any other name is a key of the metadata. A key that is
/// called like a built-in field is reached as `metadata.kind`.
impl From<&str> for Field {
    fn from(name: &str) -> Self {
        match name {
            "kind" => Self::Kind,
            "category" | "categories" => Self::Category,
            "importance" => Self::Importance,
            "pinned" => Self::Pinned,
            "speaker" => Self::Speaker,
            "trust" => Self::Trust,
            "slot" => Self::Slot,
            "user" => Self::User,
            "agent" => Self::Agent,
            "session" => Self::Session,
            "ordinal" => Self::Ordinal,
            "observed_at" => Self::ObservedAt,
            "valid_at" => Self::ValidAt,
            "invalid_at" => Self::InvalidAt,
            "expires_at" => Self::ExpiresAt,
            "created_at" => Self::CreatedAt,
            "updated_at" => Self::UpdatedAt,
            key => Self::Metadata(key.strip_prefix("metadata.").unwrap_or(key).to_owned()),
        }
    }
}

impl Field {
    const fn is_time(&self) -> bool {
        matches!(
            self,
            Self::ObservedAt | Self::ValidAt | Self::InvalidAt | Self::ExpiresAt | Self::CreatedAt | Self::UpdatedAt
        )
    }
}

/// How a field is compared with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Comparison {
    /// Equal. A list is equal to a value that it holds.
    Eq,
    /// Not equal, or not there.
    Ne,
    /// Equal to one of a list.
    In,
    /// Equal to none of a list, or not there.
    NotIn,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// There and not null (`true`), or missing or null (`false`).
    Exists,
}

impl FromStr for Comparison {
    type Err = Error;

    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument), naming the operator that does not exist.
    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "in" => Self::In,
            "not_in" | "nin" => Self::NotIn,
            "lt" => Self::Lt,
            "lte" => Self::Lte,
            "gt" => Self::Gt,
            "gte" => Self::Gte,
            "exists" => Self::Exists,
            unknown => return Err(Error::invalid(format!("a filter has no operator `{unknown}`"))),
        })
    }
}

/// Which memories a read sees, beyond the scope. All stores give the same set for the same filter.
///
/// Numbers compare as numbers, texts by code point, times as instants (their values are RFC 3339 texts, whatever the
/// zone); values of different sorts are never equal and never in a range. A list field, such as the categories,
/// meets a condition if one of its elements does. A field that is missing is not equal to anything, so `ne` and
/// `not` admit it.
///
/// ```
/// use ingrain::Filter;
/// let travel = Filter::eq("topic", "travel") | (Filter::eq("topic", "food") & Filter::gte("priority", 3));
/// let same = Filter::from_json(&serde_json::json!({
///     "or": [{"topic": "travel"}, {"topic": "food", "priority": {"gte": 3}}]
/// }))?;
/// assert_eq!(travel, same);
/// # Ok::<(), ingrain::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// A field compared with a value.
    Condition(Field, Comparison, Value),
    /// All of them; with none, everything.
    And(Vec<Filter>),
    /// At least one of them; with none, nothing.
    Or(Vec<Filter>),
    /// Not this one.
    Not(Box<Filter>),
}

impl Filter {
    /// A field compared with a value.
    #[must_use]
    pub fn condition(field: impl Into<Field>, comparison: Comparison, value: impl Into<Value>) -> Self {
        Self::Condition(field.into(), comparison, value.into())
    }

    /// `field` equals `value`, or is a list that holds it.
    #[must_use]
    pub fn eq(field: impl Into<Field>, value: impl Into<Value>) -> Self {
        Self::condition(field, Comparison::Eq, value)
    }

    /// `field` is missing or something else.
    #[must_use]
    pub fn ne(field: impl Into<Field>, value: impl Into<Value>) -> Self {
        Self::condition(field, Comparison::Ne, value)
    }

    /// `field` equals one of `values`.
    #[must_use]
    pub fn any_of<V: Into<Value>>(field: impl Into<Field>, values: impl IntoIterator<Item = V>) -> Self {
        Self::condition(field, Comparison::In, values.into_iter().map(Into::into).collect::<Vec<Value>>())
    }

    /// `field` is less than `value`.
    #[must_use]
    pub fn lt(field: impl Into<Field>, value: impl Into<Value>) -> Self {
        Self::condition(field, Comparison::Lt, value)
    }

    /// `field` is at most `value`.
    #[must_use]
    pub fn lte(field: impl Into<Field>, value: impl Into<Value>) -> Self {
        Self::condition(field, Comparison::Lte, value)
    }

    /// `field` is greater than `value`.
    #[must_use]
    pub fn gt(field: impl Into<Field>, value: impl Into<Value>) -> Self {
        Self::condition(field, Comparison::Gt, value)
    }

    /// `field` is at least `value`.
    #[must_use]
    pub fn gte(field: impl Into<Field>, value: impl Into<Value>) -> Self {
        Self::condition(field, Comparison::Gte, value)
    }

    /// `field` is there and not null.
    #[must_use]
    pub fn exists(field: impl Into<Field>) -> Self {
        Self::condition(field, Comparison::Exists, true)
    }

    /// A time field lies in `from <= t < until`.
    #[must_use]
    pub fn between(field: impl Into<Field>, from: Timestamp, until: Timestamp) -> Self {
        let field = field.into();
        Self::gte(field.clone(), from.to_rfc3339()) & Self::lt(field, until.to_rfc3339())
    }

    /// Reads a filter from JSON, the form in which filters come from a model or over a wire.
    ///
    /// An object is the conjunction of its entries. A key is a field with either a plain value (equality) or an
    /// object of operators (`eq`, `ne`, `in`, `not_in`, `lt`, `lte`, `gt`, `gte`, `exists`), or one of `and`, `or`
    /// (a list of filters) and `not` (a filter).
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument): an operator that does not exist, a wrong shape, or
    /// nesting deeper than 32.
    pub fn from_json(json: &Value) -> Result<Self> {
        let filter = parse(json, 0)?;
        filter.validate()?;
        Ok(filter)
    }

    /// Checks values and depth, so that a store can rely on them.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument): a list operator without a list, a range over something
    /// that has no order, a time that is no RFC 3339 text, or nesting deeper than 32.
    pub fn validate(&self) -> Result<()> {
        self.check(0)
    }

    fn check(&self, depth: usize) -> Result<()> {
        if depth > DEPTH_LIMIT {
            return Err(Error::invalid(format!("a filter is nested deeper than {DEPTH_LIMIT}")));
        }
        match self {
            Self::And(filters) | Self::Or(filters) => filters.iter().try_for_each(|filter| filter.check(depth + 1)),
            Self::Not(filter) => filter.check(depth + 1),
            Self::Condition(field, comparison, value) => check_value(field, *comparison, value),
        }
    }

    /// Whether the filter admits the memory. This is the meaning of the language; a store may evaluate it elsewhere.
    #[must_use]
    pub fn matches(&self, memory: &Memory) -> bool {
        self.admits(memory)
    }

    /// As [`matches`](Self::matches), for whatever has the fields of a memory.
    pub(crate) fn admits(&self, fields: &impl Fields) -> bool {
        match self {
            Self::And(filters) => filters.iter().all(|filter| filter.admits(fields)),
            Self::Or(filters) => filters.iter().any(|filter| filter.admits(fields)),
            Self::Not(filter) => !filter.admits(fields),
            Self::Condition(field, comparison, value) => holds(fields.content(field), *comparison, value),
        }
    }
}

impl std::ops::BitAnd for Filter {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        match self {
            Self::And(mut filters) => {
                filters.push(other);
                Self::And(filters)
            }
            first => Self::And(vec![first, other]),
        }
    }
}

impl std::ops::BitOr for Filter {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        match self {
            Self::Or(mut filters) => {
                filters.push(other);
                Self::Or(filters)
            }
            first => Self::Or(vec![first, other]),
        }
    }
}

impl std::ops::Not for Filter {
    type Output = Self;

    fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}

fn parse(json: &Value, depth: usize) -> Result<Filter> {
    if depth > DEPTH_LIMIT {
        return Err(Error::invalid(format!("a filter is nested deeper than {DEPTH_LIMIT}")));
    }
    let Value::Object(entries) = json else {
        return Err(Error::invalid("a filter must be a JSON object"));
    };
    let mut parts = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        match key.to_ascii_lowercase().as_str() {
            "and" => parts.push(Filter::And(parse_list(key, value, depth)?)),
            "or" => parts.push(Filter::Or(parse_list(key, value, depth)?)),
            "not" => parts.push(!parse(value, depth + 1)?),
            _ => {
                let field = Field::from(key.as_str());
                match value {
                    Value::Object(operators) => {
                        for (operator, value) in operators {
                            parts.push(Filter::Condition(field.clone(), operator.parse()?, value.clone()));
                        }
                    }
                    value => parts.push(Filter::Condition(field, Comparison::Eq, value.clone())),
                }
            }
        }
    }
    match <[Filter; 1]>::try_from(parts) {
        Ok([only]) => Ok(only),
        Err(parts) => Ok(Filter::And(parts)),
    }
}

fn parse_list(key: &str, json: &Value, depth: usize) -> Result<Vec<Filter>> {
    let Value::Array(filters) = json else {
        return Err(Error::invalid(format!("`{key}` of a filter must be a list of filters")));
    };
    filters.iter().map(|filter| parse(filter, depth + 1)).collect()
}

fn check_value(field: &Field, comparison: Comparison, value: &Value) -> Result<()> {
    let time = |value: &Value| {
        if field.is_time() && !value.is_null() && instant(value).is_none() {
            return Err(Error::invalid("a time in a filter must be an RFC 3339 text, such as 2025-02-10T08:00:00Z"));
        }
        Ok(())
    };
    match comparison {
        Comparison::Eq | Comparison::Ne => time(value),
        Comparison::In | Comparison::NotIn => match value {
            Value::Array(values) => values.iter().try_for_each(time),
            _ => Err(Error::invalid("`in` and `not_in` of a filter take a list")),
        },
        Comparison::Lt | Comparison::Lte | Comparison::Gt | Comparison::Gte => match value {
            Value::Number(_) | Value::String(_) => time(value),
            _ => Err(Error::invalid("a range in a filter takes a number or a text")),
        },
        Comparison::Exists => match value {
            Value::Bool(_) => Ok(()),
            _ => Err(Error::invalid("`exists` of a filter takes true or false")),
        },
    }
}

fn instant(value: &Value) -> Option<Timestamp> {
    value.as_str().and_then(|text| chrono::DateTime::parse_from_rfc3339(text).ok()).map(|at| at.to_utc())
}

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

fn holds(content: Content<'_>, comparison: Comparison, value: &Value) -> bool {
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

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::In => "in",
            Self::NotIn => "not_in",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Exists => "exists",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{MemoryId, Scope};

    fn memory(metadata: Value) -> Memory {
        let now = Timestamp::from_timestamp(1_739_174_400, 0).unwrap_or_default();
        let mut memory = Memory::new(MemoryId::new(now), Scope::user("lin"), "x", now);
        memory.metadata = metadata.as_object().cloned().unwrap_or_default();
        memory
    }

    #[track_caller]
    fn check(filter: Value, metadata: Value, expected: bool) {
        let parsed = Filter::from_json(&filter).map(|filter| filter.matches(&memory(metadata.clone())));
        assert_eq!(parsed.ok(), Some(expected), "{filter} on {metadata}");
    }

    #[test]
    fn missing_is_not_equal() {
        check(json!({"topic": {"ne": "food"}}), json!({}), true);
        check(json!({"not": {"topic": "food"}}), json!({}), true);
        check(json!({"topic": {"not_in": ["food"]}}), json!({}), true);
        check(json!({"topic": {"exists": false}}), json!({"topic": null}), true);
        check(json!({"priority": {"lt": 3}}), json!({}), false);
    }

    #[test]
    fn numbers_lists_paths_and_times() {
        check(json!({"priority": {"gte": 3}}), json!({"priority": 3.0}), true);
        check(json!({"priority": {"gte": 3}}), json!({"priority": "3"}), false);
        check(json!({"id": 9_007_199_254_740_993_u64}), json!({"id": 9_007_199_254_740_992_u64}), false);
        check(json!({"tags": "vip"}), json!({"tags": ["vip", "eu"]}), true);
        check(json!({"a.b": 1}), json!({"a": {"b": 1}}), true);
        check(json!({"a.b": 1}), json!({"a.b": 1}), true);
        check(json!({"metadata.kind": "x"}), json!({"kind": "x"}), true);
        check(json!({"created_at": {"gte": "2025-02-10T09:00:00+01:00"}}), json!({}), true);
        check(json!({"created_at": {"lt": "2025-02-10T08:00:00Z"}}), json!({}), false);
        check(json!({}), json!({}), true);
        check(json!({"or": []}), json!({}), false);
    }

    #[test]
    fn what_is_no_filter_is_refused_by_name() {
        let unknown = Filter::from_json(&json!({"priority": {"almost": 3}}));
        assert!(unknown.is_err_and(|error| error.to_string().contains("`almost`")));
        let mut deep = json!({"a": 1});
        for _ in 0..40 {
            deep = json!({"not": deep});
        }
        for bad in [json!([]), json!({"and": 1}), json!({"a": {"in": 1}}), json!({"created_at": "yesterday"}), deep] {
            assert!(Filter::from_json(&bad).is_err(), "{bad}");
        }
    }
}
