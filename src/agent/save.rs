//! What becomes of an exchange.

use super::{
    MemoryAgentBuilder, Saving,
    reply::{NotSaved, SaveDecision},
};
use crate::{MemoryId, Message, Scope};

/// Queues an exchange, if it is to be saved by itself.
pub(super) async fn save(
    agent: &MemoryAgentBuilder,
    scope: &Scope,
    exchange: Vec<Message>,
    changed: &[MemoryId],
) -> SaveDecision {
    match agent.saving {
        Saving::Off => return SaveDecision::Nothing(NotSaved::Off),
        Saving::ByModel if changed.is_empty() => return SaveDecision::Nothing(NotSaved::ModelDeclined),
        Saving::ByModel => return SaveDecision::Saved(changed.to_vec()),
        Saving::Exchange => {}
    }
    let says = |message: &Message| message.text.chars().any(char::is_alphanumeric);
    if !exchange.first().is_some_and(says) {
        return SaveDecision::Nothing(NotSaved::NothingSaid);
    }
    let mut request = agent.saved_as.clone();
    request.messages = exchange;
    // The answer stands, whatever becomes of this: it was paid for, and the user waits.
    match agent.memory.add_later(scope, request).await {
        Ok(queued) => SaveDecision::Queued(queued.id),
        Err(error) => SaveDecision::Failed(error),
    }
}
