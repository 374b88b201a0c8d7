//! One filter language for every store, evaluated by one piece of code wherever a store cannot do better itself.

mod evaluate;
mod parse;

use std::{fmt, str::FromStr};

use serde_json::Value;

pub(crate) use evaluate::{Content, Fields};

use super::{Memory, Timestamp};
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

impl From<String> for Field {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
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
/// zone, or dates such as 2025-02-10, which stand for their midnight in UTC); values of different sorts are never equal
/// and never in a range. A list field, such as the categories, meets a condition if one of its elements does. A field
/// that is missing is not equal to anything, so `ne` and `not` admit it.
///
/// ```
/// use ingrain::Filter;
/// let travel = Filter::eq("topic", "travel") | (Filter::gte("priority", 3) & Filter::eq("topic", "food"));
/// let same = Filter::from_json(&serde_json::json!({
///     "or": [{"topic": "travel"}, {"priority": {"gte": 3}, "topic": "food"}]
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

    /// `field` equals none of `values`, or is missing.
    #[must_use]
    pub fn none_of<V: Into<Value>>(field: impl Into<Field>, values: impl IntoIterator<Item = V>) -> Self {
        Self::condition(field, Comparison::NotIn, values.into_iter().map(Into::into).collect::<Vec<Value>>())
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
        let filter = parse::parse(json, 0)?;
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
            Self::Condition(field, comparison, value) => parse::check_value(field, *comparison, value),
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
            Self::Condition(field, comparison, value) => evaluate::holds(fields.content(field), *comparison, value),
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
