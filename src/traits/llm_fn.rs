use std::fmt;

use async_trait::async_trait;

use crate::{ChatRequest, ChatResponse, Llm, LlmCapabilities, Result};

/// A function as an [`Llm`], for a model that is reached some other way: another crate's client, a model in process.
///
/// Requests that no model takes ([`ChatRequest::check`]) are refused before the function is called. It is called once
/// for each request, with a copy of it; retries are its own affair. Streamed answers come in one piece.
///
/// ```
/// use ingrain::{ChatResponse, Llm, LlmFn};
/// let echo = LlmFn::new("echo", |request| async move {
///     let last = request.messages.last().map(|message| message.text.clone());
///     Ok(ChatResponse::text(last.unwrap_or_default()))
/// });
/// assert_eq!(echo.name(), "echo");
/// ```
#[derive(Clone)]
pub struct LlmFn<F> {
    name: String,
    capabilities: LlmCapabilities,
    function: F,
}

impl<F> LlmFn<F> {
    /// Wraps a function. `name` names provider and model, for reports and errors. It declares no capabilities.
    #[must_use]
    pub fn new<Answer>(name: impl Into<String>, function: F) -> Self
    where
        F: Fn(ChatRequest) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<ChatResponse>> + Send + 'static,
    {
        Self { name: name.into(), capabilities: LlmCapabilities::default(), function }
    }

    /// Declares what the function looks at in a request. Default: the messages alone.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: LlmCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }
}

impl<F> fmt::Debug for LlmFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmFn").field("name", &self.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl<F, Answer> Llm for LlmFn<F>
where
    F: Fn(ChatRequest) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = Result<ChatResponse>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> LlmCapabilities {
        self.capabilities
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatResponse> {
        request.check().map_err(|error| error.with_backend(&self.name))?;
        (self.function)(request.clone()).await
    }
}
