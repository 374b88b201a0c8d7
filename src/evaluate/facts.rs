//! Facts that a data set gives for its turns, in place of a model that reads them.

use std::collections::HashMap;

use async_trait::async_trait;
use serde::Serialize;

use super::{Conversation, Dataset};
use crate::{AddReport, ExtractRequest, Extraction, Extractor, Fact, Result};

/// What a data set says that its turns tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GivenFact {
    /// The statement.
    pub text: String,
    /// Whom it is about or who said it, by name.
    pub speaker: Option<String>,
    /// The turns it is drawn from, by their place in the conversation: sorted, each once, at least one.
    pub turns: Vec<usize>,
}

impl GivenFact {
    /// A fact of nobody in particular; `None` for a blank text, and without a turn.
    #[must_use]
    pub fn new(text: impl Into<String>, mut turns: Vec<usize>) -> Option<Self> {
        let text = text.into();
        turns.sort_unstable();
        turns.dedup();
        (!turns.is_empty() && !text.trim().is_empty()).then_some(Self { text, speaker: None, turns })
    }

    /// Names the speaker. Default none.
    #[must_use]
    pub fn from_speaker(mut self, speaker: impl Into<String>) -> Self {
        self.speaker = Some(speaker.into());
        self
    }
}

/// An [`Extractor`] that knows the answers: for each message it is shown it gives the facts that the data set gives for
/// that turn, as a model would that reads what the annotators read. A fact of several turns comes with the last.
///
/// A message is a turn if its id and its text are the turn's; [`ingest`](super::ingest) sees to that. It measures what
/// storing and searching make of good facts, not how good an extractor is.
///
/// ```
/// # use ingrain::{HashingEmbedder, MemoryEngine, evaluate::{Dataset, GivenFacts}};
/// # async fn example(dataset: Dataset) -> ingrain::Result<()> {
/// let memory = MemoryEngine::builder()
///     .embedder(HashingEmbedder::new(256))
///     .extractor(GivenFacts::of(&dataset.conversations))
///     .build()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct GivenFacts(HashMap<(String, String), Vec<GivenFact>>);

impl GivenFacts {
    /// The facts of these conversations.
    #[must_use]
    pub fn of<'c>(conversations: impl IntoIterator<Item = &'c Conversation>) -> Self {
        let mut facts: HashMap<(String, String), Vec<GivenFact>> = HashMap::new();
        for conversation in conversations {
            for fact in &conversation.facts {
                if let Some(turn) = fact.turns.last().and_then(|place| conversation.turns.get(*place)) {
                    let told = facts.entry((turn.id.clone(), turn.text.clone())).or_default();
                    if !told.contains(fact) {
                        told.push(fact.clone());
                    }
                }
            }
        }
        Self(facts)
    }
}

impl From<&Dataset> for GivenFacts {
    fn from(dataset: &Dataset) -> Self {
        Self::of(&dataset.conversations)
    }
}

#[async_trait]
impl Extractor for GivenFacts {
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        let mut facts = Vec::new();
        for (number, message) in request.messages.iter().enumerate() {
            let Some(id) = &message.id else { continue };
            for given in self.0.get(&(id.clone(), message.text.clone())).into_iter().flatten() {
                let mut fact = Fact::new(&given.text, number);
                fact.speaker.clone_from(&given.speaker);
                facts.push(fact);
            }
        }
        Ok(Extraction::of(facts))
    }
}

/// What became of the facts that were read while a conversation was stored. Reconciling is part of what is measured, so
/// how much of it there was belongs beside the figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FactCounts {
    /// Stored as memories of their own.
    pub added: usize,
    /// Taken into a memory that was there.
    pub updated: usize,
    /// Memories that ended because a new one replaced them.
    pub superseded: usize,
    /// Memories that were withdrawn.
    pub withdrawn: usize,
    /// Known already.
    pub skipped: usize,
    /// Steps of a plan that were refused.
    pub rejected: usize,
    /// Not usable.
    pub ignored: usize,
}

impl FactCounts {
    /// Counts what an add did.
    pub(super) fn count(&mut self, report: &AddReport) {
        self.added += report.added.len();
        self.updated += report.updated.len();
        self.superseded += report.superseded.len();
        self.withdrawn += report.deleted.len();
        self.skipped += report.skipped.len();
        self.rejected += report.rejected.len();
        self.ignored += report.ignored.len();
    }
}

impl std::ops::AddAssign for FactCounts {
    fn add_assign(&mut self, other: Self) {
        let Self { added, updated, superseded, withdrawn, skipped, rejected, ignored } = other;
        self.added += added;
        self.updated += updated;
        self.superseded += superseded;
        self.withdrawn += withdrawn;
        self.skipped += skipped;
        self.rejected += rejected;
        self.ignored += ignored;
    }
}
