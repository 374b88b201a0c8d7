//! What rests on memories that have changed or ended is made anew, or ends with them.

use std::collections::{HashMap, HashSet};

use super::{
    Run,
    derive::{is_derived, is_made_of, rests_on, tells, with_returned},
    merge::change,
    summarize::{SLOT, wide},
};
use crate::{
    Cursor, EventKind, Memory, MemoryId, MemoryKind, Put, Result, Validity, WriteBatch, score::sameness::same_text,
};

impl Run<'_> {
    pub(super) async fn review(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let page = self.page(after, None, Validity::Current(self.now)).await?;
        for memory in page.items {
            if tells(&memory).is_empty() || memory.kind == MemoryKind::Episode {
                continue;
            }
            match memory.kind {
                MemoryKind::Summary if memory.slot.as_deref() == Some(SLOT) => self.review_summary(&memory).await?,
                MemoryKind::Observation if is_derived(&memory) => self.review_observation(&memory).await?,
                _ => {
                    let has_ended = |source: &Memory| source.kind.is_semantic() && !self.holds(source);
                    if self.rested_on(&memory).await?.iter().any(has_ended) {
                        self.report.to_review.push(memory.id);
                    }
                }
            }
        }
        Ok(page.next)
    }

    fn holds(&self, memory: &Memory) -> bool {
        Validity::Current(self.now).admits(memory.valid_at, memory.invalid_at, memory.expires_at)
    }

    /// What is there of what it rests on.
    async fn rested_on(&self, memory: &Memory) -> Result<Vec<Memory>> {
        self.engine.0.store.get(&wide(&memory.scope), &rests_on(memory)).await
    }

    /// Whether a summary says of its turns what they say. It outlives those that faded, and none that was deleted.
    pub(super) async fn is_sound(&self, summary: &Memory) -> Result<bool> {
        let found = self.rested_on(summary).await?;
        Ok(found.len() == rests_on(summary).len() && is_made_of(summary, &found))
    }

    pub(super) async fn review_summary(&mut self, summary: &Memory) -> Result<()> {
        let there = self.engine.0.store.get(&wide(&summary.scope), &tells(summary)).await?;
        let mut known = with_returned(summary, &there);
        if known.sources != summary.sources && !self.request.dry_run {
            known.revision += 1;
            let put = Put::change(known.clone(), None, summary.revision);
            let written = self.engine.0.store.apply(WriteBatch { puts: vec![put], ..WriteBatch::default() }).await;
            if !self.made(summary.id, written.map(drop))? {
                return Ok(());
            }
        }
        if there.len() == rests_on(&known).len() && is_made_of(&known, &there) {
            return Ok(());
        }
        match there.iter().min_by_key(|turn| turn.id) {
            Some(first) if self.request.dry_run => {
                if self.is_quiet(&first.scope, true).await? {
                    self.report.renewed.push(summary.id);
                }
            }
            Some(first) => drop(self.summarize_session(first, true).await?),
            None => {
                if self.remove(summary, "what it rests on is gone", |_| true).await? {
                    self.report.withdrawn.push(summary.id);
                }
            }
        }
        Ok(())
    }

    async fn review_observation(&mut self, observation: &Memory) -> Result<()> {
        let found = self.rested_on(observation).await?;
        let found: HashMap<MemoryId, Memory> = found.into_iter().map(|one| (one.id, one)).collect();
        let mut sound = true;
        let mut facts: Vec<Memory> = Vec::new();
        let mut seen: HashSet<MemoryId> = HashSet::new();
        for id in rests_on(observation) {
            let held = match found.get(&id) {
                // What rests on what it tells itself, as an import may have it, would be told over and over.
                Some(fact) if is_derived(fact) => None,
                Some(fact) if self.holds(fact) => Some(fact.clone()),
                // What another took in is told by that one.
                Some(fact) => self.successor(fact).await?,
                None => None,
            };
            sound &= held.as_ref().is_some_and(|held| held.id == id);
            facts.extend(held.filter(|held| seen.insert(held.id)));
        }
        if sound && is_made_of(observation, &facts) {
            return Ok(());
        }
        if facts.len() < 2 {
            return self.withdraw(observation).await;
        }
        if self.request.dry_run {
            self.report.renewed.push(observation.id);
            return Ok(());
        }
        facts.sort_by_key(|fact| (fact.valid_at, fact.id));
        let made = self.observation(None, &facts).await?;
        // What the application has set on it stays.
        let mut metadata = observation.metadata.clone();
        metadata.extend(made.metadata);
        let Memory { text, categories, speaker, trust, sources, valid_at, observed_at, .. } = made;
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
        let written = self.write_derived(Some(observation), new, &facts, "what it rests on has changed", None).await;
        if self.made(observation.id, written)? {
            self.report.renewed.push(observation.id);
        }
        Ok(())
    }

    /// Ends an observation that nothing bears out any more.
    async fn withdraw(&mut self, observation: &Memory) -> Result<()> {
        let ended = Memory { invalid_at: Some(self.now.max(observation.valid_at)), ..observation.clone() };
        let reason = "what it rests on has ended";
        let withdrawn = if self.has_faded()(&ended) {
            // At once, and not by the next run.
            self.remove(observation, reason, |_| true).await?
        } else if self.request.dry_run {
            true
        } else {
            let mut batch = WriteBatch::default();
            change(&mut batch, observation, ended, EventKind::Delete, self.because(reason));
            let written = self.engine.0.store.apply(batch).await.map(drop);
            self.made(observation.id, written)?
        };
        if withdrawn {
            self.report.withdrawn.push(observation.id);
        }
        Ok(())
    }

    /// The memory that took this one in, if it says the same and holds.
    async fn successor(&self, memory: &Memory) -> Result<Option<Memory>> {
        let Some(id) = memory.superseded_by else { return Ok(None) };
        let found = self.engine.0.store.get(&wide(&memory.scope), &[id]).await?.pop();
        Ok(found.filter(|other| self.holds(other) && same_text(&other.text, &memory.text)))
    }
}
