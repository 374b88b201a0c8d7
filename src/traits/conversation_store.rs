use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Message, Result, Scope, Timestamp};

/// A message in a conversation's store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredMessage {
    /// Its number in the conversation: from 0, growing, never used again.
    pub sequence: u64,
    /// The message, byte for byte.
    pub message: Message,
}

impl StoredMessage {
    /// A stored message.
    #[must_use]
    pub fn new(sequence: u64, message: Message) -> Self {
        Self { sequence, message }
    }
}

/// A summary and what it covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunningSummary {
    /// The text.
    pub text: String,
    /// It covers every message with a smaller number.
    pub covers_before: u64,
    /// When it was made.
    pub updated_at: Timestamp,
}

impl RunningSummary {
    /// A summary of every message with a number below `covers_before`.
    #[must_use]
    pub fn new(text: impl Into<String>, covers_before: u64, updated_at: Timestamp) -> Self {
        Self { text: text.into(), covers_before, updated_at }
    }
}

/// Keeps conversations: messages in order, and the summary of their beginning.
///
/// A conversation is named by a scope, and here scopes are compared whole: the conversation of a user is not that of
/// the user's session. Every write is atomic and durable when it returns; two writers may append at once, and each
/// message then gets a number of its own. Cancelling a write leaves it done or not done, never half.
#[async_trait]
pub trait ConversationStore: Debug + Send + Sync + 'static {
    /// Appends messages, all or none, and returns the number of the first.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a bad scope or no message;
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn append(&self, conversation: &Scope, messages: &[Message]) -> Result<u64>;

    /// The messages from number `from` on, oldest first, at most `limit`. An unknown conversation is an empty one.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a bad scope;
    /// [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn messages(&self, conversation: &Scope, from: u64, limit: usize) -> Result<Vec<StoredMessage>>;

    /// The summary, if there is one.
    ///
    /// # Errors
    /// As [`messages`](ConversationStore::messages).
    async fn summary(&self, conversation: &Scope) -> Result<Option<RunningSummary>>;

    /// Replaces the summary that covers what `expected_covers_before` says (0 when there is none). The new one must
    /// cover more.
    ///
    /// # Errors
    /// [`Conflict`](crate::ErrorKind::Conflict) when another worker was faster, and then nothing is written;
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a summary that covers less, or messages that do not
    /// exist; [`StoreUnavailable`](crate::ErrorKind::StoreUnavailable).
    async fn replace_summary(
        &self,
        conversation: &Scope,
        expected_covers_before: u64,
        summary: &RunningSummary,
    ) -> Result<()>;

    /// Drops the messages with a number below `before`, and says how many there were.
    ///
    /// # Errors
    /// As [`messages`](ConversationStore::messages).
    async fn drop_before(&self, conversation: &Scope, before: u64) -> Result<u64>;

    /// Erases every conversation the scope covers, and says how many messages went. Here the scope is a reader's, as
    /// for memories.
    ///
    /// # Errors
    /// As [`messages`](ConversationStore::messages).
    async fn erase(&self, scope: &Scope) -> Result<u64>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: ConversationStore + ?Sized> ConversationStore for Arc<T> {
    async fn append(&self, conversation: &Scope, messages: &[Message]) -> Result<u64> {
        (**self).append(conversation, messages).await
    }

    async fn messages(&self, conversation: &Scope, from: u64, limit: usize) -> Result<Vec<StoredMessage>> {
        (**self).messages(conversation, from, limit).await
    }

    async fn summary(&self, conversation: &Scope) -> Result<Option<RunningSummary>> {
        (**self).summary(conversation).await
    }

    async fn replace_summary(
        &self,
        conversation: &Scope,
        expected_covers_before: u64,
        summary: &RunningSummary,
    ) -> Result<()> {
        (**self).replace_summary(conversation, expected_covers_before, summary).await
    }

    async fn drop_before(&self, conversation: &Scope, before: u64) -> Result<u64> {
        (**self).drop_before(conversation, before).await
    }

    async fn erase(&self, scope: &Scope) -> Result<u64> {
        (**self).erase(scope).await
    }
}
