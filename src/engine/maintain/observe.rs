//! Facts on one matter, told together: an observation, which counts how many bear it out. The facts stay.

use std::collections::{HashMap, HashSet};

use super::{
    Run,
    derive::{least_trusted, message, rest_on, rests_on},
    ended::{is_ended_by_others, is_untold},
    semantic,
    summarize::wide,
};
use crate::{
    Cursor, Filter, ListQuery, Memory, MemoryId, MemoryKind, Message, Result, SearchQuery, Unchanged, Validity,
    score::{conditions, relatedness::share_words},
};

/// How near two facts are at least that are on one matter, beside sharing a word that says something.
const NEAR: f32 = 0.5;
/// Neighbours looked at.
const NEIGHBOURS: usize = 30;
/// Most facts that one observation rests on.
const FACTS: usize = 20;
/// Most words of an observation by a model.
const WORDS: usize = 60;
/// The metadata key that says how many facts bear an observation out.
pub(super) const PROOFS: &str = "proof_count";

/// What facts have in common that may be told together.
fn agree(one: &Memory, other: &Memory) -> bool {
    one.scope.across_sessions() == other.scope.across_sessions()
        && one.speaker == other.speaker
        && share_words(matter(&one.text), matter(&other.text))
}

/// A fact without its first word, the verb in most: everything that somebody likes is not one matter.
fn matter(text: &str) -> &str {
    text.trim().split_once(char::is_whitespace).map_or(text, |(_, rest)| rest)
}

/// What observations tell, or told.
#[derive(Default)]
struct Told {
    /// The facts of those that have not ended.
    facts: HashSet<MemoryId>,
    /// By fact, those that have.
    ended: HashMap<MemoryId, Vec<Memory>>,
}

