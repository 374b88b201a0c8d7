//! Asking a model for a value: in the strictest form it can hold to, and once more if the answer was of no use.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use serde_json::Value;

use super::parse::{Fitting, Unusable, leading, read};
use crate::{
    ApproximateTokens, CallBudget, ChatRequest, ChatResponse, Error, ErrorKind, Llm, Message, ResponseFormat, Result,
    TokenCounter, ToolChoice, ToolDefinition, Usage,
};

/// Most tokens of an answer: some sixty facts with all that belongs to them.
pub(super) const ROOM: u32 = 4_096;
/// How much more an answer may take when it was cut off.
pub(super) const MORE_ROOM: u32 = 4;

/// In what was learned of a server, beside the bits of the forms: it does not take the room that we give.
const UNLIMITED: u8 = 16;

/// How a model is made to answer in JSON, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Schema,
    Json,
    /// A tool with the schema for its parameters, which it must call.
    Tool,
    Text,
}

impl Mode {
    const STRICTEST_FIRST: [Self; 4] = [Self::Schema, Self::Json, Self::Tool, Self::Text];

    const fn bit(self) -> u8 {
        match self {
            Self::Schema => 1,
            Self::Json => 2,
            Self::Tool => 4,
            Self::Text => 8,
        }
    }
}

/// What a model is asked, and the form of the answer.
#[derive(Debug)]
pub(super) struct Question {
    /// What is asked for, in letters and `_`: names the schema.
    pub(super) name: &'static str,
    /// Who the model is and what it is to do.
    pub(super) instructions: String,
    /// What it is to do it to.
    pub(super) material: String,
    /// A strict schema of the answer, an object.
    pub(super) schema: Value,
    /// Whether the items that come before the end of a list are of use where the answer was cut off twice: models that
    /// repeat themselves do so until there is no more room.
    pub(super) leading: bool,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Answer<T> {
    pub(super) value: T,
    pub(super) model_calls: u32,
    pub(super) usage: Usage,
}

/// Asks a model, and remembers which forms of answer its server refuses. Clones share what they learned.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    llm: Arc<dyn Llm>,
    refused: Arc<AtomicU8>,
}

impl Asker {
    pub(super) fn new(llm: Arc<dyn Llm>) -> Self {
        Self { llm, refused: Arc::new(AtomicU8::new(0)) }
    }

    pub(super) fn llm(&self) -> &dyn Llm {
        &*self.llm
    }

    /// The answer, read by `fit`.
    ///
    /// A form that the server refuses gives way to the next: a strict schema, JSON of any shape, a tool that must be
    /// called, plain text. An answer that was cut off is asked for once more with more room, one that is of no use once
    /// more with the reason; both together are one. Room that the model does not have, since its context is small, is
    /// left to the server.
    ///
    /// # Errors
    /// [`UnusableModelOutput`](ErrorKind::UnusableModelOutput) if the second answer is of no use either,
    /// [`BudgetExhausted`](ErrorKind::BudgetExhausted) before a call that the budget does not allow; else as the model.
    pub(super) async fn ask<T>(
        &self,
        question: &Question,
        budget: Option<&CallBudget>,
        fit: &(dyn Fn(&Value) -> Fitting<T> + Sync),
    ) -> Result<Answer<T>>
    where
        T: Send,
    {
        let (mut model_calls, mut usage) = (0, Usage::default());
        let (mut room, mut complaint) = (ROOM, None);
        let mut unlimited = self.refused.load(Ordering::Relaxed) & UNLIMITED != 0;
        loop {
            let mode = self.mode();
            let mut request = question.request(mode, room, complaint);
            let expected = expected_input(&request);
            let allowed = budget.map(|budget| budget.begin(expected)).transpose()?.flatten();
            let short_of_tokens = allowed.is_some_and(|most| most < room);
            let most = allowed.map_or(room, |most| most.min(room));
            request.max_output_tokens = (!unlimited || short_of_tokens).then_some(most);
            model_calls += 1;
            let unusable = match self.llm.chat(&request).await {
                Ok(reply) => {
                    usage += reply.usage;
                    if unlimited {
                        self.refused.fetch_or(UNLIMITED, Ordering::Relaxed);
                    }
                    if let Some(budget) = budget {
                        budget.spend(reply.usage, expected + output_of(&reply));
                    }
                    match read(&reply, fit) {
                        Ok(value) => return Ok(Answer { value, model_calls, usage }),
                        Err(Unusable::CutOff) if short_of_tokens => {
                            let error = Error::new(ErrorKind::BudgetExhausted, "the answer needs more tokens");
                            return Err(error.with_spent(model_calls, usage));
                        }
                        Err(Unusable::CutOff) if complaint.is_some() && question.leading => {
                            match leading(&reply, fit) {
                                Some(value) => return Ok(Answer { value, model_calls, usage }),
                                None => Unusable::CutOff,
                            }
                        }
                        Err(unusable) => unusable,
                    }
                }
                Err(error) if error.kind() == ErrorKind::UnusableModelOutput && complaint.is_none() => {
                    Unusable::OtherShape
                }
                Err(error) if self.gives_way(mode, &error) => continue,
                Err(error) if !unlimited && !short_of_tokens && is_of_room(&error, room) => {
                    unlimited = true;
                    continue;
                }
                Err(error) => return Err(error.with_backend(self.llm.name()).with_spent(model_calls, usage)),
            };
            if complaint.is_some() {
                let message = format!("no usable answer to `{}`, asked twice: {}", question.name, unusable.reason());
                let error = Error::new(ErrorKind::UnusableModelOutput, message).with_backend(self.llm.name());
                return Err(error.with_spent(model_calls, usage));
            }
            if unusable == Unusable::CutOff {
                room = ROOM * MORE_ROOM;
            }
            complaint = Some(unusable);
        }
    }

