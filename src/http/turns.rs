use std::borrow::Cow;

use serde_json::{Map, Value};
use uuid::Uuid;

#[cfg(any(feature = "openai", feature = "anthropic"))]
use crate::ChatResponse;
use crate::{Error, Message, Result, Role, ToolCall};

/// One turn of a transcript that servers accept: every result follows its call, and every call has a result.
#[derive(Debug, PartialEq)]
pub(crate) enum Turn<'a> {
    System(&'a str),
    User(&'a str),
    Assistant { text: &'a str, calls: &'a [ToolCall] },
    Result { call: &'a ToolCall, text: Cow<'a, str>, failed: bool },
}

/// What stands for a result that never came, because a run was interrupted: servers refuse a call without one.
const INTERRUPTED: &str = "The call was interrupted and has no result.";

/// The messages as turns. Results are put right after their call and in the order of the calls, whatever came between;
/// a call without a result gets one that says so.
///
/// # Errors
/// `InvalidArgument` for a result whose call is not in the assistant message before it.
pub(crate) fn turns(messages: &[Message]) -> Result<Vec<Turn<'_>>> {
    let mut turns = Vec::with_capacity(messages.len());
    let mut results: Vec<&Message> = Vec::new();
    let answers = |message: &Message, call: &ToolCall| message.tool_call_id.as_deref() == Some(call.id.as_str());
    for (place, message) in messages.iter().enumerate() {
        match message.role {
            Role::System => turns.push(Turn::System(&message.text)),
            Role::User => turns.push(Turn::User(&message.text)),
            Role::Tool => {
                let Some(found) = results.iter().position(|result| std::ptr::eq(*result, message)) else {
                    return Err(Error::invalid(format!(
                        "message {place} is the result of a tool call that is not there"
                    )));
                };
                results.swap_remove(found);
            }
            Role::Assistant => {
                turns.push(Turn::Assistant { text: &message.text, calls: &message.tool_calls });
                let after = messages.get(place + 1..).unwrap_or_default();
                let until = after.iter().position(|next| next.role == Role::Assistant).unwrap_or(after.len());
                let until_next = after.get(..until).unwrap_or_default();
                for call in &message.tool_calls {
                    // Two calls of one id cannot be told apart: the first result that is left is the next call's.
                    let result = until_next.iter().find(|next| {
                        next.role == Role::Tool
                            && answers(next, call)
                            && !results.iter().any(|known| std::ptr::eq(*known, *next))
                    });
                    results.extend(result);
                    let text = result.map_or(Cow::Borrowed(INTERRUPTED), |result| Cow::Borrowed(&result.text));
                    turns.push(Turn::Result { call, text, failed: result.is_none() });
                }
            }
        }
    }
    Ok(turns)
}

/// The arguments of a call as an object, for servers that refuse anything else. A text that holds JSON is opened once;
/// what is no object is left out: the result that follows says what was wrong with it.
pub(crate) fn arguments(call: &ToolCall) -> Map<String, Value> {
    let parsed = match serde_json::from_str(&call.arguments) {
        Ok(Value::String(inner)) => serde_json::from_str(&inner).unwrap_or_default(),
        Ok(value) => value,
        Err(_) => Value::Null,
    };
    match parsed {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// What of the messages no error may hold.
pub(crate) fn private(messages: &[Message]) -> Vec<&str> {
    let mut private = Vec::new();
    for message in messages {
        private.push(message.text.as_str());
        private.extend(message.speaker.as_deref());
        private.extend(message.tool_calls.iter().map(|call| call.arguments.as_str()));
    }
    private
}

/// Hands on the text of an answer that came whole.
#[cfg(any(feature = "openai", feature = "anthropic"))]
pub(crate) fn whole_piece(answer: &ChatResponse, sink: &mut dyn FnMut(&str)) {
    if !answer.text.is_empty() {
        sink(&answer.text);
    }
}

/// An id for a call that came without one.
pub(crate) fn new_call_id() -> String {
    format!("call_{}", Uuid::now_v7().simple())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ErrorKind;

    fn call(id: &str) -> ToolCall {
        ToolCall::new(id, "look_up", "{}")
    }

    #[test]
    fn results_follow_their_calls() {
        let messages = [
            Message::user("u"),
            Message::assistant("").with_tool_call(call("a")).with_tool_call(call("b")),
            Message::tool("b", "of b"),
            Message::user("v"),
            Message::tool("a", "of a"),
            Message::assistant("x").with_tool_call(call("c")),
        ];
        let (a, b, c) = (call("a"), call("b"), call("c"));
        let result = |call, text: &'static str, failed| Turn::Result { call, text: Cow::Borrowed(text), failed };
        assert_eq!(
            turns(&messages).unwrap(),
            [
                Turn::User("u"),
                Turn::Assistant { text: "", calls: &[a.clone(), b.clone()] },
                result(&a, "of a", false),
                result(&b, "of b", false),
                Turn::User("v"),
                Turn::Assistant { text: "x", calls: std::slice::from_ref(&c) },
                result(&c, INTERRUPTED, true),
            ]
        );
    }

    #[test]
    fn a_result_without_its_call_is_a_fault_of_the_caller() {
        for messages in [
            vec![Message::tool("a", "x")],
            vec![Message::assistant("").with_tool_call(call("a")), Message::tool("b", "x")],
            vec![Message::tool("a", "x"), Message::assistant("").with_tool_call(call("a"))],
            vec![Message::assistant("").with_tool_call(call("a")), Message::tool("a", "x"), Message::tool("a", "y")],
        ] {
            assert!(turns(&messages).is_err_and(|error| error.kind() == ErrorKind::InvalidArgument), "{messages:?}");
        }
    }

    #[test]
    fn arguments_are_an_object_whatever_the_model_sent() {
        let read = |text: &str| Value::Object(arguments(&ToolCall::new("", "", text)));
        assert_eq!(read(r#"{"a":1}"#), json!({"a": 1}));
        assert_eq!(read(r#""{\"a\":1}""#), json!({"a": 1}));
        for odd in ["", "null", "[1]", r#"{"a":"#, "3", "\"x\"", &"[".repeat(1 << 20)] {
            assert_eq!(read(odd), json!({}));
        }
    }
}
