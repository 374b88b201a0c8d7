//! The form of an answer that lists actions, and how it becomes a plan.

use std::collections::{BTreeSet, HashSet};

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::{
    facts::index,
    parse::{Fit, Fitting},
};
use crate::{
    Action, Fact,
    score::{relatedness::covers, sameness::same_text},
};

/// The answer.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
pub(super) struct ActionList {
    /// One action for each fact, in order.
    actions: Vec<ActionForm>,
}

/// One action.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
pub(super) struct ActionForm {
    event: EventForm,
    /// The number of the fact.
    fact: Option<u32>,
    /// The number of the memory; null for ADD.
    memory: Option<u32>,
    /// The new text, for UPDATE alone.
    text: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
enum EventForm {
    Add,
    Update,
    Supersede,
    Delete,
    None,
}

/// Names that models give to the list, ours first.
const LISTS: [&str; 6] = ["actions", "memory", "memories", "operations", "plan", "results"];

/// Reads a list of actions: `{"actions": […]}` as asked for, under another name, bare, keyed by number, or one alone.
pub(super) fn read_actions(value: &Value) -> Fitting<Vec<Value>> {
    match value {
        Value::Array(items) if items.is_empty() => Some((Fit::Vague, Vec::new())),
        Value::Array(items) => items.iter().any(is_action).then(|| (Fit::Loose, items.clone())),
        Value::Object(_) if is_action(value) => Some((Fit::Loose, vec![value.clone()])),
        Value::Object(members) => {
            let (name, list) = LISTS.iter().find_map(|name| Some((*name, members.get(*name)?)))?;
            let fit = if name == "actions" { Fit::Whole } else { Fit::Loose };
            match list {
                Value::Array(items) => Some((fit, items.clone())),
                Value::Object(_) if is_action(list) => Some((fit, vec![list.clone()])),
                Value::Object(members) => Some((fit, members.values().cloned().collect())),
                Value::Null => Some((fit, Vec::new())),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_action(value: &Value) -> bool {
    value.as_object().is_some_and(|members| event_of(members).is_some())
}

fn event_of(members: &Map<String, Value>) -> Option<&str> {
    ["event", "action", "operation", "op"].iter().find_map(|name| members.get(*name)?.as_str())
}

/// What a step does, under any of the names that models give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Add,
    Update,
    /// What takes a memory back is a fact as well, and its successor.
    Invalidate,
    Keep,
}

impl Event {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "ADD",
            Self::Update => "UPDATE",
            Self::Invalidate => "DELETE",
            Self::Keep => "NONE",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match plain(name).to_ascii_uppercase().as_str() {
            "ADD" | "CREATE" | "INSERT" | "NEW" => Self::Add,
            "UPDATE" | "MODIFY" | "MERGE" => Self::Update,
            "SUPERSEDE" | "REPLACE" | "INVALIDATE" | "DELETE" | "REMOVE" => Self::Invalidate,
            "NONE" | "NOOP" | "NOCHANGE" | "SKIP" | "KEEP" => Self::Keep,
            _ => return None,
        })
    }
}

/// What an action names: a thing, nothing, or what was not shown.
enum Named {
    One(usize),
    Nothing,
    Unknown(String),
}

/// Turns what the model wants into a plan, and says what of it cannot be done.
pub(super) struct Planner<'a> {
    facts: &'a [Fact],
    /// How many neighbours were shown: those with the least numbers.
    shown: usize,
    /// The facts that were shown.
    open: &'a BTreeSet<usize>,
    /// Facts that an action was found for by its number.
    named: HashSet<usize>,
    pub(super) actions: Vec<Action>,
    pub(super) rejected: Vec<String>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(facts: &'a [Fact], shown: usize, open: &'a BTreeSet<usize>) -> Self {
        Self { facts, shown, open, named: HashSet::new(), actions: Vec::new(), rejected: Vec::new() }
    }

    pub(super) fn take_all(&mut self, items: &[Value]) {
        self.expect(items);
        for item in items {
            match self.action(item) {
                Ok(action) => self.actions.extend(action),
                Err(reason) => self.rejected.push(reason),
            }
        }
    }

    /// Looks over what will be asked for together, before any of it is.
    pub(super) fn expect(&mut self, items: &[Value]) {
        let named = items.iter().filter_map(|item| index(item.as_object()?.get("fact")?));
        self.named.extend(named);
    }

    /// The action that an item asks for; `None` if it asks for nothing to be done to a memory.
    pub(super) fn action(&self, item: &Value) -> Result<Option<Action>, String> {
        let members = item.as_object().ok_or("something in the place of an action")?;
        let event = event_of(members).ok_or("an action without an event")?;
        let name = plain(event).to_ascii_uppercase();
        let event = Event::named(event).ok_or_else(|| format!("unknown event {name}"))?;
        let text = ["text", "new_text", "new_memory", "content"].iter().find_map(|name| members.get(*name)?.as_str());
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        let memory = || match self.memory(members) {
            Named::One(number) => Ok(Some(number)),
            Named::Nothing => Ok(None),
            Named::Unknown(given) => Err(format!("{name}: unknown id {given}")),
        };
        let must = |memory: Option<usize>| memory.ok_or_else(|| format!("{name}: no id of a memory"));
        let fact = match self.fact(members) {
            Named::One(number) => Some(number),
            Named::Nothing => None,
            Named::Unknown(given) => return Err(format!("{name}: unknown fact {given}")),
        };
        Ok(Some(match event {
            Event::Add => {
                let by_text = || text.and_then(|text| self.fact_in(text));
                let fact = fact.or_else(by_text).ok_or("ADD: no new fact says that")?;
                Action::Add { fact }
            }
            Event::Update => {
                let neighbour = must(memory()?)?;
                let text = text.or_else(|| fact.and_then(|fact| self.facts.get(fact)).map(|fact| fact.text.as_str()));
                let text = text.ok_or("UPDATE: no text")?;
                Action::Update { neighbour, fact: fact.or_else(|| self.fact_in(text)), text: text.to_owned() }
            }
            Event::Invalidate => Action::Invalidate { neighbour: must(memory()?)?, fact },
            Event::Keep => match (fact, memory()?) {
                (Some(fact), neighbour) => Action::Skip { fact, neighbour },
                // Some list every memory that stays.
                (None, _) => return Ok(None),
            },
        }))
    }

    fn memory(&self, members: &Map<String, Value>) -> Named {
        let given = ["memory", "id", "memory_id", "handle"].iter().find_map(|name| members.get(*name));
        named(given, |number| number < self.shown)
    }

    fn fact(&self, members: &Map<String, Value>) -> Named {
        named(members.get("fact"), |number| self.open.contains(&number))
    }

    /// The fact that a text says, of those that no action names by number: the same text, or all its words.
    fn fact_in(&self, text: &str) -> Option<usize> {
        let free = || {
            self.facts
                .iter()
                .enumerate()
                .filter(|(number, _)| self.open.contains(number) && !self.named.contains(number))
        };
        let same = free().find(|(_, fact)| same_text(&fact.text, text));
        same.or_else(|| free().find(|(_, fact)| covers(text, &fact.text))).map(|(number, _)| number)
    }
}

fn named(given: Option<&Value>, known: impl Fn(usize) -> bool) -> Named {
    match given {
        None | Some(Value::Null) => Named::Nothing,
        Some(Value::String(text)) if matches!(plain(text).to_ascii_lowercase().as_str(), "" | "null" | "none") => {
            Named::Nothing
        }
        Some(value) => match index(value) {
            Some(number) if known(number) => Named::One(number),
            _ => Named::Unknown(shortened(value)),
        },
    }
}

/// The letters of a name, as many as a name can have.
fn plain(name: &str) -> String {
    name.chars().filter(|char| char.is_alphanumeric()).take(24).collect()
}

/// What a model gave for a number, for a report: letters and digits alone, and few of them, since it may be anything.
fn shortened(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let few: String = text.chars().filter(|char| char.is_alphanumeric() || *char == '-').take(12).collect();
    if few.is_empty() { "of another kind".to_owned() } else { few }
}
