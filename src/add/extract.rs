use super::{
    AddContext, AddMode, AddReport, AddRequest, keys,
    recalled::{without_echoes, without_recalled},
    redact,
};
use crate::{
    Actor, CallBudget, ErrorKind, ExtractRequest, Extraction, Fact, Ignored, IndexKey, Memory, MemoryId, MemoryKind,
    Message, Result, Role, Scope, Source, Stage, Timestamp, Trust, types::truncate,
};

/// What came in, before it is held against what is known. Everything has its vector.
pub(super) struct Intake {
    /// The turns to keep.
    pub(super) episodes: Vec<(Memory, Vec<IndexKey>)>,
    /// The facts that were read from them.
    pub(super) facts: Vec<NewFact>,
    /// What is to be told so far.
    pub(super) report: AddReport,
    /// Who causes the changes, if it is known beforehand.
    pub(super) actor: Option<Actor>,
}

/// A fact with what it takes to store it.
#[derive(Debug, Clone)]
pub(super) struct NewFact {
    pub(super) fact: Fact,
    pub(super) vector: Vec<f32>,
    /// When it was said.
    pub(super) observed_at: Timestamp,
    /// The turn it was said in, if that is kept.
    pub(super) episode: Option<MemoryId>,
}

impl NewFact {
    /// Since when it holds. What is only told to have ended, before it was said, has no known beginning: it begins where it
    /// ends.
    pub(super) fn valid_at(&self) -> Timestamp {
        let begin = self.fact.valid_at.map_or(self.observed_at, truncate);
        self.fact.invalid_at.map_or(begin, |end| begin.min(truncate(end)))
    }
}

pub(super) async fn extract(
    context: &AddContext<'_>,
    scope: &Scope,
    request: &AddRequest,
    budget: &CallBudget,
) -> Result<Intake> {
    let mut report = AddReport::new(context.call);
    let own = without_recalled(request, &mut report);
    let extraction = match request.mode {
        AddMode::Raw => Extraction::default(),
        AddMode::Infer | AddMode::Agentic if own.iter().all(|message| message.text.trim().is_empty()) => {
            Extraction::default()
        }
        AddMode::Infer | AddMode::Agentic => read(context, request, &own, budget, &mut report).await?,
    };
    report.model_calls += extraction.model_calls;
    report.usage += extraction.usage;
    report.ignored = extraction.ignored;

    // A turn is kept as it came, if there is more to it than what was recalled.
    let has_own = |number: usize| own.get(number).is_some_and(|message| !message.text.trim().is_empty());
    let turns = request.messages.iter().enumerate();
    let mut memories: Vec<Option<Memory>> =
        turns.map(|(number, message)| episode(context, scope, request, message).filter(|_| has_own(number))).collect();
    if let (Some(once), Some(first)) = (context.once, memories.iter_mut().flatten().next()) {
        first.id = once.memory();
    }
    let facts: Vec<Fact> = extraction
        .facts
        .into_iter()
        .filter_map(|fact| usable(fact, request.messages.len(), &mut report.ignored))
        .collect();
    let mut facts = facts;
    if let Some(redactor) = context.redactor {
        facts.iter_mut().for_each(|fact| redact::fact(redactor, fact));
    }
    let facts = without_echoes(context, scope, &own, facts, &mut report).await?;

    let turns: Vec<&Memory> = memories.iter().flatten().collect();
    let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
    let (keys, vectors) = keys::embed(context.embedder, &turns, &texts).await?;

    let ids: Vec<Option<MemoryId>> = memories.iter().map(|memory| memory.as_ref().map(|memory| memory.id)).collect();
    let episodes: Vec<(Memory, Vec<IndexKey>)> = memories.into_iter().flatten().zip(keys).collect();
    let facts = facts
        .into_iter()
        .zip(vectors)
        .map(|(fact, vector)| {
            let at = request.messages.get(fact.message).and_then(|message| message.at);
            let episode = ids.get(fact.message).copied().flatten();
            NewFact { fact, vector, observed_at: truncate(at.unwrap_or(context.now)), episode }
        })
        .collect();
    report.episodes = episodes.iter().map(|(memory, _)| memory.id).collect();
    Ok(Intake { episodes, facts, report, actor: None })
}

/// What the extractor reads or, if the budget allows no call of a model, the rules.
async fn read(
    context: &AddContext<'_>,
    request: &AddRequest,
    own: &[Message],
    budget: &CallBudget,
    report: &mut AddReport,
) -> Result<Extraction> {
    let in_stage = |error: crate::Error| error.with_stage(Stage::Extract);
    let mut reading = ExtractRequest::new(own, context.now);
    reading.language = request.language.as_deref();
    reading.categories = &request.categories;
    reading.instructions = request.instructions.as_deref();
    reading.relations = context.graph.is_some();
    reading.budget = Some(budget);
    match context.extractor.extract(&reading).await {
        Err(error) if error.kind() == ErrorKind::BudgetExhausted => {
            report.fallbacks.push(Stage::Extract);
            let mut extraction = context.rules.0.extract(&reading).await.map_err(in_stage)?;
            extraction.model_calls += budget.model_calls();
            extraction.usage += budget.usage();
            Ok(extraction)
        }
        extraction => extraction.map_err(in_stage),
    }
}

/// The memory of a turn that is to be kept: what the user said and, if wanted, what the assistant said.
fn episode(context: &AddContext<'_>, scope: &Scope, request: &AddRequest, message: &Message) -> Option<Memory> {
    let trust = match message.role {
        Role::User => Trust::User,
        Role::Assistant if request.assistant_messages => Trust::Assistant,
        Role::Assistant | Role::System | Role::Tool => return None,
    };
    if message.text.trim().is_empty() {
        return None;
    }
    let said_at = truncate(message.at.unwrap_or(context.now));
    let mut memory = Memory::new(context.ids.next(context.now), scope.clone(), message.text.as_str(), context.now);
    memory.kind = MemoryKind::Episode;
    memory.trust = trust;
    memory.speaker.clone_from(&message.speaker);
    memory.metadata.clone_from(&message.metadata);
    memory.observed_at = said_at;
    memory.valid_at = said_at;
    memory.sources = message.id.iter().cloned().map(Source::Message).collect();
    Some(memory)
}

pub(super) fn usable(mut fact: Fact, messages: usize, ignored: &mut Vec<Ignored>) -> Option<Fact> {
    if fact.text.trim().is_empty() {
        ignored.push(Ignored::new("a fact without text"));
        return None;
    }
    if !fact.kind.is_semantic() {
        ignored.push(Ignored::new(format!("a fact of kind `{}`, which is not a kind of fact", fact.kind)));
        return None;
    }
    if fact.message >= messages {
        ignored.push(Ignored::new("a fact that rests on a message which is not there"));
        return None;
    }
    if fact.invalid_at.zip(fact.valid_at).is_some_and(|(end, start)| end < start) {
        ignored.push(Ignored::new("a fact that ceases to hold before it begins to"));
        return None;
    }
    fact.slot = fact.slot.filter(|slot| !slot.trim().is_empty());
    fact.importance = if fact.importance.is_finite() { fact.importance.clamp(0.0, 1.0) } else { 0.5 };
    Some(fact)
}