    fn mode(&self) -> Mode {
        let able = self.llm.capabilities();
        let refused = self.refused.load(Ordering::Relaxed);
        let fits = |mode: &Mode| match mode {
            Mode::Schema => able.json_schema,
            Mode::Json => able.json_mode,
            Mode::Tool => able.tools,
            Mode::Text => true,
        };
        let mut modes = Mode::STRICTEST_FIRST.into_iter().filter(fits);
        modes.find(|mode| refused & mode.bit() == 0).unwrap_or(Mode::Text)
    }

    /// Whether the failure is one of the form of the answer, which is then not used again. A refusal of another kind (a
    /// wrong key) is none, unless the client learned from it that the model lacks what it was taken to have.
    fn gives_way(&self, mode: Mode, error: &Error) -> bool {
        let of_form = match error.kind() {
            ErrorKind::Unsupported => true,
            ErrorKind::ProviderRefused => self.mode() != mode,
            _ => false,
        };
        if mode == Mode::Text || !of_form {
            return false;
        }
        self.refused.fetch_or(mode.bit(), Ordering::Relaxed);
        true
    }
}

/// Whether the room for the answer may be what the server refuses. That more of it is too much says nothing about the
/// prompt, which it took with less.
fn is_of_room(error: &Error, room: u32) -> bool {
    match error.kind() {
        ErrorKind::InvalidArgument => true,
        ErrorKind::ProviderRefused => room > ROOM,
        _ => false,
    }
}

impl Question {
    fn request(&self, mode: Mode, room: u32, complaint: Option<Unusable>) -> ChatRequest {
        let mut instructions = self.instructions.trim_end().to_owned();
        if matches!(mode, Mode::Json | Mode::Text) {
            instructions.push_str("\n\nAnswer with one JSON object and nothing else. Its JSON schema:\n");
            instructions.push_str(&self.schema.to_string());
        }
        if matches!(mode, Mode::Schema) {
            // A server that falls back to JSON of any shape wants a prompt that names it.
            instructions.push_str("\n\nAnswer with one JSON object.");
        }
        if let Some(complaint) = complaint {
            instructions.push_str("\n\nYou were asked this before, and ");
            instructions.push_str(complaint.reason());
            instructions.push_str(". Answer with the JSON object alone.");
        }
        let messages = vec![Message::system(instructions), Message::user(self.material.as_str())];
        let request = ChatRequest::new(messages).with_temperature(0.0).with_max_output_tokens(room);
        match mode {
            Mode::Schema => {
                request.with_format(ResponseFormat::Schema { name: self.name.to_owned(), schema: self.schema.clone() })
            }
            Mode::Json => request.with_format(ResponseFormat::Json),
            Mode::Tool => {
                let tool = ToolDefinition::new(self.name, "Takes your answer.", self.schema.clone());
                request.with_tools(vec![tool], ToolChoice::Tool(self.name.to_owned()))
            }
            Mode::Text => request,
        }
    }
}

/// Tokens of the request, estimated.
pub(super) fn expected_input(request: &ChatRequest) -> u64 {
    let messages = request.messages.iter().map(|message| {
        let calls: usize = message.tool_calls.iter().map(|call| ApproximateTokens.count(&call.arguments)).sum();
        ApproximateTokens.count(&message.text) + calls
    });
    let schema = match &request.response_format {
        ResponseFormat::Schema { schema, .. } => ApproximateTokens.count(&schema.to_string()),
        _ => request.tools.iter().map(|tool| ApproximateTokens.count(&tool.parameters.to_string())).sum(),
    };
    u64::try_from(messages.sum::<usize>() + schema).unwrap_or(u64::MAX)
}

/// Tokens of the reply, estimated.
pub(super) fn output_of(reply: &ChatResponse) -> u64 {
    let calls: usize = reply.tool_calls.iter().map(|call| ApproximateTokens.count(&call.arguments)).sum();
    u64::try_from(ApproximateTokens.count(&reply.text) + calls).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
