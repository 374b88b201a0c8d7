use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, Message, Result, Role, ToolCall, Usage};

/// What a model can do. What it cannot, the caller works around.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LlmCapabilities {
    /// Takes tool definitions and answers with tool calls.
    pub tools: bool,
    /// Holds to a JSON schema.
    pub json_schema: bool,
    /// Can be told to answer in JSON of any shape.
    pub json_mode: bool,
    /// Sends the answer piece by piece.
    pub streaming: bool,
}

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// A JSON schema of its arguments.
    pub parameters: Value,
}

impl ToolDefinition {
    /// A tool.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self { name: name.into(), description: description.into(), parameters }
    }
}

/// Whether the model must call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// It may.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must call one.
    Required,
    /// It must call this one.
    Tool(String),
}

/// The form of the answer.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub enum ResponseFormat {
    /// Free text.
    #[default]
    Text,
    /// A JSON value of any shape.
    Json,
    /// JSON that holds to a schema.
    Schema {
        /// A name for the schema: letters, digits, `_` and `-`.
        name: String,
        /// The JSON schema.
        schema: Value,
    },
}

/// One request to a model.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The conversation so far, oldest first.
    pub messages: Vec<Message>,
    /// The tools it may call. Default none.
    pub tools: Vec<ToolDefinition>,
    /// Whether it must call one. Default [`ToolChoice::Auto`].
    pub tool_choice: ToolChoice,
    /// The form of the answer. Default [`ResponseFormat::Text`].
    pub response_format: ResponseFormat,
    /// 0 for the likeliest answer. Default: the model's own.
    pub temperature: Option<f32>,
    /// Most tokens of the answer. Default: the model's own.
    pub max_output_tokens: Option<u32>,
}

impl ChatRequest {
    /// A request for a text answer to these messages.
    #[must_use]
    pub fn new(messages: Vec<Message>) -> Self {
        Self { messages, ..Self::default() }
    }

    /// Offers tools. Default none.
    #[must_use]
    pub fn with_tools(mut self, tools: Vec<ToolDefinition>, choice: ToolChoice) -> Self {
        self.tools = tools;
        self.tool_choice = choice;
        self
    }

    /// Sets the form of the answer. Default free text.
    #[must_use]
    pub fn with_format(mut self, format: ResponseFormat) -> Self {
        self.response_format = format;
        self
    }

    /// Sets the temperature. Default: the model's own.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Checks what no model takes, for an implementation to call before it asks its model: there must be a message that
    /// is not a system message, the temperature must be a finite number of at least 0, and the limit of the answer at
    /// least 1.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument).
    pub fn check(&self) -> Result<()> {
        if self.messages.iter().all(|message| message.role == Role::System) {
            return Err(Error::invalid("a request needs a message that is not a system message"));
        }
        if self.temperature.is_some_and(|temperature| !temperature.is_finite() || temperature < 0.0) {
            return Err(Error::invalid("the temperature must be a finite number, at least 0"));
        }
        if self.max_output_tokens == Some(0) {
            return Err(Error::invalid("the limit of the answer must be at least 1 token"));
        }
        Ok(())
    }

    /// Limits the answer. Default: the model's own limit.
    #[must_use]
    pub fn with_max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It ran into the output limit: the answer is cut off.
    Length,
    /// It wants tools run.
    ToolCalls,
    /// The provider kept the answer back.
    Filtered,
    /// Something else, in the provider's words.
    Other(String),
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChatResponse {
    /// The text; empty when there are only tool calls.
    pub text: String,
    /// The tool calls, in the model's order, unchecked.
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it cost; zeros where the provider does not say.
    pub usage: Usage,
}

impl ChatResponse {
    /// A finished text answer without usage.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), tool_calls: Vec::new(), finish: FinishReason::Stop, usage: Usage::default() }
    }

    /// Adds a tool call and says that the model wants it run.
    #[must_use]
    pub fn with_tool_call(mut self, call: ToolCall) -> Self {
        self.tool_calls.push(call);
        self.finish = FinishReason::ToolCalls;
        self
    }

    /// Says why the model stopped.
    #[must_use]
    pub fn with_finish(mut self, finish: FinishReason) -> Self {
        self.finish = finish;
        self
    }

    /// Says what it cost.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}

/// A language model.
///
/// The contract: one call is one exchange with the model, retries of the transport included; what the model says is
/// handed on as it came, also when it is useless: judging it is the caller's part. An answer that was cut off is not
/// an error but [`FinishReason::Length`]. Tool calls have ids, each its own. A call whose result is missing, because a
/// run was interrupted, is no error either.
///
/// Cancelling the future abandons the exchange and leaves nothing behind.
#[async_trait]
pub trait Llm: Debug + Send + Sync + 'static {
    /// Names provider and model, such as `openai/gpt-5-mini`: for reports and errors.
    fn name(&self) -> &str;

    /// What the model can do. May change as the client learns what the server refuses.
    fn capabilities(&self) -> LlmCapabilities;

    /// One exchange.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a request that does not pass
    /// [`check`](ChatRequest::check), holds a tool's result without its call, or is longer than the model takes;
    /// [`Configuration`](crate::ErrorKind::Configuration) for a model that is not there;
    /// [`ProviderUnreachable`](crate::ErrorKind::ProviderUnreachable),
    /// [`ProviderRefused`](crate::ErrorKind::ProviderRefused), [`RateLimited`](crate::ErrorKind::RateLimited);
    /// [`Unsupported`](crate::ErrorKind::Unsupported) when the server refuses the form of the answer (a schema, JSON, tools)
    /// and another form may do: whoever asked then asks for another;
    /// [`UnusableModelOutput`](crate::ErrorKind::UnusableModelOutput) when the reply is not in the provider's own
    /// form.
    async fn chat(&self, request: &ChatRequest) -> Result<ChatResponse>;

    /// As [`chat`](Llm::chat), handing the text to `sink` piece by piece as it comes; the pieces together are the
    /// text of the answer. Without an implementation of its own a model sends the text in one piece.
    ///
    /// # Errors
    /// As [`chat`](Llm::chat); pieces already handed on stay handed on.
    async fn chat_stream(
        &self,
        request: &ChatRequest,
        sink: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatResponse> {
        let response = self.chat(request).await?;
        sink(&response.text);
        Ok(response)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Llm + ?Sized> Llm for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn capabilities(&self) -> LlmCapabilities {
        (**self).capabilities()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatResponse> {
        (**self).chat(request).await
    }

    async fn chat_stream(
        &self,
        request: &ChatRequest,
        sink: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatResponse> {
        (**self).chat_stream(request, sink).await
    }
}
