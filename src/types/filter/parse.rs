//! From JSON to a filter, and the checks of its values.

use serde_json::Value;

use super::{Comparison, DEPTH_LIMIT, Field, Filter, evaluate::instant};
use crate::{Error, Result};

pub(super) fn parse(json: &Value, depth: usize) -> Result<Filter> {
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

pub(super) fn check_value(field: &Field, comparison: Comparison, value: &Value) -> Result<()> {
    let time = |value: &Value| {
        if field.is_time() && !value.is_null() && instant(value).is_none() {
            return Err(Error::invalid(
                "a time in a filter must be an RFC 3339 text or a date, such as 2025-02-10T08:00:00Z",
            ));
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
