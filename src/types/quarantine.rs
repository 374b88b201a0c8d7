//! What outside text said, kept aside until somebody approves of it.

use super::{Filter, Memory, Timestamp, Trust};

/// The key of the metadata that marks such a memory; its value says until when it holds once it is approved.
const KEY: &str = "quarantined";
const UNTIL: &str = "until";

/// Whether a memory is of the sort that is kept aside: something known, by the word of a tool or a web page.
pub(crate) fn is_for_quarantine(memory: &Memory) -> bool {
    memory.trust == Trust::Tool && memory.kind.is_semantic()
}

/// Keeps a new memory aside: it holds at no instant, so that no read that asks for what holds sees it.
pub(crate) fn keep_aside(memory: &mut Memory) {
    let until = memory.invalid_at.map(|end| end.to_rfc3339());
    memory.metadata.insert(KEY.to_owned(), serde_json::json!({ UNTIL: until }));
    memory.invalid_at = Some(memory.valid_at);
}

/// Whether it is kept aside.
pub(crate) fn is_kept_aside(memory: &Memory) -> bool {
    memory.metadata.get(KEY).is_some_and(serde_json::Value::is_object)
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
