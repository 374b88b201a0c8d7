//! What has expired or faded is removed; its history stays and says why, unless it is to go as well. Turns fade together,
//! session by session, and the summary that tells of them stays.

use std::collections::BTreeMap;

use super::{Run, derive::rests_on};
use crate::{
    Cursor, ErrorKind, EventKind, Filter, HistoryEvent, Memory, MemoryId, MemoryKind, Put, Result, Scope, Stage,
    Validity, WriteBatch, engine::delete, graph,
};

/// The reason of what is removed since it faded, and the metadata key under which a summary counts such turns of its own.
pub(super) const FADED: &str = "faded";

/// How many of the turns that a summary tells have faded.
pub(super) fn faded_of(summary: &Memory) -> u64 {
    summary.metadata.get(FADED).and_then(serde_json::Value::as_u64).unwrap_or_default()
}

impl Run<'_> {
    pub(super) async fn expire(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let filter = Filter::lte("expires_at", self.now.to_rfc3339());
        let page = self.page(after, Some(filter), Validity::Any).await?;
        for memory in page.items {
            let now = self.now;
            let has_expired = move |memory: &Memory| memory.expires_at.is_some_and(|at| at <= now);
            if self.remove(&memory, "expired", has_expired).await? {
                self.report.expired.push(memory.id);
            }
        }
        Ok(page.next)
    }

    pub(super) async fn forget(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let Some(least) = self.request.forget_below else { return Ok(None) };
        let page = self.page(after, None, Validity::Any).await?;
        let (engine, now, what_holds) = (self.engine, self.now, self.request.forget_what_holds);
        let has_faded = move |memory: &Memory| {
            // What is known does not become untrue because nobody spoke of it.
            let is_known = memory.kind.is_semantic() && memory.invalid_at.is_none_or(|end| end > now);
            // What this writes itself would be written anew, as long as something is left of what it tells.
            let is_own = match memory.kind {
                MemoryKind::Summary => faded_of(memory) < rests_on(memory).len() as u64 || rests_on(memory).is_empty(),
                MemoryKind::Observation => memory.invalid_at.is_none_or(|end| end > now),
                _ => false,
            };
            memory.kind != MemoryKind::Block
                && !is_own
                && (what_holds || !is_known)
                && !memory.pinned
                && engine.0.decay.effective_importance(memory, now) < least
        };
        let mut sessions: BTreeMap<Scope, Vec<MemoryId>> = BTreeMap::new();
        for memory in page.items.into_iter().filter(has_faded) {
            // Most of what fades are turns. They go together, session by session; what else tells of other memories goes
            // by itself.
            if memory.kind == MemoryKind::Episode && rests_on(&memory).is_empty() {
                sessions.entry(memory.scope).or_default().push(memory.id);
            } else if self.remove(&memory, FADED, has_faded).await? {
                self.report.forgotten.push(memory.id);
            }
        }
        for (session, turns) in sessions {
            self.forget_turns(&session, &turns, has_faded).await?;
        }
        Ok(page.next)
    }

    /// Removes turns of one session in one write, in which its summary notes that they have faded: it tells what they told.
    async fn forget_turns(
        &mut self,
        session: &Scope,
        turns: &[MemoryId],
        still: impl Fn(&Memory) -> bool + Send + Copy,
    ) -> Result<()> {
        if self.request.dry_run {
            self.report.forgotten.extend(turns);
            return Ok(());
        }
        let engine = self.engine;
        let version = delete::graph_version(engine).await?;
        let mut found = engine.0.store.get(session, turns).await?;
        found.retain(still);
        let mut batch = WriteBatch::default();
        let summary = self.summary_of(session).await?;
        if self.waits_for_summary(session, summary.as_ref()) {
            let told = summary.as_ref().map(rests_on).unwrap_or_default();
            found.retain(|turn| told.contains(&turn.id));
        }
        let ids: Vec<MemoryId> = found.iter().map(|turn| turn.id).collect();
        if let Some(summary) = summary {
            let told = rests_on(&summary);
            let faded = ids.iter().filter(|id| told.contains(id)).count() as u64;
            let mut noted = summary.clone();
            noted.metadata.insert(FADED.to_owned(), (faded_of(&summary) + faded).into());
            noted.revision += 1;
            if faded > 0 {
                batch.puts.push(Put::change(noted, None, summary.revision));
            }
        }
        let changes = delete::forgotten(engine, session, &ids).await?;
        batch.unchanged = delete::guard(session, version, &changes);
        for turn in found {
            self.take_out(&mut batch, turn, FADED);
        }
        if batch.deletes.is_empty() {
            return Ok(());
        }
        match graph::write_deletion(&*engine.0.store, engine.graph_part(), batch, changes).await {
            Ok(_) => self.report.forgotten.extend(ids),
            // The next call finds what is left.
            Err(error) if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::NotFound) => {
                self.report.busy.extend(ids);
            }
            Err(error) => return Err(error.with_stage(Stage::Store)),
        }
        Ok(())
    }

    /// Whether turns of the session go only once its summary tells of them: where summaries are written, and nobody has
    /// ended this one.
    fn waits_for_summary(&self, session: &Scope, summary: Option<&Memory>) -> bool {
        self.request.quiet.is_some()
            && session.session_id().is_some()
            && self.engine.summarizer().is_some()
            && summary.is_none_or(|summary| summary.invalid_at.is_none())
    }

    /// Puts the removal of a memory into a batch: with an event that says why, or without a trace.
    fn take_out(&self, batch: &mut WriteBatch, memory: Memory, why: &str) {
        batch.deletes.push(memory.id);
        if self.request.erase_history {
            batch.erase_history.push(memory.id);
            return;
        }
        let stamp = self.because(why);
        batch.events.push(HistoryEvent::new(
            memory.id,
            memory.scope,
            EventKind::Delete,
            Some(memory.text),
            None,
            stamp,
        ));
    }

    /// Removes a memory if `still` holds when it is written.
    pub(super) async fn remove(
        &mut self,
        memory: &Memory,
        why: &str,
        still: impl Fn(&Memory) -> bool + Send,
    ) -> Result<bool> {
        if self.request.dry_run {
            return Ok(true);
        }
        let (reason, traceless) = (self.because(why), self.request.erase_history);
        let removed = delete::delete_if(self.engine, &memory.scope, memory.id, &reason, traceless, still).await;
        self.made(memory.id, removed)
    }
}
