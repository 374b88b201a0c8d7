use std::{
    collections::{BTreeMap, VecDeque},
    ops::{Bound, Range},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    ConversationStore, Error, ErrorKind, Message, Result, RunningSummary, Scope, StoredMessage, types::truncate,
};

/// The conversations of an [`InMemoryStore`](super::InMemoryStore). Clones share the content.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversations(Arc<Mutex<BTreeMap<Scope, Conversation>>>);

#[derive(Debug, Default)]
struct Conversation {
    /// The number of the first message that is left, or else of the next.
    first: u64,
    messages: VecDeque<Message>,
    summary: Option<RunningSummary>,
}

impl Conversations {
    /// How many messages there are.
    pub(super) fn count(&self) -> u64 {
        self.all().values().map(|there| there.messages.len() as u64).sum()
    }

    // Nothing below can fail midway, so a poisoned lock guards a sound state.
    fn all(&self) -> MutexGuard<'_, BTreeMap<Scope, Conversation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conversation {
    fn is_there(&self) -> bool {
        !self.messages.is_empty() || self.summary.is_some()
    }

    /// The numbers of the messages that are left.
    fn kept(&self) -> Range<u64> {
        self.first..self.first + self.messages.len() as u64
    }

    /// Drops the messages below this number.
    fn drop_before(&mut self, before: u64) -> u64 {
        let kept = self.kept();
        let first = before.clamp(kept.start, kept.end);
        // No more than there are, so it fits.
        let count = usize::try_from(first - kept.start).unwrap_or(usize::MAX);
        self.messages.drain(..count);
        self.messages.shrink_to(self.messages.len() * 2);
        self.first = first;
        first - kept.start
    }
}

#[async_trait]
impl ConversationStore for Conversations {
    fn name(&self) -> &'static str {
        "in_memory"
    }

    async fn append(&self, conversation: &Scope, messages: &[Message]) -> Result<u64> {
        conversation.validate()?;
        StoredMessage::check(messages)?;
        let mut messages = messages.to_vec();
        for message in &mut messages {
            message.at = message.at.map(truncate);
        }
        let mut all = self.all();
        let there = all.entry(conversation.clone()).or_default();
        let first = there.kept().end;
        there.messages.extend(messages);
        Ok(first)
    }

    async fn messages(&self, conversation: &Scope, from: u64, limit: usize) -> Result<Vec<StoredMessage>> {
        conversation.validate()?;
        let all = self.all();
        let Some(there) = all.get(conversation) else { return Ok(Vec::new()) };
        let kept = there.kept();
        let passed_over = usize::try_from(from.saturating_sub(kept.start)).unwrap_or(usize::MAX);
        // The messages first: when there is none the numbers, which may be at their end, are not asked for one.
        let numbered = there.messages.iter().skip(passed_over).zip(from.max(kept.start)..);
        Ok(numbered.take(limit).map(|(message, sequence)| StoredMessage::new(sequence, message.clone())).collect())
    }

    async fn summary(&self, conversation: &Scope) -> Result<Option<RunningSummary>> {
        conversation.validate()?;
        Ok(self.all().get(conversation).and_then(|there| there.summary.clone()))
    }

    async fn replace_summary(
        &self,
        conversation: &Scope,
        expected_covers_before: u64,
        summary: &RunningSummary,
    ) -> Result<()> {
        conversation.validate()?;
        let mut summary = summary.clone();
        summary.updated_at = truncate(summary.updated_at);
        let mut all = self.all();
        let there = all.get_mut(conversation);
        let covered = there.as_ref().and_then(|there| there.summary.as_ref()).map_or(0, |old| old.covers_before);
        let kept = there.as_ref().map_or(0..0, |there| there.kept());
        summary.check(expected_covers_before, covered, &kept).map_err(|error| error.with_backend("in_memory"))?;
        if let Some(there) = there {
            there.summary = Some(summary);
        }
        Ok(())
    }

    async fn conversations(&self, scope: &Scope) -> Result<Vec<Scope>> {
        scope.validate()?;
        let all = self.all();
        let covered = all.iter().filter(|(name, there)| scope.covers(name) && there.is_there());
        Ok(covered.map(|(name, _)| name.clone()).collect())
    }

    async fn conversations_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        after.map_or(Ok(()), Scope::validate)?;
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let all = self.all();
        let names = all.range((from, Bound::Unbounded)).filter(|(_, there)| there.is_there());
        Ok(names.take(limit).map(|(name, _)| name.clone()).collect())
    }

    async fn restore(
        &self,
        conversation: &Scope,
        first: u64,
        messages: &[Message],
        summary: Option<&RunningSummary>,
    ) -> Result<()> {
        conversation.validate()?;
        StoredMessage::check_restored(first, messages, summary)?;
        let mut messages: VecDeque<Message> = messages.iter().cloned().collect();
        for message in &mut messages {
            message.at = message.at.map(truncate);
        }
        let mut summary = summary.cloned();
        if let Some(summary) = &mut summary {
            summary.updated_at = truncate(summary.updated_at);
        }
        let mut all = self.all();
        if all.get(conversation).is_some_and(Conversation::is_there) {
            return Err(Error::new(ErrorKind::Conflict, "the conversation is there already").with_backend("in_memory"));
        }
        all.insert(conversation.clone(), Conversation { first, messages, summary });
        Ok(())
    }

    async fn drop_before(&self, conversation: &Scope, before: u64) -> Result<u64> {
        conversation.validate()?;
        Ok(self.all().get_mut(conversation).map_or(0, |there| there.drop_before(before)))
    }

    async fn erase(&self, scope: &Scope) -> Result<u64> {
        scope.validate()?;
        let mut all = self.all();
        let covered = all.iter_mut().filter(|(conversation, _)| scope.covers(conversation));
        Ok(covered
            .map(|(_, there)| {
                there.summary = None;
                there.drop_before(u64::MAX)
            })
            .sum())
    }
}
