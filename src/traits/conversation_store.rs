use std::{fmt::Debug, ops::Range, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Message, Result, Scope, Timestamp, types::check_metadata};

/// A message in a conversation's store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredMessage {
    /// Its number in the conversation: from 0, without gaps, never used again.
    pub sequence: u64,
    /// The message, byte for byte; its time to the microsecond.
    pub message: Message,
}

impl StoredMessage {
    /// A stored message.
    #[must_use]
    pub fn new(sequence: u64, message: Message) -> Self {
        Self { sequence, message }
    }

    /// Checks what a store must refuse to append: no message, and metadata nested deeper than 64.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument).
    pub fn check(messages: &[Message]) -> Result<()> {
        if messages.is_empty() {
            return Err(Error::invalid("there is no message to append"));
        }
        messages.iter().try_for_each(|message| check_metadata(&message.metadata))
    }
}

/// Greatest number that is given to a message: half of what signed columns hold, so that there is room for those that
/// follow.
pub(crate) const MOST_MESSAGES: u64 = i64::MAX as u64 / 2;

impl StoredMessage {
    /// Checks what a store must refuse to restore: nothing at all, metadata nested deeper than 64, numbers beyond half
    /// of what a signed integer holds, and a summary of nothing, or of more than there was.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument).
    pub fn check_restored(first: u64, messages: &[Message], summary: Option<&RunningSummary>) -> Result<()> {
        if messages.is_empty() && summary.is_none() {
            return Err(Error::invalid("there is nothing of a conversation to restore"));
        }
        messages.iter().try_for_each(|message| check_metadata(&message.metadata))?;
        let end = first.checked_add(messages.len() as u64).filter(|end| *end <= MOST_MESSAGES);
        let Some(end) = end else { return Err(Error::invalid("the numbers of a conversation are too great")) };
        match summary {
            Some(summary) if !(1..=end).contains(&summary.covers_before) => {
                Err(Error::invalid("a restored summary covers nothing, or more than there was"))
            }
            _ => Ok(()),
        }
    }
}

/// A summary and what it covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunningSummary {
    /// The text, byte for byte.
    pub text: String,
    /// It covers every message with a smaller number.
    pub covers_before: u64,
    /// When it was made, to the microsecond.
    pub updated_at: Timestamp,
}

impl RunningSummary {
    /// A summary of every message with a number below `covers_before`.
    #[must_use]
    pub fn new(text: impl Into<String>, covers_before: u64, updated_at: Timestamp) -> Self {
        Self { text: text.into(), covers_before, updated_at }
    }

