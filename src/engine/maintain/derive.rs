//! What summaries and observations have in common: a text made of others, and the memories it rests on.

use super::{Run, conflict, summarize::wide};
use crate::{
    Actor, ErrorKind, EventKind, HistoryEvent, Memory, MemoryId, Message, Put, Result, Role, Source, SummarizeRequest,
    Trust, WriteBatch,
    add::{keys, redact},
    traits::Summarizer,
    types::truncate,
};

/// The metadata key of what a derived text was made of: the sum of the [marks](mark) of the memories it rests on. A sum, so
/// that one can be added or taken away without reading the others.
const MADE_OF: &str = "made_of";

/// What a derived memory rests on.
pub(super) fn rests_on(memory: &Memory) -> Vec<MemoryId> {
    let of_memory = |source: &Source| match source {
        Source::Memory(id) => Some(*id),
        Source::Message(_) | Source::Faded(_) => None,
    };
    memory.sources.iter().filter_map(of_memory).collect()
}

/// What a derived memory tells: what it rests on, and what has faded since.
pub(super) fn tells(memory: &Memory) -> Vec<MemoryId> {
    let of_memory = |source: &Source| match source {
        Source::Memory(id) | Source::Faded(id) => Some(*id),
        Source::Message(_) => None,
    };
    memory.sources.iter().filter_map(of_memory).collect()
}

/// Whether maintenance wrote it.
pub(super) fn is_derived(memory: &Memory) -> bool {
    memory.metadata.contains_key(MADE_OF)
}

/// The same of one that may have been removed, by its history.
pub(in crate::engine) fn was_derived(history: &[HistoryEvent]) -> bool {
    history.iter().any(|event| event.kind == EventKind::Add && event.stamp.actor == Actor::Maintenance)
}

/// A number for what a derived text says of a memory: whoever compares it needs no clock, and clocks may have been wrong.
///
/// # Source
/// FNV-1a, 64 bits: Fowler, Noll, Vo and Eastlake, "The FNV Non-Cryptographic Hash Algorithm". The standard library's hasher
/// may differ from one release to the next.
fn mark(memory: &Memory) -> u64 {
    let Memory { id, text, speaker, trust, observed_at, valid_at, categories, .. } = memory;
    let times = [observed_at, valid_at].map(|time| time.timestamp_micros().to_be_bytes());
    let words = [text.as_str(), trust.as_str(), speaker.as_deref().unwrap_or_default()];
    let words = words.into_iter().chain(categories.iter().map(String::as_str)).map(str::as_bytes);
    let parts = [id.as_bytes().as_slice()].into_iter().chain(times.iter().map(<[u8; 8]>::as_slice)).chain(words);
    // No byte of a text is 0xff.
    parts
        .flat_map(|part| part.iter().chain(&[0xff]))
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn made_of(memory: &Memory) -> u64 {
    let text = memory.metadata.get(MADE_OF).and_then(serde_json::Value::as_str);
    text.and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or_default()
}

fn set_made_of(memory: &mut Memory, sum: u64) {
    memory.metadata.insert(MADE_OF.to_owned(), format!("{sum:016x}").into());
}

/// Whether a derived text says of exactly these memories what they say now.
pub(super) fn is_made_of<'m>(derived: &Memory, memories: impl IntoIterator<Item = &'m Memory>) -> bool {
    let sum = memories.into_iter().fold(0, |sum: u64, memory| sum.wrapping_add(mark(memory)));
    is_derived(derived) && made_of(derived) == sum
}

/// Lets a derived memory rest on these as well, or, if it is made `anew`, on them alone.
pub(super) fn rest_on<'m>(derived: &mut Memory, memories: impl IntoIterator<Item = &'m Memory>, anew: bool) {
    if anew {
        derived.sources.clear();
    }
    let mut sum = if anew { 0 } else { made_of(derived) };
    for memory in memories {
        sum = sum.wrapping_add(mark(memory));
        derived.sources.push(Source::Memory(memory.id));
    }
    set_made_of(derived, sum);
}

