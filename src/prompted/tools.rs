//! The tools that memories are maintained with, and how a reply's calls of them are read.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde_json::Value;

use super::{
    actions::{Event, read_actions},
    arguments::tool_arguments,
    parse::{Fit, Unusable, values, without_thoughts},
    schema::strict,
};
use crate::{ChatResponse, FinishReason, ToolCall, ToolDefinition};

/// Most calls of one reply that are read.
const CALLS: usize = 256;
/// Most characters of an account.
const ACCOUNT: usize = 4_000;
/// How deep lists and objects around a call in a text may be nested.
const DEPTH: usize = 4;

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct AddMemory {
    /// The number of the fact.
    fact: u32,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct UpdateMemory {
    /// The number of the memory.
    memory: u32,
    /// The number of the fact that it takes in.
    fact: Option<u32>,
    /// The new text.
    text: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct DeleteMemory {
    /// The number of the memory.
    memory: u32,
    /// The number of the fact that takes its place.
    fact: Option<u32>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct NoOp {
    /// The number of the fact.
    fact: u32,
    /// The number of the memory that says it already.
    memory: Option<u32>,
}

/// The tools, as a model is offered them.
pub(super) fn tools() -> Vec<ToolDefinition> {
    [Event::Add, Event::Update, Event::Invalidate, Event::Keep].map(tool).into()
}

fn tool(event: Event) -> ToolDefinition {
    let (description, schema) = match event {
        Event::Add => ("Stores a fact as a new memory.", strict::<AddMemory>()),
        Event::Update => ("Gives a memory a new text.", strict::<UpdateMemory>()),
        Event::Invalidate => ("Ends a memory; it is kept as history.", strict::<DeleteMemory>()),
        Event::Keep => ("Stores nothing: the fact is known.", strict::<NoOp>()),
    };
    ToolDefinition::new(name(event), description, schema)
}

const fn name(event: Event) -> &'static str {
    match event {
        Event::Add => "add_memory",
        Event::Update => "update_memory",
        Event::Invalidate => "delete_memory",
        Event::Keep => "no_op",
    }
}

/// What the tool of this name does, its name as sloppy as that of an event (`functions.AddMemory`, `delete`).
fn event_of(name: &str) -> Option<Event> {
    let own = name.rsplit(['.', '/', ':']).next().unwrap_or_default();
    let letters: String = own.chars().filter(|char| char.is_alphanumeric()).collect::<String>().to_ascii_lowercase();
    Event::named(letters.strip_suffix("memory").unwrap_or(&letters))
}

/// A call, and what it asks for in the form that actions are listed in.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) call: ToolCall,
    pub(super) item: Result<Value, Fault>,
}

impl Asked {
    /// What is equal for calls that ask for the same.
    pub(super) fn key(&self) -> String {
        match &self.item {
            Ok(item) => item.to_string(),
            Err(_) => format!("{} {}", self.call.name, self.call.arguments),
        }
    }
}

/// Why that cannot be told.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// There is no such tool.
    Tool(String),
    /// The arguments cannot be read.
    Arguments(String),
}

impl Fault {
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Tool(reason) | Self::Arguments(reason) => reason,
        }
    }
}

/// What a reply comes to.
#[derive(Debug)]
pub(super) enum Reply {
    /// Calls by the model's own means, or written into its text; and what it says beside them.
    Calls { asked: Vec<Asked>, native: bool, said: Option<String> },
    /// Words alone.
    Words(String),
    /// Nothing that can be used.
    Nothing(Unusable),
}

