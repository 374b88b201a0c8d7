//! Names that are open: how a model is shown them, and how what it says of them is read.

use std::fmt::Write;

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{
    actions::{ActionForm, read_actions},
    facts::index,
    material::cut,
    parse::Fitting,
    schema::strict,
};
use crate::{Entity, KnownEntity, Meaning, OpenMention, ReconcileRequest};

/// How much is shown of a name or a type, of what is known of an entity and of a fact, in characters.
const NAME: usize = 100;
const TOLD: usize = 160;
const FACT: usize = 400;
/// Other names that are shown of an entity.
const ALIASES: usize = 4;
/// Most items of the list that are looked at.
const MOST: usize = 64;

/// The answer, where names are open.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct ActionAndMentionList {
    /// One action for each fact, in order.
    actions: Vec<ActionForm>,
    /// What the names mean.
    mentions: Vec<MentionForm>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "gives the schema; what models send is read more leniently")]
struct MentionForm {
    /// The number of the mention.
    mention: u32,
    /// The number of the entity; null for another.
    entity: Option<u32>,
}

pub(super) fn schema() -> Value {
    strict::<ActionAndMentionList>()
}

/// Entities and mentions as a model sees them: one JSON object a line, as memories and facts. A mention whose fact is not
/// among those shown comes with its text.
pub(super) fn material(request: &ReconcileRequest<'_>, shows: impl Fn(usize) -> bool) -> String {
    let mut material = String::from("\nEntities:\n");
    // Writing to a string does not fail.
    for (number, KnownEntity { entity, told, .. }) in request.entities.iter().enumerate() {
        let Entity { name, aliases, entity_type, summary, .. } = entity;
        let mut line = json!({"entity": number, "name": cut(name, NAME)});
        if let Some(line) = line.as_object_mut() {
            let aliases: Vec<_> = aliases.iter().take(ALIASES).map(|alias| cut(alias, NAME)).collect();
            line.extend((!aliases.is_empty()).then(|| ("aliases".to_owned(), json!(aliases))));
            line.extend(entity_type.as_ref().map(|sort| ("type".to_owned(), cut(sort, NAME).into())));
            let told = summary.as_ref().map_or_else(|| told.iter().collect(), |summary| vec![summary]);
            let told: Vec<_> = told.into_iter().map(|told| cut(told, TOLD)).collect();
            line.extend((!told.is_empty()).then(|| ("told".to_owned(), json!(told))));
        }
        let _ = writeln!(material, "{line}");
    }
    material.push_str("\nMentions:\n");
    for (number, OpenMention { mention, fact, candidates, .. }) in request.mentions.iter().enumerate() {
        let mut line = json!({"mention": number, "name": cut(&mention.name, NAME), "may_be": candidates});
        if let Some(line) = line.as_object_mut() {
            line.extend(mention.entity_type.as_ref().map(|sort| ("type".to_owned(), cut(sort, NAME).into())));
            if shows(*fact) {
                line.insert("fact".to_owned(), (*fact).into());
            } else if let Some(fact) = request.facts.get(*fact) {
                line.insert("told".to_owned(), cut(&fact.text, FACT).into());
            }
        }
        let _ = writeln!(material, "{line}");
    }
    material
}

/// Names that models give to the list, ours first.
const LISTS: [&str; 3] = ["mentions", "names", "meanings"];

/// Reads an answer with actions, and what it says of names: `{"mentions": […]}`, or keyed by number.
pub(super) fn read_both(value: &Value) -> Fitting<(Vec<Value>, Vec<Value>)> {
    let (fit, actions) = read_actions(value)?;
    let list = LISTS.iter().find_map(|name| value.get(*name));
    let mentions = match list {
        Some(Value::Array(items)) => items.clone(),
        Some(one @ Value::Object(members)) if members.contains_key("mention") => vec![one.clone()],
        Some(Value::Object(members)) => {
            members.iter().map(|(mention, entity)| json!({"mention": mention, "entity": entity})).collect()
        }
        _ => Vec::new(),
    };
    Some((fit, (actions, mentions)))
}

/// What the items mean, and what of them cannot be read.
pub(super) fn meanings(items: &[Value]) -> (Vec<Meaning>, Vec<String>) {
    let (mut meanings, mut rejected) = (Vec::new(), Vec::new());
    for item in items.iter().take(MOST) {
        match meaning(item) {
            Ok(meaning) => meanings.push(meaning),
            Err(reason) => rejected.push(reason.to_owned()),
        }
    }
    (meanings, rejected)
}

fn meaning(item: &Value) -> Result<Meaning, &'static str> {
    let mention =
        item.get("mention").or_else(|| item.get("id")).and_then(index).ok_or("a mention without its number")?;
    let entity = match item.get("entity").ok_or("a mention without an entity")? {
        Value::Null => None,
        Value::String(word) if matches!(word.trim().to_ascii_lowercase().as_str(), "" | "null" | "none" | "new") => {
            None
        }
        given => Some(index(given).ok_or("a mention with something in the place of an entity")?),
    };
    Ok(Meaning::new(mention, entity))
}
