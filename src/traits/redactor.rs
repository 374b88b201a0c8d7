use std::{borrow::Cow, fmt::Debug, sync::Arc};

use serde_json::Value;

use crate::{Message, Metadata};

/// Takes secrets out of a text before it is stored, embedded, logged or sent to a model.
///
/// [`rules::PatternRedactor`](crate::rules::PatternRedactor) is one, for keys, passwords and personal data of
/// well-known forms.
///
/// The contract: a pure function; a text without a secret comes back unchanged and borrowed; what is taken out leaves
/// a visible placeholder; redacting twice changes nothing more.
pub trait Redactor: Debug + Send + Sync + 'static {
    /// `text` with its secrets replaced.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str>;
}

#[deny(clippy::missing_trait_methods)]
impl<T: Redactor + ?Sized> Redactor for Arc<T> {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        (**self).redact(text)
    }
}

/// Takes the secrets out of a text.
pub(crate) fn redact_text(redactor: &dyn Redactor, text: &mut String) {
    if let Cow::Owned(redacted) = redactor.redact(text) {
        *text = redacted;
    }
}

/// Takes the secrets out of the strings in metadata; its keys are the application's own.
pub(crate) fn redact_metadata(redactor: &dyn Redactor, metadata: &mut Metadata) {
    metadata.values_mut().for_each(|inner| redact_value(redactor, inner));
}

// Metadata that is nested too deep was refused before.
fn redact_value(redactor: &dyn Redactor, given: &mut Value) {
    match given {
        Value::String(string) => redact_text(redactor, string),
        Value::Array(values) => values.iter_mut().for_each(|inner| redact_value(redactor, inner)),
        Value::Object(members) => members.values_mut().for_each(|inner| redact_value(redactor, inner)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Takes the secrets out of all that a message says.
pub(crate) fn redact_message(redactor: &dyn Redactor, message: &mut Message) {
    redact_text(redactor, &mut message.text);
    message.speaker.iter_mut().for_each(|speaker| redact_text(redactor, speaker));
    redact_metadata(redactor, &mut message.metadata);
    message.tool_calls.iter_mut().for_each(|call| redact_text(redactor, &mut call.arguments));
}
