use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{Conversation, Dataset, FactCounts, Report};
use crate::{AddMode, AddRequest, Error, Hit, MemoryEngine, MemoryId, Message, Result, Scope, SearchRequest, Source};

/// How many turns a search is asked for and timed with.
const SHORT: usize = 10;
/// How many it is asked for where ten do not reach: sessions, ranks.
const LONG: usize = 100;

/// What a search found for one question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Ranked {
    /// The turns among the first ten hits, by their place in the conversation, best first.
    pub turns: Vec<usize>,
    /// The same for the first hundred hits.
    pub longer: Vec<usize>,
    /// The sessions of the first hundred hits, each at its best turn: ten turns hardly reach ten sessions.
    pub sessions: Vec<String>,
    /// How long the search for ten took.
    pub elapsed: Duration,
}

impl Ranked {
    /// What was found, for searches outside this crate: the places of turns, best first, without repeats; those
    /// after the hundredth are dropped. Sessions and the first ten follow from them.
    #[must_use]
    pub fn new(conversation: &Conversation, mut longer: Vec<usize>, elapsed: Duration) -> Self {
        longer.truncate(LONG);
        let turns = longer.iter().copied().take(SHORT).collect();
        let mut ranked = Self { turns, longer, sessions: Vec::new(), elapsed };
        ranked.sessions = ranked.sessions_in(conversation);
        ranked
    }

    fn sessions_in(&self, conversation: &Conversation) -> Vec<String> {
        let mut sessions: Vec<String> = Vec::new();
        for turn in self.longer.iter().filter_map(|place| conversation.turns.get(*place)) {
            if !sessions.contains(&turn.session) {
                sessions.push(turn.session.clone());
            }
        }
        sessions
    }
}

/// What became of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Ingested {
    /// Which memory each turn became.
    pub turns: Vec<MemoryId>,
    /// What became of the facts that were read from them.
    pub facts: FactCounts,
}

/// Stores a conversation turn by turn, one call each as a chat would, and returns which memory each turn became.
///
/// The user of the scope is the conversation's name, the session that of the turn, the message's id the turn's.
/// Nothing is read from the turns ([`AddMode::Raw`]). Not atomic: what was stored before an error stays.
///
/// # Errors
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a turn that is blank or neither the user's nor the
/// assistant's; what [`add`](MemoryEngine::add) reports.
pub async fn ingest(engine: &MemoryEngine, conversation: &Conversation) -> Result<Vec<MemoryId>> {
    Ok(store(engine, conversation, AddMode::Raw).await?.turns)
}

/// As [`ingest`], but the engine reads facts from the turns ([`AddMode::Infer`]) and holds them against what is known:
/// with [`GivenFacts`](super::GivenFacts) as its extractor those that the data set gives.
///
/// # Errors
/// As [`ingest`].
pub async fn ingest_with_facts(engine: &MemoryEngine, conversation: &Conversation) -> Result<Ingested> {
    store(engine, conversation, AddMode::Infer).await
}

async fn store(engine: &MemoryEngine, conversation: &Conversation, mode: AddMode) -> Result<Ingested> {
    let mut ingested = Ingested::default();
    for (place, turn) in conversation.turns.iter().enumerate() {
        let mut message = Message::new(turn.role, &turn.text).with_id(&turn.id);
        message.speaker.clone_from(&turn.speaker);
        message.at = turn.at;
        if !turn.can_be_kept() {
            let why = "it is blank, or neither the user's nor the assistant's";
            return Err(Error::invalid(format!("turn {} cannot be remembered: {why}", place + 1)));
        }
        let scope = Scope::user(&conversation.name).with_session(&turn.session);
        let report = engine.add(&scope, AddRequest::new([message]).mode(mode)).await?;
        ingested.facts.count(&report);
        ingested.turns.extend(report.episodes);
    }
    Ok(ingested)
}

/// Asks every question of a conversation that was ingested, and returns what was found, in the order of the questions.
///
/// `ids` are what [`ingest`] returned. `template` says how to search; its query, its limit and when it is asked are
/// replaced: a question without a time of its own is asked when the last turn was said. Each question is searched for
/// twice: for ten hits, which is timed, and for a hundred. A hit that was made from turns of the conversation, as a fact
/// is, stands for these (its [`sources`](crate::Memory::sources)); a turn counts where it comes first. Other hits take up
/// room, and are left out then.
///
/// # Errors
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) if there are not as many ids as turns; what
/// [`search`](MemoryEngine::search) reports.
pub async fn retrieve(
    engine: &MemoryEngine,
    conversation: &Conversation,
    ids: &[MemoryId],
    template: &SearchRequest,
) -> Result<Vec<Ranked>> {
    if ids.len() != conversation.turns.len() {
        let message = format!("{} ids for {} turns", ids.len(), conversation.turns.len());
        return Err(Error::invalid(message));
    }
    let places: HashMap<MemoryId, usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    let scope = Scope::user(&conversation.name);
    let last = conversation.turns.iter().filter_map(|turn| turn.at).max();
    let mut all = Vec::with_capacity(conversation.questions.len());
    for question in &conversation.questions {
        let mut request = template.clone();
        request.query.clone_from(&question.text);
        request.asked_at = question.asked_at.or(last).map(Into::into);
        let start = Instant::now();
        let short = engine.search(&scope, request.clone().limit(SHORT)).await?;
        let elapsed = start.elapsed();
        let long = engine.search(&scope, request.limit(LONG)).await?;
        // Not the first ten of the hundred: they may differ, and what is timed is what is scored.
        let (turns, longer) = (turns_of(&short, &places, SHORT), turns_of(&long, &places, LONG));
        let mut ranked = Ranked { turns, longer, sessions: Vec::new(), elapsed };
        ranked.sessions = ranked.sessions_in(conversation);
        all.push(ranked);
    }
    Ok(all)
}

/// The turns that hits are or were made from, each where it comes first; at most `most`.
fn turns_of(hits: &[Hit], places: &HashMap<MemoryId, usize>, most: usize) -> Vec<usize> {
    let mut turns: Vec<usize> = Vec::with_capacity(hits.len());
    for hit in hits {
        let made_from = hit.memory.sources.iter().filter_map(|source| match source {
            Source::Memory(id) => places.get(id),
            Source::Message(_) | Source::Faded(_) => None,
        });
        for place in places.get(&hit.memory.id).into_iter().chain(made_from) {
            if !turns.contains(place) {
                turns.push(*place);
            }
        }
    }
    turns.truncate(most);
    turns
}

/// Ingests all conversations into one engine, each under its own user, asks all questions, and reports.
///
/// The engine should be empty: what it already holds for a user of that name would be found too.
///
/// # Errors
/// As [`ingest`] and [`retrieve`].
pub async fn run(engine: &MemoryEngine, dataset: &Dataset, template: &SearchRequest) -> Result<Report> {
    let mut report = Report::over(dataset);
    for conversation in &dataset.conversations {
        let ids = ingest(engine, conversation).await?;
        let found = retrieve(engine, conversation, &ids, template).await?;
        report.add(conversation, &found);
    }
    Ok(report)
}
