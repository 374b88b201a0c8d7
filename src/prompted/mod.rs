//! Extraction, reconciliation and summaries by a model: made of any [`Llm`], whatever it can do.
//!
//! Each part asks for one JSON object and makes one request, and one more if the answer was cut off or of no use. The
//! form is the strictest the model can hold to ([`LlmCapabilities`](crate::LlmCapabilities)): a strict JSON schema, JSON of
//! any shape, a tool it must call, plain text. A form that the server refuses
//! ([`Unsupported`](crate::ErrorKind::Unsupported)) gives way to the next one, and is not tried again.
//!
//! What comes back is read leniently (code fences, prose, thoughts, lists in other shapes, sloppy numbers) and checked
//! strictly: nothing that the model says is stored or carried out without being looked at. Texts of others stand in the
//! prompts as data, in a form they cannot break out of.

mod actions;
mod agentic;
mod arguments;
mod ask;
mod extractor;
mod facts;
mod json;
#[cfg(feature = "eval")]
mod judge;
mod material;
mod mentions;
mod parse;
mod period;
mod reconciler;
mod relations;
mod schema;
mod summarizer;
mod tools;

use std::sync::Arc;

pub use agentic::AgenticReconciler;
pub use arguments::tool_arguments;
pub use extractor::PromptedExtractor;
#[cfg(feature = "eval")]
pub use judge::PromptedJudge;
pub(crate) use parse::{THOUGHTS, values, without_thoughts};
pub use reconciler::PromptedReconciler;
pub(crate) use schema::strict;
pub use summarizer::PromptedSummarizer;

use crate::Llm;

/// The parts that a conversation is remembered with, all made of one model: what one learns of the forms that its server
/// refuses, the others know.
pub fn from_llm(llm: Arc<dyn Llm>) -> (PromptedExtractor, PromptedReconciler, PromptedSummarizer) {
    let asker = ask::Asker::new(llm);
    (
        PromptedExtractor::from_asker(asker.clone()),
        PromptedReconciler::from_asker(asker.clone()),
        PromptedSummarizer::from_asker(asker),
    )
}
