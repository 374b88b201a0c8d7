//! What has expired or faded is removed; its history stays and says why, unless it is to go as well. Turns fade together,
//! session by session, and the summary that tells of them stays, until it has faded itself and the last of them is gone.

use std::{borrow::Cow, collections::BTreeMap};

use super::{
    Run,
    derive::{rests_on, tells, without_faded},
    ended::{EXPIRED, is_untold},
    summarize::summary_of,
};
use crate::{
    Cursor, ErrorKind, EventKind, Filter, HistoryEvent, Memory, MemoryId, MemoryKind, Put, Result, Scope, Stage,
    Timestamp, Validity, WriteBatch, engine::delete, graph,
};

/// The reason of what is removed since it faded.
const FADED: &str = "faded";

/// A summary counts from when it was written: upkeep that comes late does not take what it has just summed up. A time that
/// lies ahead is that of a clock that was wrong.
fn as_written(memory: &Memory, now: Timestamp) -> Cow<'_, Memory> {
    if memory.kind != MemoryKind::Summary || memory.updated_at <= memory.observed_at || memory.updated_at > now {
        return Cow::Borrowed(memory);
    }
    Cow::Owned(Memory { observed_at: memory.updated_at, ..memory.clone() })
}

impl<'e> Run<'e> {
    pub(super) async fn expire(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let filter = Filter::lte("expires_at", self.now.to_rfc3339());
        let page = self.page(after, Some(filter), Validity::Any).await?;
        for memory in page.items {
            let now = self.now;
            let has_expired = move |memory: &Memory| memory.expires_at.is_some_and(|at| at <= now);
            if self.remove(&memory, EXPIRED, has_expired).await? {
                self.report.expired.push(memory.id);
            }
        }
        Ok(page.next)
    }

    /// Whether a memory has faded so far that it is to go, if that is asked for at all.
    pub(super) fn has_faded(&self) -> impl Fn(&Memory) -> bool + Send + Copy + use<'e> {
        let (engine, now, request) = (self.engine, self.now, self.request);
        move |memory: &Memory| {
            let Some(least) = request.forget_below else { return false };
            let has_ended = memory.invalid_at.is_some_and(|end| end <= now);
            // What is known does not become untrue because nobody spoke of it.
            let is_known = memory.kind.is_semantic() && !has_ended;
            // What this writes itself would be written anew, as long as something is left of what it tells.
            let is_own = match memory.kind {
                MemoryKind::Summary => tells(memory).is_empty() || !rests_on(memory).is_empty(),
                MemoryKind::Observation => !has_ended,
                _ => false,
            };
            memory.kind != MemoryKind::Block
                && !is_own
                && (request.forget_what_holds || !is_known)
                && !memory.pinned
                && engine.0.decay.effective_importance(&as_written(memory, now), now) < least
        }
    }

    pub(super) async fn forget(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let page = self.page(after, None, Validity::Any).await?;
        let has_faded = self.has_faded();
        let mut sessions: BTreeMap<Scope, Vec<MemoryId>> = BTreeMap::new();
        for memory in page.items.into_iter().filter(has_faded) {
            match memory.kind {
                // Most of what fades are turns. They go together, session by session.
                MemoryKind::Episode if rests_on(&memory).is_empty() => {
                    sessions.entry(memory.scope).or_default().push(memory.id);
                }
                MemoryKind::Episode => self.forget_turns(&memory.scope, &[memory.id]).await?,
                MemoryKind::Summary if self.is_any_left(&memory, &[]).await? => {}
                _ => {
                    if self.remove(&memory, FADED, has_faded).await? {
                        self.report.forgotten.push(memory.id);
                    }
                }
            }
        }
        for (session, turns) in sessions {
            self.forget_turns(&session, &turns).await?;
        }
        Ok(page.next)
    }

    /// Whether a turn is there, beside these, for which the summary has to stay: one that it tells of, which may have come
    /// back by an import; if somebody ended it, any of its session, for without it they would be summed up again.
    async fn is_any_left(&self, summary: &Memory, beside: &[MemoryId]) -> Result<bool> {
        let found = self.engine.0.store.get(&summary.scope, &tells(summary)).await?;
        if found.iter().any(|turn| !beside.contains(&turn.id)) {
            return Ok(true);
        }
        let beside = beside.iter().copied().collect();
        Ok(summary.invalid_at.is_some() && !self.turns_beyond(&summary.scope, &beside).await?.is_empty())
    }

    /// Removes turns of one session in one write, in which its summary notes that they have faded: it tells what they told.
    /// With the last of them it goes itself, if it has faded as well.
    async fn forget_turns(&mut self, session: &Scope, turns: &[MemoryId]) -> Result<()> {
        let (engine, has_faded) = (self.engine, self.has_faded());
        let mut summary = summary_of(engine, session).await?;
        let is_reviewed = |known: &&Memory| self.request.review && known.invalid_at.is_none();
        if let Some(known) = summary.as_ref().filter(is_reviewed).filter(|_| !self.request.dry_run) {
            // A turn that was changed is told as it was last before it goes.
            self.review_summary(known).await?;
            summary = summary_of(engine, session).await?;
        }
        let version = delete::graph_version(engine).await?;
        let mut found = engine.0.store.get(session, turns).await?;
        found.retain(has_faded);
        // A dry run takes it that the summary of a quiet session was brought up to date.
        let is_as_it_will_be = self.request.dry_run && self.is_quiet(session, false).await?;
        if self.waits_for_summary(session, summary.as_ref()) && !is_as_it_will_be {
            let told = match &summary {
                Some(summary) if !self.request.review || self.is_sound(summary).await? => tells(summary),
                _ => Vec::new(),
            };
            found.retain(|turn| told.contains(&turn.id) || is_untold(turn));
        }
        if self.request.dry_run {
            self.report.forgotten.extend(found.iter().map(|turn| turn.id));
            return Ok(());
        }
        let mut batch = WriteBatch::default();
        let mut ids: Vec<MemoryId> = found.iter().map(|turn| turn.id).collect();
        if let Some(summary) = summary {
            let mut noted = without_faded(&summary, &found);
            // Also one that told of none of these: somebody had ended it, and it stayed only for their sake.
            if has_faded(&noted) && !self.is_any_left(&noted, &ids).await? {
                ids.push(noted.id);
                self.take_out(&mut batch, noted, FADED);
            } else if noted.sources != summary.sources {
                noted.revision += 1;
                batch.puts.push(Put::change(noted, None, summary.revision));
            }
        }
        let changes = delete::forgotten(engine, session, &ids).await?;
        batch.unchanged = delete::guard(session, version, &changes);
        for turn in found {
            batch.puts.extend(delete::without_its_text(engine, &turn, &[]).await?);
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
