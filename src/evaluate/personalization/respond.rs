use std::{fmt, sync::Arc};

use async_trait::async_trait;

use crate::{ChatRequest, Llm, Message, Result};

/// Answers questions, given what is remembered or without it: a model, an agent, an application as a whole.
#[async_trait]
pub trait Responder: fmt::Debug + Send + Sync + 'static {
    /// The answer to a question. `context` is the text of a [`MemoryContext`](crate::MemoryContext), ready for a prompt;
    /// `None` stands for no memory, and where nothing was found.
    ///
    /// Nothing but the context may tell two calls apart: what is learned from one question must not flow into the next.
    ///
    /// # Errors
    /// Whatever keeps it from answering. That ends the evaluation: a failure is not an answer.
    async fn respond(&self, question: &str, context: Option<&str>) -> Result<String>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Responder + ?Sized> Responder for Arc<T> {
    async fn respond(&self, question: &str, context: Option<&str>) -> Result<String> {
        (**self).respond(question, context).await
    }
}

/// A [`Responder`] made of any model: the context stands at the end of the system prompt.
///
/// Asked at temperature 0, one request an answer. The answer is taken as it comes, cut off or not.
#[derive(Debug, Clone)]
#[must_use]
pub struct LlmResponder {
    llm: Arc<dyn Llm>,
    instructions: String,
    max_output_tokens: Option<u32>,
}

impl LlmResponder {
    /// A responder that asks this model.
    pub fn new(llm: impl Llm) -> Self {
        let instructions = "You are a helpful assistant. Answer the user's question.".to_owned();
        Self { llm: Arc::new(llm), instructions, max_output_tokens: None }
    }

    /// The system prompt, with and without memory. Default: that of a helpful assistant, in one line.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = instructions.into();
        self
    }

    /// Most tokens of an answer. Default: the model's own limit.
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }
}

#[async_trait]
impl Responder for LlmResponder {
    async fn respond(&self, question: &str, context: Option<&str>) -> Result<String> {
        let mut system = self.instructions.clone();
        if let Some(context) = context {
            system.push_str("\n\n");
            system.push_str(context);
        }
        let mut request = ChatRequest::new(vec![Message::system(system), Message::user(question)]);
        request.max_output_tokens = self.max_output_tokens;
        let reply = self.llm.chat(&request.with_temperature(0.0)).await;
        Ok(reply.map_err(|error| error.with_backend(self.llm.name()))?.text)
    }
}

/// A function as a [`Responder`]: takes the question and the context.
///
/// ```
/// use ingrain::evaluate::personalization::{Responder, ResponderFn};
/// let parrot = ResponderFn::new(|question: String, context: Option<String>| async move {
///     Ok(format!("{question} {}", context.unwrap_or_default()))
/// });
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// assert_eq!(parrot.respond("Tea?", None).await?, "Tea? ");
/// # Ok::<(), ingrain::Error>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ResponderFn<F>(F);

impl<F> ResponderFn<F> {
    /// Wraps a function.
    #[must_use]
    pub fn new<Answer>(function: F) -> Self
    where
        F: Fn(String, Option<String>) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<String>> + Send + 'static,
    {
        Self(function)
    }
}

impl<F> fmt::Debug for ResponderFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponderFn").finish_non_exhaustive()
    }
}

#[async_trait]
impl<F, Answer> Responder for ResponderFn<F>
where
    F: Fn(String, Option<String>) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = Result<String>> + Send + 'static,
{
    async fn respond(&self, question: &str, context: Option<&str>) -> Result<String> {
        (self.0)(question.to_owned(), context.map(str::to_owned)).await
    }
}
