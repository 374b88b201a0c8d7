//! The tools that one reply has: those of the memory and the application's own; and how a call is carried out.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use super::{
    calls::find,
    reply::{ToolOutcome, ToolUse},
    tool::AgentTool,
};
use crate::{
    ErrorKind, MemoryTools, Result, Scope, ToolCall, ToolDefinition,
    prompted::{tool_arguments, values},
};

/// Most characters of an unknown name that are repeated to the model.
const NAME_CHARS: usize = 64;
/// What a result that was cut ends with.
const CUT: &str = " … (cut)";

pub(super) struct Toolbox<'a> {
    memory: MemoryTools,
    own: &'a [Arc<dyn AgentTool>],
    scope: &'a Scope,
    max_result_chars: usize,
    /// Those of the memory, then the application's own.
    definitions: Vec<ToolDefinition>,
    /// How many of them are the memory's.
    of_memory: usize,
    /// The calls so far, as [`key`] has them, and whether they only looked at the memory.
    seen: HashMap<String, bool>,
}

impl<'a> Toolbox<'a> {
    pub(super) fn new(
        memory: MemoryTools,
        own: &'a [Arc<dyn AgentTool>],
        scope: &'a Scope,
        max_result_chars: usize,
    ) -> Self {
        let mut definitions = memory.definitions();
        let of_memory = definitions.len();
        definitions.extend(own.iter().map(|tool| tool.definition()));
        Self { memory, own, scope, max_result_chars, definitions, of_memory, seen: HashMap::new() }
    }

    pub(super) fn definitions(&self) -> &[ToolDefinition] {
        &self.definitions
    }

    /// Carries a call out, unless it cannot be, or was before.
    ///
    /// # Errors
    /// An outage of the memory. What the model or a tool of the application gets wrong is a result.
    pub(super) async fn call(&mut self, call: ToolCall) -> Result<ToolUse> {
        let Some(definition) = find(&self.definitions, &call.name).cloned() else {
            let repeated = self.seen.insert(key(&call, &call.name, false), false).is_some();
            let outcome = if repeated { ToolOutcome::Repeated } else { ToolOutcome::UnknownTool };
            return Ok(told(call, outcome, |call| self.unknown(&call.name)));
        };
        let place = self.definitions.iter().position(|tool| tool.name == definition.name).unwrap_or_default();
        let own = place.checked_sub(self.of_memory).and_then(|place| self.own.get(place));
        let is_repeatable = own.is_some_and(|tool| tool.is_repeatable());
        let key = key(&call, &definition.name, own.is_none());
        let known = self.seen.insert(key.clone(), own.is_none()).is_some();
        if known && !is_repeatable {
            return Ok(told(call, ToolOutcome::Repeated, |_| {
                "This call was made before and is not made again: its result stands above. Make another call, or answer."
                    .to_owned()
            }));
        }
        match own {
            Some(tool) => Ok(self.call_own(tool, &definition, call).await),
            None => self.call_memory(&definition.name, call, key).await,
        }
    }

    async fn call_memory(&mut self, name: &str, call: ToolCall, key: String) -> Result<ToolUse> {
        let result = match self.memory.call(name, &call.arguments).await {
            // A model that reconciles said nothing of use: that is no outage, and no reason to say nothing at all.
            Err(error) if error.kind() == ErrorKind::UnusableModelOutput => {
                return Ok(told(call, ToolOutcome::Failed, |_| {
                    format!("{name} was not done: it could not be decided on.")
                }));
            }
            result => result?,
        };
        if result.changed {
            // What was looked up before may now be found otherwise; what was changed is not changed again.
            self.seen.retain(|_, looked| !*looked);
            self.seen.insert(key, false);
        }
        let outcome = if result.is_error { ToolOutcome::Failed } else { ToolOutcome::Done };
        Ok(ToolUse { call, outcome, result: result.text, memories: result.memories, changed: result.changed })
    }

    async fn call_own(&self, tool: &Arc<dyn AgentTool>, definition: &ToolDefinition, call: ToolCall) -> ToolUse {
        let arguments = match tool_arguments(&call, definition) {
            Ok(arguments) => arguments,
            Err(error) => return told(call, ToolOutcome::Failed, |_| error.to_string()),
        };
        match tool.call(self.scope, arguments).await {
            Ok(text) if text.trim().is_empty() => told(call, ToolOutcome::Done, |_| "Done.".to_owned()),
            Ok(text) => told(call, ToolOutcome::Done, |_| self.cut(text)),
            Err(error) => {
                let text = format!("The tool `{}` failed: {error}", definition.name);
                told(call, ToolOutcome::Failed, |_| self.cut(text))
            }
        }
    }

    fn unknown(&self, name: &str) -> String {
        let given: String = name.chars().filter(|character| !character.is_control()).take(NAME_CHARS).collect();
        let names: Vec<&str> = self.definitions.iter().map(|tool| tool.name.as_str()).collect();
        format!("There is no tool `{given}`. The tools are: {}.", names.join(", "))
    }

    fn cut(&self, text: String) -> String {
        match text.char_indices().nth(self.max_result_chars) {
            None => text,
            Some((at, _)) => text.get(..at).unwrap_or_default().to_owned() + CUT,
        }
    }
}

/// A call that comes to nothing but a text.
pub(super) fn told(call: ToolCall, outcome: ToolOutcome, text: impl FnOnce(&ToolCall) -> String) -> ToolUse {
    let result = text(&call);
    ToolUse { call, outcome, result, memories: Vec::new(), changed: false }
}

/// What is equal for calls that ask for the same: the order of arguments and white space do not count, nor does case where
/// it is `folded`.
fn key(call: &ToolCall, name: &str, folded: bool) -> String {
    let found = values(&call.arguments);
    let arguments = match found.runs.concat().as_slice() {
        [one] if !found.open => normal(one, folded).to_string(),
        _ => call.arguments.trim().to_owned(),
    };
    format!("{name} {arguments}")
}

fn normal(value: &Value, folded: bool) -> Value {
    match value {
        Value::String(text) => {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            Value::String(if folded { text.to_lowercase() } else { text })
        }
        Value::Array(items) => items.iter().map(|item| normal(item, folded)).collect(),
        // A parameter that is null is one that was left out.
        Value::Object(members) => {
            let given = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(given.map(|(name, value)| (name.clone(), normal(value, folded))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_the_same_is_the_same() {
        let key = |arguments: &str| key(&ToolCall::new("", "x", arguments), "x", true);
        let same = [
            r#"{"a": " Chess  openings", "b": null}"#,
            "{\"a\":\"chess openings\"}",
            r#""{\"a\":\"Chess openings\"}""#,
        ];
        let keys: std::collections::HashSet<String> = same.into_iter().map(key).collect();
        assert_eq!(keys.len(), 1, "{keys:?}");
        assert_ne!(key(r#"{"a": 1}"#), key(r#"{"a": 2}"#));
        assert_eq!(key(" {\"a\": "), key("{\"a\":"));
    }
}