/// Reads a reply. Calls in its text (JSON, also in `<tool_call>` tags, or a list of actions) count unless the model is
/// known to have means of its own (`native`), but none of `quoted`: those stand in the texts that the model was shown,
/// and it may only have told of them.
pub(super) fn hear(reply: &ChatResponse, native: bool, quoted: &HashSet<String>) -> Reply {
    if !reply.tool_calls.is_empty() {
        let asked = reply.tool_calls.iter().take(CALLS).map(|call| Asked { item: item(call), call: call.clone() });
        return Reply::Calls { asked: asked.collect(), native: true, said: account(&reply.text) };
    }
    let found = values(&reply.text);
    match reply.finish {
        _ if found.open => return Reply::Nothing(Unusable::CutOff),
        FinishReason::Length => return Reply::Nothing(Unusable::CutOff),
        FinishReason::Filtered => return Reply::Nothing(Unusable::Filtered),
        _ => {}
    }
    let mut asked = Vec::new();
    let mut any = false;
    for value in found.runs.iter().flatten().filter(|_| !native) {
        any |= calls_in(value, DEPTH, &mut asked);
    }
    let all = asked.len();
    asked.retain(|asked| !quoted.contains(&asked.key()));
    any &= !asked.is_empty() || all == 0;
    asked.truncate(CALLS);
    match account(&reply.text) {
        _ if any => Reply::Calls { asked, native: false, said: None },
        Some(said) => Reply::Words(said),
        None if found.runs.is_empty() => Reply::Nothing(Unusable::Empty),
        None => Reply::Nothing(Unusable::OtherShape),
    }
}

/// The [keys](Asked::key) of the calls that stand in texts which a model is shown.
pub(super) fn quoted<'t>(texts: impl Iterator<Item = &'t str>) -> HashSet<String> {
    let mut asked = Vec::new();
    for value in texts.filter(|text| text.contains('{')).flat_map(|text| values(text).runs).flatten() {
        calls_in(&value, DEPTH, &mut asked);
    }
    asked.iter().map(Asked::key).collect()
}

fn item(call: &ToolCall) -> Result<Value, Fault> {
    let Some(event) = event_of(&call.name) else {
        let given: String = call.name.chars().filter(|char| char.is_alphanumeric() || *char == '_').take(24).collect();
        let names = [Event::Add, Event::Update, Event::Invalidate, Event::Keep].map(name).join(", ");
        return Err(Fault::Tool(format!("there is no tool `{given}`, but {names}")));
    };
    // What is missing, and numbers in other forms, is judged where actions are.
    let mut lenient = tool(event);
    if let Some(schema) = lenient.parameters.as_object_mut() {
        schema.remove("required");
    }
    let mut members = tool_arguments(call, &lenient).map_err(|error| Fault::Arguments(error.to_string()))?;
    members.insert("event".to_owned(), event.as_str().into());
    Ok(Value::Object(members))
}

/// Takes the calls out of a value, and says whether it is one that holds calls, be it none.
fn calls_in(value: &Value, depth: usize, asked: &mut Vec<Asked>) -> bool {
    let Some(deeper) = depth.checked_sub(1) else { return false };
    if let Value::Object(members) = value {
        let named = |names: &[&str]| names.iter().find_map(|name| members.get(*name));
        if let Some(inner) =
            named(&["tool_calls", "tool_call", "function_call", "function"]).filter(|value| !value.is_string())
        {
            return calls_in(inner, deeper, asked);
        }
        let arguments = named(&["arguments", "parameters", "args", "input"]);
        if let (Some(Value::String(name)), Some(arguments)) =
            (named(&["name", "tool", "tool_name", "function"]), arguments)
        {
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            let call = ToolCall::new("", name, arguments);
            asked.push(Asked { item: item(&call), call });
            return true;
        }
    }
    if let Value::Array(values) = value {
        let mut any = false;
        for value in values {
            any |= calls_in(value, deeper, asked);
        }
        if any {
            return true;
        }
    }
    match read_actions(value) {
        None | Some((Fit::Vague, _)) => false,
        Some((_, items)) => {
            asked.extend(
                items.into_iter().map(|item| Asked { call: ToolCall::new("", "", item.to_string()), item: Ok(item) }),
            );
            true
        }
    }
}

/// What a model says in words, thoughts aside: on one line, and cut to a sane length. JSON and tags are no words.
fn account(text: &str) -> Option<String> {
    let spoken = without_thoughts(text);
    let clean = |word: &str| word.chars().filter(|char| !char.is_control()).collect::<String>();
    let line = spoken.split_whitespace().map(clean).collect::<Vec<_>>().join(" ");
    let is_words = !line.starts_with(['{', '[', '<', '`']) && line.chars().any(char::is_alphanumeric);
    is_words.then(|| match line.char_indices().nth(ACCOUNT) {
        None => line,
        Some(_) => line.chars().take(ACCOUNT - 1).chain(['…']).collect(),
    })
}
