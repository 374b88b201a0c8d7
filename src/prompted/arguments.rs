//! From the arguments of a tool call, as a model sent them, to an object.

use serde_json::{Map, Value};

use super::parse::values;
use crate::{Error, ErrorKind, Result, ToolCall, ToolDefinition};

/// Most parameters that an error names.
const NAMED: usize = 16;

/// The arguments of a call, as the tool's schema wants them at its first level.
///
/// Taken are an object, also inside a string, a code fence or prose, and nothing at all (an empty text, `null`) for a
/// tool that requires nothing. Not taken, rather than guessed at, are arguments that were cut off, several objects,
/// objects that lack what is required or have it in another type. Linear in the length of the arguments.
///
/// ```
/// use ingrain::{ToolCall, ToolDefinition, prompted::tool_arguments};
/// let schema = serde_json::json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
/// let remember = ToolDefinition::new("remember", "Remembers a text.", schema);
/// let call = |arguments: &str| ToolCall::new("1", "remember", arguments);
/// assert_eq!(tool_arguments(&call(r#"{"text": "blue bike"}"#), &remember)?["text"], "blue bike");
/// let error = tool_arguments(&call(r#"{"text": "blue bik"#), &remember).unwrap_err();
/// assert!(error.to_string().contains("remember") && error.to_string().contains("`text`"));
/// # Ok::<(), ingrain::Error>(())
/// ```
///
/// # Errors
/// [`UnusableModelOutput`](ErrorKind::UnusableModelOutput); the message names the tool and its parameters, for the model
/// to try again, and nothing of what was sent.
pub fn tool_arguments(call: &ToolCall, tool: &ToolDefinition) -> Result<Map<String, Value>> {
    let found = values(&call.arguments);
    let blank = matches!(call.arguments.trim(), "" | "null" | "\"\"");
    let arguments = match <[Value; 1]>::try_from(found.runs.concat()) {
        Ok([Value::Object(members)]) if !found.open => members,
        _ if blank => Map::new(),
        _ if found.open => return Err(unusable(tool, "its arguments were cut off")),
        _ => return Err(unusable(tool, "its arguments are not one JSON object")),
    };
    let required = tool.parameters.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let Some(value) = arguments.get(name) else {
            return Err(unusable(tool, "an argument is missing"));
        };
        if !has_type(value, tool.parameters.pointer("/properties").and_then(|all| all.get(name)?.get("type"))) {
            return Err(unusable(tool, "an argument is of another type"));
        }
    }
    Ok(arguments)
}

fn has_type(value: &Value, wanted: Option<&Value>) -> bool {
    let is = |name: &str| match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    };
    match wanted {
        Some(Value::String(name)) => is(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

fn unusable(tool: &ToolDefinition, what: &str) -> Error {
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    let parameters: Vec<String> = properties
        .into_iter()
        .flatten()
        .take(NAMED)
        .map(|(name, schema)| {
            let kind = schema.get("type").and_then(Value::as_str).unwrap_or("any");
            format!("`{}` ({kind})", name.chars().take(64).collect::<String>())
        })
        .collect();
    let expected = if parameters.is_empty() { "none".to_owned() } else { parameters.join(", ") };
    let name: String = tool.name.chars().take(64).collect();
    let message = format!("the tool `{name}` was not run: {what}; expected a JSON object with {expected}");
    Error::new(ErrorKind::UnusableModelOutput, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn remember() -> ToolDefinition {
        let text = json!({"type": "string"});
        let count = json!({"type": "integer"});
        let schema = json!({"type": "object", "properties": {"text": text, "count": count}, "required": ["text"]});
        ToolDefinition::new("remember", "Remembers a text.", schema)
    }

    fn read(tool: &ToolDefinition, arguments: &str) -> Result<Value, String> {
        let call = ToolCall::new("1", &tool.name, arguments);
        tool_arguments(&call, tool).map(Value::Object).map_err(|error| error.to_string())
    }

    #[test]
    fn one_object_in_many_wrappings() {
        let inside = json!(r#"{"text":"blue bike"}"#).to_string();
        let fenced = "```json\n{\"text\": \"blue bike\",}\n```";
        for arguments in [r#"{"text":"blue bike"}"#, &inside, fenced] {
            assert_eq!(read(&remember(), arguments), Ok(json!({"text": "blue bike"})), "{arguments}");
        }
        let list_all = ToolDefinition::new("list_all", "Lists all.", json!({"type": "object"}));
        for arguments in ["", "  ", "null", "{}", "\"\"", "\"{}\""] {
            assert_eq!(read(&list_all, arguments), Ok(json!({})), "{arguments}");
        }
    }

    #[test]
    fn what_is_no_such_object_says_what_was_expected() {
        let brackets = "[".repeat(1_000_000);
        for arguments in [
            "{\"text\":\"blue bik",
            "null",
            "",
            &brackets,
            "{}",
            "{\"text\": 7}",
            "{\"text\": null}",
            "[\"blue bike\"]",
            "blue bike",
            "{\"text\": \"a\"} {\"text\": \"b\"}",
            "7",
        ] {
            let error = read(&remember(), arguments).err().unwrap_or_default();
            assert!(error.contains("remember") && error.contains("`text`") && error.len() < 2_000, "{error}");
            assert!(!error.contains("bike"), "{error}");
        }
    }
}