/// A summary after these of its turns have faded: by their ids, so that one that comes back is not counted twice.
pub(super) fn without_faded(summary: &Memory, turns: &[Memory]) -> Memory {
    turned(summary, turns, [Source::Memory, Source::Faded], u64::wrapping_sub)
}

/// A summary after these of its turns, which had faded, came back by an import: it rests on them again.
pub(super) fn with_returned(summary: &Memory, turns: &[Memory]) -> Memory {
    turned(summary, turns, [Source::Faded, Source::Memory], u64::wrapping_add)
}

/// A summary that holds these of its turns for the second where it held them for the first, and what it is made of then.
fn turned(
    summary: &Memory,
    turns: &[Memory],
    [from, to]: [fn(MemoryId) -> Source; 2],
    count: fn(u64, u64) -> u64,
) -> Memory {
    let mut summary = summary.clone();
    let mut sum = made_of(&summary);
    for turn in turns {
        for source in summary.sources.iter_mut().filter(|source| **source == from(turn.id)) {
            *source = to(turn.id);
            sum = count(sum, mark(turn));
        }
    }
    set_made_of(&mut summary, sum);
    summary
}

/// A summary that rests on a turn again that it held for faded, though it is not what it tells; `None` if it held it for none.
pub(super) fn with_missing(summary: &Memory, turn: MemoryId) -> Option<Memory> {
    let faded = Source::Faded(turn);
    let mut changed = summary.clone();
    changed.sources.iter_mut().filter(|source| **source == faded).for_each(|source| *source = Source::Memory(turn));
    (changed.sources != summary.sources).then_some(changed)
}

/// The least trusted of several, whoever it was.
pub(super) fn least_trusted<'m>(memories: impl IntoIterator<Item = &'m Memory>) -> Trust {
    memories.into_iter().map(|memory| memory.trust).max().unwrap_or_default()
}

impl Run<'_> {
    /// A text of at most so many words that covers the previous one and all the messages; `None` if a model made none that is
    /// of use: it would not the next time either, and what it was to read may have told it so.
    pub(super) async fn text_of(
        &mut self,
        summarizer: &dyn Summarizer,
        previous: Option<&str>,
        messages: &[Message],
        max_words: usize,
    ) -> Result<Option<String>> {
        let mut request = SummarizeRequest::new(messages, max_words);
        if let Some(previous) = previous {
            request = request.extending(previous);
        }
        let summary = match summarizer.summarize(&request).await {
            Ok(summary) => summary,
            Err(error) if error.kind() == ErrorKind::UnusableModelOutput => {
                let (calls, usage) = error.spent();
                self.report.model_calls += calls;
                self.report.usage += usage;
                return Ok(None);
            }
            Err(error) => return Err(error.with_stage(crate::Stage::Summarize)),
        };
        self.report.model_calls += summary.model_calls;
        self.report.usage += summary.usage;
        let mut text = summary.text;
        if let Some(redactor) = self.engine.0.redactor.as_deref() {
            redact::text(redactor, &mut text);
        }
        Ok(Some(text))
    }

    /// Writes a derived memory in place of the old one, or as a new one, if what it was made of is still there.
    pub(super) async fn write_derived(
        &self,
        old: Option<&Memory>,
        mut new: Memory,
        made_of: &[Memory],
        reason: &str,
        unchanged: Option<crate::Unchanged>,
    ) -> Result<()> {
        let engine = self.engine;
        let stamp = self.because(reason);
        new.updated_at = truncate(stamp.at);
        let keys = keys::embed(&*engine.0.embedder, &[&new], &[]).await?.0.pop();
        let Some(keys) = keys else { return Err(conflict("a memory has no keys")) };
        // A model takes its time: what was purged meanwhile is not to be told again.
        let ids: Vec<MemoryId> = made_of.iter().map(|memory| memory.id).collect();
        if engine.0.store.get(&wide(&new.scope), &ids).await?.len() < ids.len() {
            return Err(conflict("what a memory was made of is gone"));
        }
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
