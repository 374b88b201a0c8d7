//! A summary of each session that has become quiet, extended when something is said there again.

use std::collections::HashSet;

use super::{
    Run,
    derive::{least_trusted, message, rest_on, tells},
    ended::is_untold,
};
use crate::{
    Cursor, Filter, ListOrder, ListQuery, Memory, MemoryEngine, MemoryId, MemoryKind, Message, Result, Scope, Validity,
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

/// The id before this one: a walk that goes on after it comes to this one.
pub(super) fn id_before(id: MemoryId) -> MemoryId {
    MemoryId::from_bytes(u128::from_be_bytes(*id.as_bytes()).saturating_sub(1).to_be_bytes())
}

/// The summary of a session, also one that has ended.
pub(super) async fn summary_of(engine: &MemoryEngine, session: &Scope) -> Result<Option<Memory>> {
    let mut query = ListQuery::new(session.clone(), Validity::Any);
    query.filter = Some(Filter::eq("kind", MemoryKind::Summary.as_str()) & Filter::eq("slot", SLOT));
    let found = engine.0.store.list(&query).await?.items;
    Ok(found.into_iter().find(|summary| summary.scope == *session))
}

/// Who sees what a derived memory tells, in whatever session it is.
pub(in crate::engine) fn wide(scope: &Scope) -> Scope {
    let wide = scope.across_sessions();
    if wide.validate().is_ok() { wide } else { scope.clone() }
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
            if self.turn_at(&turn.scope, ListOrder::OldestFirst).await?.is_some_and(|first| first.id == turn.id)
                && !self.summarize_session(&turn, false).await?
            {
                return Ok(Some(Cursor::after(id_before(turn.id))));
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

    /// Whether nothing was said in a session for as long as is asked for; `otherwise` if that is not asked for.
    pub(super) async fn is_quiet(&self, session: &Scope, otherwise: bool) -> Result<bool> {
        let Some(last) = self.turn_at(session, ListOrder::NewestFirst).await? else { return Ok(false) };
        let Some(quiet) = self.request.quiet else { return Ok(otherwise) };
        // One that lies as far ahead was dated by a clock that was wrong.
        let apart = (self.now - last.observed_at).abs();
        Ok(chrono::TimeDelta::from_std(quiet).is_ok_and(|quiet| quiet <= apart))
    }

    /// Brings the summary of a session up to date; `anew` from its beginning. `false` if the call has looked at as much as
    /// it may before that was done.
    pub(super) async fn summarize_session(&mut self, first: &Memory, mut anew: bool) -> Result<bool> {
        let Some(summarizer) = self.engine.summarizer() else { return Ok(true) };
        let session = first.scope.clone();
        // One that is there already is made anew though none are asked for.
        if !self.is_quiet(&session, anew).await? {
            return Ok(true);
        }
        let renewing = anew;
        loop {
            let summary = summary_of(self.engine, &session).await?;
            // Who ended it wants none.
            if summary.as_ref().is_some_and(|summary| summary.invalid_at.is_some()) {
                return Ok(true);
            }
            let kept = summary.as_ref().filter(|_| !anew);
            let covered: HashSet<MemoryId> = kept.map(tells).into_iter().flatten().collect();
            let turns = self.turns_beyond(&session, &covered).await?;
            if turns.is_empty() {
                return Ok(true);
            }
            if self.request.dry_run {
                self.report.summarized.push(first.id);
                return Ok(true);
            }
            let messages: Vec<Message> = turns.iter().map(message).collect();
            let previous = kept.map(|summary| summary.text.clone());
            let Some(text) = self.text_of(&*summarizer, previous.as_deref(), &messages, WORDS).await? else {
                if !self.report.not_summarized.contains(&first.id) {
                    self.report.not_summarized.push(first.id);
                }
                return Ok(true);
            };
            let mut new = match &summary {
                Some(summary) => summary.clone(),
                None => Memory::new(id_after(first.id), session.clone(), "", self.now),
            };
            rest_on(&mut new, &turns, anew);
            (new.text, new.kind, new.slot) = (text, MemoryKind::Summary, Some(SLOT.to_owned()));
            // It tells in the assistant's words what others said.
            new.trust = least_trusted(turns.iter().chain(kept)).max(crate::Trust::Assistant);
            if let (Some(begin), Some(end)) = (turns.first(), turns.last()) {
                new.observed_at = truncate(end.observed_at);
                new.valid_at = kept.map_or(begin.observed_at, |kept| kept.valid_at);
            }
            let id = new.id;
            let written = self.write_derived(summary.as_ref(), new, &turns, "a session became quiet", None).await;
            if !self.made(id, written)? {
                return Ok(true);
            }
            let list = if renewing { &mut self.report.renewed } else { &mut self.report.summarized };
            if list.last() != Some(&id) {
                list.push(id);
            }
            anew = false;
            self.left = self.left.saturating_sub(turns.len());
            // One that is made anew is made whole: nobody may be there to go on with it.
            if self.left == 0 && !renewing && turns.len() == TURNS {
                return Ok(false);
            }
        }
    }

    /// The next turns of a session that are not covered, oldest first.
    pub(super) async fn turns_beyond(&self, session: &Scope, covered: &HashSet<MemoryId>) -> Result<Vec<Memory>> {
        let mut query = ListQuery::new(session.clone(), Validity::Any);
        (query.filter, query.limit) = (Some(episodes()), 500);
        let mut turns = Vec::new();
        loop {
            let page = self.engine.0.store.list(&query).await?;
            let is_beyond = |turn: &Memory| turn.scope == *session && !covered.contains(&turn.id) && !is_untold(turn);
            turns.extend(page.items.into_iter().filter(is_beyond));
            query.after = page.next;
            if turns.len() >= TURNS || query.after.is_none() {
                turns.truncate(TURNS);
                return Ok(turns);
            }
        }
    }
}
