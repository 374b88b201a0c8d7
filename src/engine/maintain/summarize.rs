//! A summary of each session that has become quiet, extended when something is said there again.

use std::collections::HashSet;

use super::{
    Run,
    derive::{least_trusted, message, rests_on},
    forget::FADED,
};
use crate::{
    Cursor, Filter, ListOrder, ListQuery, Memory, MemoryId, MemoryKind, Message, Result, Scope, Source, Validity,
    types::truncate,
};

/// The slot of the summary of a whole session: there is one at a time.
pub(super) const SLOT: &str = "session summary";
/// How many turns are summarised at a time.
const TURNS: usize = 60;
/// Most words of a summary.
const WORDS: usize = 120;

fn episodes() -> Filter {
    Filter::eq("kind", MemoryKind::Episode.as_str())
}

/// A new id of the time of the first turn, the same for whoever makes it: of two workers one gets through.
fn id_after(first: MemoryId) -> MemoryId {
    let mut bytes = *first.as_bytes();
    // The last bytes of an id are random; the marks of its version stand before them.
    for (byte, with) in bytes.iter_mut().skip(10).zip([0x5a, 0xc3, 0x1e, 0x77, 0x94, 0xe9]) {
        *byte ^= with;
    }
    MemoryId::from_bytes(bytes)
}

impl Run<'_> {
    pub(super) async fn summarize(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let page = self.page(after, Some(episodes()), Validity::Any).await?;
        let mut seen: HashSet<Scope> = HashSet::new();
        for turn in page.items {
            if turn.scope.session_id().is_none() || !seen.insert(turn.scope.clone()) {
                continue;
            }
            // A session is dealt with where it begins.
            if self.turn_at(&turn.scope, ListOrder::OldestFirst).await?.is_some_and(|first| first.id == turn.id) {
                self.summarize_session(&turn, false).await?;
            }
        }
        Ok(page.next)
    }

    async fn turn_at(&self, session: &Scope, order: ListOrder) -> Result<Option<Memory>> {
        let mut query = ListQuery::new(session.clone(), Validity::Any);
        (query.filter, query.order, query.limit) = (Some(episodes()), order, 50);
        loop {
            let page = self.engine.0.store.list(&query).await?;
            // An agent may have a session of that name, too.
            let found = page.items.into_iter().find(|turn| turn.scope == *session);
            query.after = page.next;
            if found.is_some() || query.after.is_none() {
                return Ok(found);
            }
        }
    }

    /// Brings the summary of a session up to date; `anew` from its beginning.
    pub(super) async fn summarize_session(&mut self, first: &Memory, mut anew: bool) -> Result<()> {
        let Some(summarizer) = self.engine.summarizer() else { return Ok(()) };
        let session = first.scope.clone();
        let is_quiet = match (self.turn_at(&session, ListOrder::NewestFirst).await?, self.request.quiet) {
            (Some(last), Some(quiet)) => {
                let quiet = chrono::TimeDelta::from_std(quiet).ok();
                let until = quiet.and_then(|quiet| last.observed_at.checked_add_signed(quiet));
                until.is_some_and(|until| until <= self.now)
            }
            // It is there already, and made anew.
            (Some(_), None) => anew,
            (None, _) => false,
        };
        if !is_quiet {
            return Ok(());
        }
        let renewing = anew;
        loop {
            let summary = self.summary_of(&session).await?;
            // Who ended it wants none.
            if summary.as_ref().is_some_and(|summary| summary.invalid_at.is_some()) {
                return Ok(());
            }
            let kept = summary.as_ref().filter(|_| !anew);
            let covered: HashSet<MemoryId> = kept.map(rests_on).into_iter().flatten().collect();
            let turns = self.turns_beyond(&session, &covered).await?;
            if turns.is_empty() {
                return Ok(());
            }
            if self.request.dry_run {
                self.report.summarized.push(first.id);
                return Ok(());
            }
            let messages: Vec<Message> = turns.iter().map(message).collect();
            let previous = kept.map(|summary| summary.text.clone());
            let text = self.text_of(&*summarizer, previous.as_deref(), &messages, WORDS).await?;
            let mut new = match &summary {
                Some(summary) => summary.clone(),
                None => Memory::new(id_after(first.id), session.clone(), "", self.now),
            };
            if anew {
                new.sources.clear();
                new.metadata.remove(FADED);
            }
            new.sources.extend(turns.iter().map(|turn| Source::Memory(turn.id)));
            (new.text, new.kind, new.slot) = (text, MemoryKind::Summary, Some(SLOT.to_owned()));
            // It tells in the assistant's words what others said.
            new.trust = least_trusted(turns.iter().chain(kept)).max(crate::Trust::Assistant);
            if let (Some(begin), Some(end)) = (turns.first(), turns.last()) {
                new.observed_at = truncate(end.observed_at);
                new.valid_at = kept.map_or(begin.observed_at, |kept| kept.valid_at);
            }
            let id = new.id;
            let written = self.write_derived(summary.as_ref(), new, "a session became quiet", None).await;
            if !self.made(id, written)? {
                return Ok(());
            }
            let list = if renewing { &mut self.report.renewed } else { &mut self.report.summarized };
            if list.last() != Some(&id) {
                list.push(id);
            }
            anew = false;
            self.left = self.left.saturating_sub(turns.len());
            // One that is made anew is made whole: nobody may be there to go on with it.
            if self.left == 0 && !renewing {
                return Ok(());
            }
        }
    }

    pub(super) async fn summary_of(&self, session: &Scope) -> Result<Option<Memory>> {
        let mut query = ListQuery::new(session.clone(), Validity::Any);
        query.filter = Some(Filter::eq("kind", MemoryKind::Summary.as_str()) & Filter::eq("slot", SLOT));
        let found = self.engine.0.store.list(&query).await?.items;
        Ok(found.into_iter().find(|summary| summary.scope == *session))
    }

    /// The next turns of a session that are not covered, oldest first.
    async fn turns_beyond(&self, session: &Scope, covered: &HashSet<MemoryId>) -> Result<Vec<Memory>> {
        let mut query = ListQuery::new(session.clone(), Validity::Any);
        (query.filter, query.limit) = (Some(episodes()), 500);
        let mut turns = Vec::new();
        loop {
            let page = self.engine.0.store.list(&query).await?;
            turns.extend(page.items.into_iter().filter(|turn| turn.scope == *session && !covered.contains(&turn.id)));
            query.after = page.next;
            if turns.len() >= TURNS || query.after.is_none() {
                turns.truncate(TURNS);
                return Ok(turns);
            }
        }
    }
}
