//! What summaries and observations have in common: a text made of others, and the memories it rests on.

use super::{Run, conflict};
use crate::{
    EventKind, HistoryEvent, Memory, MemoryId, Message, Put, Result, Role, Source, SummarizeRequest, Trust, WriteBatch,
    add::{keys, redact},
    traits::Summarizer,
    types::truncate,
};

/// What a derived memory rests on.
pub(super) fn rests_on(memory: &Memory) -> Vec<MemoryId> {
    let of_memory = |source: &Source| match source {
        Source::Memory(id) => Some(*id),
        Source::Message(_) => None,
    };
    memory.sources.iter().filter_map(of_memory).collect()
}

/// The least trusted of several, whoever it was.
pub(super) fn least_trusted<'m>(memories: impl IntoIterator<Item = &'m Memory>) -> Trust {
    memories.into_iter().map(|memory| memory.trust).max().unwrap_or_default()
}

impl Run<'_> {
    /// A text of at most so many words that covers the previous one and all the messages.
    pub(super) async fn text_of(
        &mut self,
        summarizer: &dyn Summarizer,
        previous: Option<&str>,
        messages: &[Message],
        max_words: usize,
    ) -> Result<String> {
        let mut request = SummarizeRequest::new(messages, max_words);
        if let Some(previous) = previous {
            request = request.extending(previous);
        }
        let summary =
            summarizer.summarize(&request).await.map_err(|error| error.with_stage(crate::Stage::Summarize))?;
        self.report.model_calls += summary.model_calls;
        self.report.usage += summary.usage;
        let mut text = summary.text;
        if let Some(redactor) = self.engine.0.redactor.as_deref() {
            redact::text(redactor, &mut text);
        }
        Ok(text)
    }

    /// Writes a derived memory in place of the old one, or as a new one, if nothing it rests on has changed since `since`.
    pub(super) async fn write_derived(
        &self,
        old: Option<&Memory>,
        mut new: Memory,
        reason: &str,
        unchanged: Option<crate::Unchanged>,
    ) -> Result<()> {
        let engine = self.engine;
        let stamp = self.because(reason);
        new.updated_at = truncate(stamp.at);
        let keys = keys::embed(&*engine.0.embedder, &[&new], &[]).await?.0.pop();
        let Some(keys) = keys else { return Err(conflict("a memory has no keys")) };
        let mut batch = WriteBatch { unchanged, ..WriteBatch::default() };
        let (kind, old_text) = match old {
            Some(old) => (EventKind::Update, Some(old.text.clone())),
            None => (EventKind::Add, None),
        };
        batch.events.push(HistoryEvent::new(new.id, new.scope.clone(), kind, old_text, Some(new.text.clone()), stamp));
        batch.puts.push(match old {
            Some(old) => {
                new.revision = old.revision + 1;
                Put::change(new, Some(keys), old.revision)
            }
            None => Put::new(new, keys),
        });
        engine.0.store.apply(batch).await.map(drop)
    }
}

/// A memory as a message, for whoever summarises.
pub(super) fn message(memory: &Memory) -> Message {
    let role = match memory.trust {
        Trust::Assistant => Role::Assistant,
        _ => Role::User,
    };
    let mut message = Message::new(role, &*memory.text).at(memory.observed_at);
    message.speaker.clone_from(&memory.speaker);
    message
}