    /// Whether it may take the place of the present summary, which covers what `covered` says (0 when there is none), in
    /// a conversation whose messages have the numbers `kept`: the rules of
    /// [`replace_summary`](ConversationStore::replace_summary), for whoever writes a store. Pure.
    ///
    /// # Errors
    /// As there.
    pub fn check(&self, expected_covers_before: u64, covered: u64, kept: &Range<u64>) -> Result<()> {
        let covers = self.covers_before;
        if covers <= expected_covers_before {
            return Err(Error::invalid(format!(
                "the summary covers what comes before message {covers}, and was to cover more than what comes before \
                 {expected_covers_before}"
            )));
        }
        if covered != expected_covers_before {
            let message =
                format!("the present summary covers what comes before message {covered}, not {expected_covers_before}");
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        if covers > kept.end {
            let message = format!("the summary covers what comes before message {covers}, and there are {}", kept.end);
            return Err(Error::invalid(message));
        }
        if covers <= kept.start {
            let message = "the messages that the summary covers were dropped or erased";
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        Ok(())
    }
}

/// Keeps conversations: messages in order, and the summary of their beginning.
///
/// The contract, which the suite `conversation_store_suite!` of the `testing` module checks:
///
/// - **Scopes are names.** A conversation is named by a scope, and here scopes are compared whole: the conversation of a
///   user is not that of the user's session. Only [`erase`](ConversationStore::erase) takes a scope as memories do.
/// - **Numbers are for good.** The first message ever is number 0, and each has the number after that of the one before
///   it. A number is never given again, also not when its message was dropped or erased; so a store keeps how far the numbers of an
///   erased conversation had come, under a hash of its name at most, and nothing else. Whoever still works on what was erased, as a
///   summarizer may, cannot take the messages after it for those he read.
/// - **Writes are whole**, and durable on a durable store when they return: every read that begins later sees them, from
///   every handle on the same store. Two writers may append at once; the messages of one call stay together. Cancelling a
///   write leaves it done or not done, never half.
/// - **An outage is an error**, never an empty conversation. After one a write may have been done.
/// - Whatever a message holds comes back byte for byte; times to the microsecond.
#[async_trait]
pub trait ConversationStore: Debug + Send + Sync + 'static {
    /// Names the backend, such as `sqlite`.
    fn name(&self) -> &str;

    /// Appends messages, all or none, and returns the number of the first. The others follow it one by one.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope, no message, or metadata nested too deep, and then
    /// nothing is written; [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn append(&self, conversation: &Scope, messages: &[Message]) -> Result<u64>;

    /// The messages from number `from` on, oldest first, at most `limit`; of one moment. Numbers whose messages are gone
    /// are passed over and do not count, so 0 begins with the oldest that is left. A limit of 0 gives none, and whatever
    /// is larger than the conversation gives all. An unknown conversation is an empty one.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope;
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn messages(&self, conversation: &Scope, from: u64, limit: usize) -> Result<Vec<StoredMessage>>;

    /// The summary, if there is one.
    ///
    /// # Errors
    /// As [`messages`](ConversationStore::messages).
    async fn summary(&self, conversation: &Scope) -> Result<Option<RunningSummary>>;

    /// Replaces the summary that covers what `expected_covers_before` says (0 when there is none). The new one must
    /// cover more than that, all of it must have been said, and the last that it covers must still be there: a summary of
    /// what was dropped or erased meanwhile comes too late.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict) when the present summary covers something else, since another worker was faster,
    /// or when all that the new one covers is gone; [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope, and
    /// for a summary that covers no more than expected, or messages that were never there. Nothing is written then.
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn replace_summary(
        &self,
        conversation: &Scope,
        expected_covers_before: u64,
        summary: &RunningSummary,
    ) -> Result<()>;

    /// The names of the conversations that a reader's scope covers and that have a message or a summary, in order.
    ///
    /// # Errors
    /// As [`messages`](ConversationStore::messages).
    async fn conversations(&self, scope: &Scope) -> Result<Vec<Scope>>;

    /// The names of the conversations of everyone that have a message or a summary, in order (by user, agent and session,
    /// byte for byte, what is not named first); those after `after`, which need not be one of them, at most `limit`. For
    /// whoever runs the application, and no answer to any of its users.
    ///
    /// # Errors
    /// As [`messages`](ConversationStore::messages).
    async fn conversations_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>>;

    /// Begins a conversation with what was kept of it elsewhere: messages from the number `first` on, and the summary of
    /// what was before them or of a part of them. All or nothing. One that was erased comes back this way, with the numbers
    /// its messages had: here alone numbers are given again.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict) if the conversation has a message or a summary here;
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) as [`StoredMessage::check_restored`], and for a bad scope;
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn restore(
        &self,
        conversation: &Scope,
        first: u64,
        messages: &[Message],
        summary: Option<&RunningSummary>,
    ) -> Result<()>;

    /// Drops the messages with a number below `before`, and says how many there were. The summary stays.
    ///
    /// It is not held back by what the summary covers, for some keep the last messages and no summary. To lose nothing,
    /// drop no more than the summary's [`covers_before`](RunningSummary::covers_before). A number beyond the last message
    /// drops all there are, and not those to come.
    ///
    /// # Errors
    /// As [`messages`](ConversationStore::messages).
    async fn drop_before(&self, conversation: &Scope, before: u64) -> Result<u64>;

    /// Erases every conversation the scope covers, with its summary, and says how many messages went. Here the scope is a
    /// reader's, as for memories: that of a user covers the user's sessions. All or nothing. What is appended later begins
    /// a conversation without a past, whose first number is the one after the last that was erased.
    ///
    /// # Errors
    /// As [`messages`](ConversationStore::messages).
    async fn erase(&self, scope: &Scope) -> Result<u64>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: ConversationStore + ?Sized> ConversationStore for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

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

    async fn conversations(&self, scope: &Scope) -> Result<Vec<Scope>> {
        (**self).conversations(scope).await
    }

    async fn conversations_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        (**self).conversations_of_everyone(after, limit).await
    }

    async fn restore(
        &self,
        conversation: &Scope,
        first: u64,
        messages: &[Message],
        summary: Option<&RunningSummary>,
    ) -> Result<()> {
        (**self).restore(conversation, first, messages, summary).await
    }

    async fn drop_before(&self, conversation: &Scope, before: u64) -> Result<u64> {
        (**self).drop_before(conversation, before).await
    }

    async fn erase(&self, scope: &Scope) -> Result<u64> {
        (**self).erase(scope).await
    }
}
