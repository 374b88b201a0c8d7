//! What rests on memories that have changed or ended is made anew, or ends with them.

use std::collections::{HashMap, HashSet};

use super::{Run, derive::rests_on, forget::faded_of, merge::change, summarize::SLOT};
use crate::{
    Cursor, EventKind, Memory, MemoryId, MemoryKind, Result, Source, Validity, WriteBatch, score::sameness::same_text,
};

impl Run<'_> {
    pub(super) async fn review(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let page = self.page(after, None, Validity::Current(self.now)).await?;
        for memory in page.items {
            let sources = rests_on(&memory);
            if sources.is_empty() || memory.kind == MemoryKind::Episode {
                continue;
            }
            let found = self.engine.0.store.get(&self.reader_of(&memory), &sources).await?;
            let found: HashMap<MemoryId, Memory> = found.into_iter().map(|one| (one.id, one)).collect();
            match memory.kind {
                MemoryKind::Summary if memory.slot.as_deref() == Some(SLOT) => {
                    self.review_summary(&memory, &sources, &found).await?;
                }
                MemoryKind::Observation => self.review_observation(&memory, &sources, &found).await?,
                _ => {
                    let has_ended = |source: &Memory| source.kind.is_semantic() && !self.holds(source);
                    if found.values().any(has_ended) {
                        self.report.to_review.push(memory.id);
                    }
                }
            }
        }
        Ok(page.next)
    }

    fn reader_of(&self, memory: &Memory) -> crate::Scope {
        let wide = memory.scope.across_sessions();
        if wide.validate().is_ok() { wide } else { memory.scope.clone() }
    }

    fn holds(&self, memory: &Memory) -> bool {
        Validity::Current(self.now).admits(memory.valid_at, memory.invalid_at, memory.expires_at)
    }

    async fn review_summary(
        &mut self,
        summary: &Memory,
        sources: &[MemoryId],
        found: &HashMap<MemoryId, Memory>,
    ) -> Result<()> {
        let is_sound = |id: &MemoryId| found.get(id).is_none_or(|turn| turn.updated_at <= summary.updated_at);
        let missing = sources.iter().filter(|id| !found.contains_key(id)).count() as u64;
        // It outlives the turns that faded, and none that was deleted.
        if missing <= faded_of(summary) && sources.iter().all(is_sound) {
            return Ok(());
        }
        let mut left: Vec<&Memory> = found.values().collect();
        left.sort_by_key(|turn| turn.id);
        match left.first() {
            _ if self.request.dry_run => self.report.renewed.push(summary.id),
            Some(first) => self.summarize_session(first, true).await?,
            None => {
                if self.remove(summary, "what it rests on is gone", |_| true).await? {
                    self.report.withdrawn.push(summary.id);
                }
            }
        }
        Ok(())
    }

    async fn review_observation(
        &mut self,
        observation: &Memory,
        sources: &[MemoryId],
        found: &HashMap<MemoryId, Memory>,
    ) -> Result<()> {
        let mut sound = true;
        let mut facts: Vec<Memory> = Vec::new();
        let mut seen: HashSet<MemoryId> = HashSet::new();
        for id in sources {
            let fact = found.get(id);
            let held = match fact {
                Some(fact) if self.holds(fact) => Some(fact.clone()),
                // What another took in is told by that one.
                Some(fact) => self.successor(fact).await?,
                None => None,
            };
            sound &= held.as_ref().is_some_and(|held| held.id == *id && held.updated_at <= observation.updated_at);
            facts.extend(held.filter(|held| seen.insert(held.id)));
        }
        if sound {
            return Ok(());
        }
        if facts.len() < 2 {
            if self.request.dry_run {
                self.report.withdrawn.push(observation.id);
                return Ok(());
            }
            let mut batch = WriteBatch::default();
            let ended = Memory { invalid_at: Some(self.now.max(observation.valid_at)), ..observation.clone() };
            change(&mut batch, observation, ended, EventKind::Delete, self.because("what it rests on has ended"));
            let written = self.engine.0.store.apply(batch).await.map(drop);
            if self.made(observation.id, written)? {
                self.report.withdrawn.push(observation.id);
            }
            return Ok(());
        }
        if self.request.dry_run {
            self.report.renewed.push(observation.id);
            return Ok(());
        }
        facts.sort_by_key(|fact| (fact.valid_at, fact.id));
        let made = self.observation(None, &facts).await?;
        let sources: Vec<Source> = facts.iter().map(|fact| Source::Memory(fact.id)).collect();
        // What the application has set on it stays.
        let mut metadata = observation.metadata.clone();
        metadata.extend(made.metadata);
        let Memory { text, categories, speaker, trust, valid_at, observed_at, .. } = made;
        let importance = observation.importance;
        let new = Memory {
            text,
            categories,
            metadata,
            importance,
            speaker,
            trust,
            valid_at,
            observed_at,
            sources,
            ..observation.clone()
        };
        let written = self.write_derived(Some(observation), new, "what it rests on has changed", None).await;
        if self.made(observation.id, written)? {
            self.report.renewed.push(observation.id);
        }
        Ok(())
    }

    /// The memory that took this one in, if it says the same and holds.
    async fn successor(&self, memory: &Memory) -> Result<Option<Memory>> {
        let Some(id) = memory.superseded_by else { return Ok(None) };
        let found = self.engine.0.store.get(&self.reader_of(memory), &[id]).await?.pop();
        Ok(found.filter(|other| self.holds(other) && same_text(&other.text, &memory.text)))
    }
}
