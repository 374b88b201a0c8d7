use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;

use crate::{Message, Result, Usage};

/// What to summarise.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SummarizeRequest<'a> {
    /// The summary so far, to be extended.
    pub previous: Option<&'a str>,
    /// The messages it does not cover yet, oldest first.
    pub messages: &'a [Message],
    /// Most words of the result.
    pub max_words: usize,
    /// The language to write in, by its English name; `None` for that of the messages.
    pub language: Option<&'a str>,
}

impl<'a> SummarizeRequest<'a> {
    /// A new summary of `messages` in at most `max_words` words, in their own language.
    #[must_use]
    pub fn new(messages: &'a [Message], max_words: usize) -> Self {
        Self { previous: None, messages, max_words, language: None }
    }

    /// Extends a summary. Default: a new one.
    #[must_use]
    pub fn extending(mut self, previous: &'a str) -> Self {
        self.previous = Some(previous);
        self
    }
}

/// A summary.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The text, never blank.
    pub text: String,
    /// Calls of a model that were made.
    pub model_calls: u32,
    /// What they cost.
    pub usage: Usage,
}

impl Summary {
    /// A summary made without a model.
    #[must_use]
    pub fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), model_calls: 0, usage: Usage::default() }
    }
}

/// Makes long conversations short.
///
/// The contract: the result covers the previous summary and all the messages, adds nothing, and is never blank: if
/// there is nothing to say, that is an error, so that nobody drops messages for an empty text. It only reads, so
/// cancelling is safe.
#[async_trait]
pub trait Summarizer: Debug + Send + Sync + 'static {
    /// A summary of `request`.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) without a message; what the model's client reports, and
    /// [`UnusableModelOutput`](crate::ErrorKind::UnusableModelOutput).
    async fn summarize(&self, request: &SummarizeRequest<'_>) -> Result<Summary>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Summarizer + ?Sized> Summarizer for Arc<T> {
    async fn summarize(&self, request: &SummarizeRequest<'_>) -> Result<Summary> {
        (**self).summarize(request).await
    }
}
