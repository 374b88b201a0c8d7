use std::sync::Arc;

use async_trait::async_trait;

use super::faulty_store::Switch;
use crate::{ConversationStore, Message, Result, RunningSummary, Scope, StoredMessage};

/// The conversations of a [`FaultyStore`](super::FaultyStore).
#[derive(Debug)]
pub(super) struct FaultyConversations {
    pub(super) inner: Arc<dyn ConversationStore>,
    pub(super) switch: Switch,
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ConversationStore for FaultyConversations {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn append(&self, conversation: &Scope, messages: &[Message]) -> Result<u64> {
        self.switch.call(self.inner.append(conversation, messages)).await
    }

    async fn messages(&self, conversation: &Scope, from: u64, limit: usize) -> Result<Vec<StoredMessage>> {
        self.switch.call(self.inner.messages(conversation, from, limit)).await
    }

    async fn summary(&self, conversation: &Scope) -> Result<Option<RunningSummary>> {
        self.switch.call(self.inner.summary(conversation)).await
    }

    async fn replace_summary(
        &self,
        conversation: &Scope,
        expected_covers_before: u64,
        summary: &RunningSummary,
    ) -> Result<()> {
        self.switch.call(self.inner.replace_summary(conversation, expected_covers_before, summary)).await
    }

    async fn conversations(&self, scope: &Scope) -> Result<Vec<Scope>> {
        self.switch.call(self.inner.conversations(scope)).await
    }

    async fn conversations_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        self.switch.call(self.inner.conversations_of_everyone(after, limit)).await
    }

    async fn restore(
        &self,
        conversation: &Scope,
        first: u64,
        messages: &[Message],
        summary: Option<&RunningSummary>,
    ) -> Result<()> {
        self.switch.call(self.inner.restore(conversation, first, messages, summary)).await
    }

    async fn drop_before(&self, conversation: &Scope, before: u64) -> Result<u64> {
        self.switch.call(self.inner.drop_before(conversation, before)).await
    }

    async fn erase(&self, scope: &Scope) -> Result<u64> {
        self.switch.call(self.inner.erase(scope)).await
    }
}
