//! What outside text said, kept aside until somebody approves of it.

use serde::{Serialize, de::DeserializeOwned};

use super::{Filter, Memory, Timestamp, Trust};

/// The key of the metadata that marks such a memory; its value says until when it holds once it is approved, and what it then
/// tells the graph.
const KEY: &str = "quarantined";
const UNTIL: &str = "until";
const RELATIONS: &str = "relations";

/// Whether a memory is of the sort that is kept aside: something known, by the word of a tool or a web page.
pub(crate) fn is_for_quarantine(memory: &Memory) -> bool {
    memory.trust == Trust::Tool && memory.kind.is_semantic()
}

/// Keeps a new memory aside: it holds at no instant, so that no read that asks for what holds sees it.
pub(crate) fn keep_aside(memory: &mut Memory, relations: &impl Serialize) {
    let until = memory.invalid_at.map(|end| end.to_rfc3339());
    let relations = serde_json::to_value(relations).unwrap_or_default();
    let mut mark = serde_json::json!({ UNTIL: until });
    if let (Some(mark), Some([_, ..])) = (mark.as_object_mut(), relations.as_array().map(Vec::as_slice)) {
        mark.insert(RELATIONS.to_owned(), relations);
    }
    memory.metadata.insert(KEY.to_owned(), mark);
    memory.invalid_at = Some(memory.valid_at);
}

/// Whether it is kept aside.
pub(crate) fn is_kept_aside(memory: &Memory) -> bool {
    memory.metadata.get(KEY).is_some_and(serde_json::Value::is_object)
}

/// What it tells the graph once it holds.
pub(crate) fn relations<R: DeserializeOwned>(memory: &Memory) -> Vec<R> {
    let relations = memory.metadata.get(KEY).and_then(|mark| mark.get(RELATIONS)).cloned();
    relations.and_then(|relations| serde_json::from_value(relations).ok()).unwrap_or_default()
}

/// Forgets that: another text tells something else.
pub(crate) fn forget_relations(memory: &mut Memory) {
    if let Some(mark) = memory.metadata.get_mut(KEY).and_then(serde_json::Value::as_object_mut) {
        mark.remove(RELATIONS);
    }
}

/// Lets it hold, by the word of the application. Nothing happens to one that is not kept aside.
pub(crate) fn release(memory: &mut Memory) {
    let Some(mark) = memory.metadata.get(KEY).filter(|mark| mark.is_object()).cloned() else { return };
    memory.metadata.remove(KEY);
    let until = mark.get(UNTIL).and_then(serde_json::Value::as_str);
    let until: Option<Timestamp> = until.and_then(|until| until.parse().ok());
    memory.invalid_at = until.map(|end| end.max(memory.valid_at));
    memory.trust = Trust::Imported;
}

/// Admits what is kept aside, and nothing else.
pub(crate) fn quarantined() -> Filter {
    Filter::exists(format!("metadata.{KEY}"))
}
