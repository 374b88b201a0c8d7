//! Secrets are taken out before anything is stored, embedded or shown to a model.

use serde_json::Value;

use super::AddRequest;
use crate::{Action, ExtractedRelation, Fact, Mention, Metadata, Redactor};

/// Takes the secrets out of a text.
pub(crate) fn text(redactor: &dyn Redactor, text: &mut String) {
    if let std::borrow::Cow::Owned(redacted) = redactor.redact(text) {
        *text = redacted;
    }
}

/// Takes the secrets out of the strings in metadata; its keys are the application's own.
pub(crate) fn metadata(redactor: &dyn Redactor, metadata: &mut Metadata) {
    metadata.values_mut().for_each(|inner| value(redactor, inner));
}

// Metadata that is nested too deep was refused before.
fn value(redactor: &dyn Redactor, given: &mut Value) {
    match given {
        Value::String(string) => text(redactor, string),
        Value::Array(values) => values.iter_mut().for_each(|inner| value(redactor, inner)),
        Value::Object(members) => members.values_mut().for_each(|inner| value(redactor, inner)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

pub(super) fn request(redactor: &dyn Redactor, request: &mut AddRequest) {
    let AddRequest { categories, instructions, language, .. } = request;
    categories.iter_mut().chain(instructions).chain(language).for_each(|string| text(redactor, string));
    for message in &mut request.messages {
        text(redactor, &mut message.text);
        message.speaker.iter_mut().for_each(|speaker| text(redactor, speaker));
        metadata(redactor, &mut message.metadata);
        for call in &mut message.tool_calls {
            text(redactor, &mut call.arguments);
        }
    }
}

/// A model may give a secret that stood where nobody looked, or make one up.
pub(super) fn fact(redactor: &dyn Redactor, fact: &mut Fact) {
    let Fact { text: statement, categories, slot, speaker, quote, relations, .. } = fact;
    for ExtractedRelation { subject, predicate, object, .. } in relations {
        for Mention { name, aliases, entity_type } in [subject, object] {
            [name].into_iter().chain(aliases).chain(entity_type).for_each(|string| text(redactor, string));
        }
        text(redactor, predicate);
    }
    for string in [statement].into_iter().chain(categories).chain(slot).chain(speaker).chain(quote) {
        text(redactor, string);
    }
}

pub(super) fn action(redactor: &dyn Redactor, action: &mut Action) {
    if let Action::Update { text: new, .. } = action {
        text(redactor, new);
    }
}
