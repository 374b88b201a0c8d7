//! Secrets are taken out before anything is stored, embedded or shown to a model.

use super::AddRequest;
pub(crate) use crate::traits::{redact_metadata as metadata, redact_text as text};
use crate::{Action, ExtractedRelation, Fact, Mention, Redactor, traits::redact_message};

pub(super) fn request(redactor: &dyn Redactor, request: &mut AddRequest) {
    let AddRequest { categories, instructions, language, .. } = request;
    categories.iter_mut().chain(instructions).chain(language).for_each(|string| text(redactor, string));
    request.messages.iter_mut().for_each(|message| redact_message(redactor, message));
}

/// A model may give a secret that stood where nobody looked, or make one up.
pub(super) fn fact(redactor: &dyn Redactor, fact: &mut Fact) {
    let Fact { text: statement, categories, slot, speaker, quote, relations, .. } = fact;
    self::relations(redactor, relations);
    for string in [statement].into_iter().chain(categories).chain(slot).chain(speaker).chain(quote) {
        text(redactor, string);
    }
}

pub(super) fn relations(redactor: &dyn Redactor, relations: &mut [ExtractedRelation]) {
    for ExtractedRelation { subject, predicate, object, .. } in relations {
        for Mention { name, aliases, entity_type } in [subject, object] {
            [name].into_iter().chain(aliases).chain(entity_type).for_each(|string| text(redactor, string));
        }
        text(redactor, predicate);
    }
}

pub(super) fn action(redactor: &dyn Redactor, action: &mut Action) {
    if let Action::Update { text: new, .. } = action {
        text(redactor, new);
    }
}
