//! What the model is told before all else.

use super::{MemoryAgentBuilder, Saving};
use crate::{MemoryContext, Timestamp};

/// The instructions: persona, how to go about it, the day, and what is known. What changes comes last, so that the
/// beginning stays in a provider's cache.
pub(super) fn system(agent: &MemoryAgentBuilder, with_tools: bool, now: Timestamp, context: &MemoryContext) -> String {
    let mut text = agent.persona.trim().to_owned();
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    if with_tools {
        text.push_str(include_str!("prompts/agent.md"));
        text.push_str(match agent.saving {
            Saving::Exchange => include_str!("prompts/by_exchange.md"),
            Saving::ByModel => include_str!("prompts/by_model.md"),
            Saving::Off => "",
        });
    } else {
        text.push_str(include_str!("prompts/plain.md"));
    }
    text.push_str(&now.format("\nToday is %A, %Y-%m-%d.\n").to_string());
    if !context.is_empty() {
        text.push('\n');
        text.push_str(&context.text);
    }
    text.trim_end().to_owned()
}

/// What is said in addition when the model must answer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urge {
    /// It has no step left, or repeats itself.
    Answer,
    /// It had no words.
    Empty,
}

impl Urge {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Answer => {
                "\n\nYou have looked up enough. Answer the user now, in words and without a tool, from what you have; say what you could not find."
            }
            Self::Empty => "\n\nYour last answer was empty. Answer the user now, in words.",
        }
    }
}