impl Run<'_> {
    pub(super) async fn observe(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let Some(least) = self.request.observe else { return Ok(None) };
        let filter = Filter::any_of("kind", ["fact", "preference", "procedure"]);
        let page = self.page(after, Some(filter), Validity::Current(self.now)).await?;
        if page.items.is_empty() {
            return Ok(page.next);
        }
        let mut told = self.told().await?;
        for fact in page.items {
            if !told.facts.contains(&fact.id) {
                let now_told = self.observe_matter(&fact, &told, least).await?;
                told.facts.extend(now_told);
            }
        }
        Ok(page.next)
    }

    async fn told(&self) -> Result<Told> {
        let mut told = Told::default();
        // What one session taught is observed across them.
        let mut query = ListQuery::new(wide(self.scope), Validity::Any);
        (query.filter, query.limit) = (Some(Filter::eq("kind", MemoryKind::Observation.as_str())), 1_000);
        loop {
            let page = self.engine.0.store.list(&query).await?;
            for observation in page.items {
                let is_over = |end: Option<crate::Timestamp>| end.is_some_and(|end| end <= self.now);
                if is_over(observation.invalid_at) || is_over(observation.expires_at) {
                    for fact in rests_on(&observation) {
                        told.ended.entry(fact).or_default().push(observation.clone());
                    }
                } else {
                    told.facts.extend(rests_on(&observation));
                }
            }
            query.after = page.next;
            if query.after.is_none() {
                return Ok(told);
            }
        }
    }

    /// Whether somebody ended an observation that told this fact: it does not come back by itself.
    async fn is_told_no_more(&self, fact: &Memory, told: &Told) -> Result<bool> {
        if is_untold(fact) {
            return Ok(true);
        }
        for observation in told.ended.get(&fact.id).into_iter().flatten() {
            if is_ended_by_others(self.engine, observation).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tells the matter of a fact, if there are facts enough on it, and says which were told.
    async fn observe_matter(&mut self, fact: &Memory, told: &Told, least: usize) -> Result<Vec<MemoryId>> {
        let store = &self.engine.0.store;
        let since = store.version().await?;
        let Some(key) = store.keys(&fact.scope, fact.id).await?.into_iter().next() else { return Ok(Vec::new()) };
        let reader = wide(&fact.scope);
        let query = SearchQuery::new(reader.clone(), self.now).near(key.vector).filter(Some(semantic()));
        let mut found = store.search(&query.limit(NEIGHBOURS)).await?;
        found.retain(|candidate| candidate.cosine.unwrap_or(0.0) >= NEAR);
        found.sort_by(|a, b| b.cosine.unwrap_or(0.0).total_cmp(&a.cosine.unwrap_or(0.0)).then(a.id.cmp(&b.id)));
        let ids: Vec<MemoryId> = found.iter().map(|candidate| candidate.id).collect();
        let near = store.get(&reader, &ids).await?;
        // A matter that is told already takes the fact in.
        let known = near.iter().find(|one| {
            one.kind == MemoryKind::Observation
                && one.metadata.contains_key(PROOFS)
                && agree(one, fact)
                && rests_on(one).len() < FACTS
                && one.slot.is_none()
        });
        let is_told = known.is_some_and(|known| rests_on(known).contains(&fact.id));
        if is_told || self.is_told_no_more(fact, told).await? {
            return Ok(Vec::new());
        }
        let mut facts = vec![fact.clone()];
        if known.is_none() {
            let is_free = |one: &&Memory| {
                one.kind != MemoryKind::Observation
                    && one.id != fact.id
                    && !told.facts.contains(&one.id)
                    && agree(one, fact)
            };
            for one in near.iter().filter(is_free) {
                if facts.len() < FACTS && !self.is_told_no_more(one, told).await? {
                    facts.push(one.clone());
                }
            }
            if facts.len() < least {
                return Ok(Vec::new());
            }
            facts.sort_by_key(|fact| (fact.valid_at, fact.id));
        }
        let ids: Vec<MemoryId> = facts.iter().map(|fact| fact.id).collect();
        if self.request.dry_run {
            self.report.observed.push(fact.id);
            return Ok(ids);
        }
        let guard = self.engine.0.store.capabilities().guards.then(|| Unchanged::new(reader, since));
        let new = self.observation(known, &facts).await?;
        let id = new.id;
        let written = self.write_derived(known, new, &facts, "facts on one matter", guard).await;
        if !self.made(id, written)? {
            return Ok(Vec::new());
        }
        if !self.report.observed.contains(&id) {
            self.report.observed.push(id);
        }
        Ok(ids)
    }

    /// An observation of what an earlier one tells, and of these facts.
    pub(super) async fn observation(&mut self, known: Option<&Memory>, facts: &[Memory]) -> Result<Memory> {
        // Word for word: what a condition is, only a reader knows.
        let word_for_word = || {
            let told = known.map(|known| known.text.as_str()).into_iter();
            let told = told.chain(facts.iter().map(|fact| fact.text.trim().trim_end_matches('.')));
            told.collect::<Vec<_>>().join("; ")
        };
        let text = match self.engine.prompted_summarizer() {
            Some(summarizer) => {
                let messages: Vec<Message> = facts.iter().map(message).collect();
                let previous = known.map(|known| known.text.clone());
                let retold = self.text_of(&*summarizer, previous.as_deref(), &messages, WORDS).await?;
                let told = facts.iter().chain(known).map(|memory| memory.text.as_str());
                // A model that leaves out under what condition something holds says what nobody has said.
                let keeps_all = |retold: &String| told.clone().all(|told| conditions::kept(told, retold));
                retold.filter(keeps_all).unwrap_or_else(word_for_word)
            }
            None => word_for_word(),
        };
        let first = known.or(facts.first());
        let scope = first.map_or_else(|| self.scope.clone(), |first| wide(&first.scope));
        let mut new = match known {
            Some(known) => known.clone(),
            None => Memory::new(self.engine.0.ids.next(self.now), scope, "", self.now),
        };
        new.text = text;
        new.kind = MemoryKind::Observation;
        rest_on(&mut new, facts, known.is_none());
        let told = known.map(|known| known.importance).into_iter().chain(facts.iter().map(|fact| fact.importance));
        new.importance = told.reduce(f32::max).unwrap_or(new.importance);
        for fact in facts {
            new.categories.extend(
                fact.categories
                    .iter()
                    .filter(|one| !known.is_some_and(|known| known.categories.contains(one)))
                    .cloned(),
            );
        }
        new.categories.sort();
        new.categories.dedup();
        new.speaker = first.and_then(|first| first.speaker.clone());
        new.trust = least_trusted(facts.iter().chain(known));
        let begin = facts.iter().chain(known).map(|memory| memory.valid_at).min();
        let last = facts.iter().chain(known).map(|memory| memory.observed_at).max();
        (new.valid_at, new.observed_at) = (begin.unwrap_or(self.now), last.unwrap_or(self.now));
        new.metadata.insert(PROOFS.to_owned(), rests_on(&new).len().into());
        Ok(new)
    }
}
