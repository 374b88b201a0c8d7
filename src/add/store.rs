use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    AddContext, AddReport, SkipReason, SkippedFact,
    extract::{Intake, NewFact},
    keys,
    later::Once,
    reconcile::CheckedPlan,
    relate::relate,
    slots,
};
use crate::{
    Action, Actor, EmbedderExt, EventKind, ExtractedRelation, HistoryEvent, IndexKey, Memory, MemoryId, Neighbour,
    Plan, Purpose, Put, Result, Scope, Source, Stage, Stamp, Timestamp, Trust, Unchanged, Version, WriteBatch,
    cues::looks_like_instruction,
    graph::Changes,
    types::{quarantine, truncate},
};

/// Marks, in a memory's metadata, that the words it rests on were not found in the messages.
const UNVERIFIED: &str = "unverified";

/// All that an add writes, and what it will say once it is written.
pub(super) struct Prepared {
    pub(super) batch: WriteBatch,
    pub(super) changes: Changes,
    pub(super) report: AddReport,
}

/// Turns a plan into one batch. Nothing is written here, and nothing is asked of a model but the vectors of new texts.
pub(super) async fn prepare(
    context: &AddContext<'_>,
    scope: &Scope,
    intake: &Intake,
    checked: &CheckedPlan,
    version: Version,
) -> Result<Prepared> {
    let CheckedPlan { neighbours, slots, plan, meant, by_rules, made: _ } = checked;
    let Plan { actions, meanings: _, rejected, account, model_calls, usage } = plan;
    let mut report = intake.report.clone();
    if *by_rules {
        report.fallbacks.push(Stage::Reconcile);
    }
    report.rejected.clone_from(rejected);
    report.account.clone_from(account);
    report.model_calls += model_calls;
    report.usage += *usage;

    let decided_by = if report.model_calls > 0 { Actor::Model } else { Actor::Rules };
    let actor = intake.actor.unwrap_or(decided_by);
    let mut draft = Draft {
        now: truncate(context.now),
        said_at: intake.facts.iter().map(|new| new.observed_at).max().unwrap_or_else(|| truncate(context.now)),
        stamp: Stamp::new(truncate(context.now), actor, context.call),
        batch: WriteBatch::default(),
        report,
    };
    let facts = facts_by_turn(intake, actions);
    for (memory, keys) in &intake.episodes {
        let mut keys = keys.clone();
        let facts = facts.get(&memory.id).into_iter().flatten();
        keys::extend(memory, &mut keys, facts.map(|new| IndexKey::new(new.fact.text.as_str(), new.vector.clone())));
        draft.put_new(memory.clone(), keys, Stamp { actor: Actor::App, ..draft.stamp.clone() });
    }
    let mut fresh = new_memories(context, scope, intake, actions);
    let vectors = updated_vectors(context, intake, actions).await?;
    // Updates first: others may refer to them.
    let mut updated: HashMap<usize, Memory> = HashMap::new();
    for action in actions {
        if let Action::Update { neighbour, fact, text } = action
            && let (Some(known), Some(vector)) = (neighbours.get(*neighbour), vectors.get(text.as_str()))
        {
            let new = fact.and_then(|fact| intake.facts.get(fact));
            let memory = draft.update(known.memory.clone(), text, vector.clone(), new);
            updated.extend(fact.map(|fact| (fact, memory)));
        }
    }
    for action in actions {
        let neighbour = |number: usize| neighbours.get(number).map(|neighbour| neighbour.memory.clone());
        match action {
            Action::Add { .. } | Action::Update { .. } => {}
            Action::Skip { fact, neighbour } => {
                let new = intake.facts.get(*fact).map(|new| &new.fact);
                let text = new.map(|fact| fact.text.clone()).unwrap_or_default();
                let known = neighbour.and_then(|number| neighbours.get(number)).map(|known| known.memory.id);
                let reason = match known {
                    None if new.is_some_and(|fact| fact.ends_only) => SkipReason::NothingToEnd,
                    _ => SkipReason::Known,
                };
                draft.report.skipped.push(SkippedFact { text, known, reason });
            }
            Action::Invalidate { neighbour: number, fact } => {
                let Some(memory) = neighbour(*number) else { continue };
                match fact.and_then(|fact| fresh.get_mut(&fact)) {
                    // The slot itself tells below which of the two ends.
                    Some(successor) if successor.slot.is_some() && successor.slot == memory.slot => {}
                    Some(successor) => draft.supersede(memory, successor),
                    // The fact may have gone into another memory, which then is the successor.
                    None => match fact.and_then(|fact| updated.get(&fact)) {
                        Some(successor) => draft.end_by(memory, successor),
                        None => draft.withdraw(memory, fact.and_then(|fact| intake.facts.get(fact))),
                    },
                }
            }
        }
    }
    // What the plan lets stand beside what fills its slot ("no longer works at Bolt") takes no part.
    let (beside, mut chained): (BTreeMap<usize, Memory>, BTreeMap<usize, Memory>) =
        fresh.into_iter().partition(|(_, memory)| stands_beside(memory, neighbours, actions));
    let ends = slots::settle(&mut chained, slots, draft.now);
    let mut fresh: BTreeMap<usize, Memory> = beside.into_iter().chain(chained).collect();
    for (id, number) in ends {
        let ended = neighbours.iter().find(|neighbour| neighbour.memory.id == id && !draft.touches(id));
        if let (Some(ended), Some(successor)) = (ended, fresh.get(&number)) {
            draft.end_by(ended.memory.clone(), successor);
        }
    }
    let mut went: BTreeMap<usize, MemoryId> = updated.iter().map(|(fact, memory)| (*fact, memory.id)).collect();
    went.extend(actions.iter().filter_map(|action| match action {
        Action::Skip { fact, neighbour: Some(known) } => Some((*fact, neighbours.get(*known)?.memory.id)),
        _ => None,
    }));
    for (number, new) in intake.facts.iter().enumerate() {
        if let Some(memory) = fresh.remove(&number) {
            went.insert(number, memory.id);
            let key = IndexKey::new(memory.text.clone(), new.vector.clone());
            if new.fact.verified == Some(false) {
                draft.report.unverified.push(memory.id);
            }
            draft.report.added.push(memory.clone());
            draft.put_new(memory, vec![key], draft.stamp.clone());
        }
    }
    for new in &intake.aside {
        let mut memory = new_memory(new, context.ids.next(context.now), scope, context.now);
        let relations: &[ExtractedRelation] = if context.graph.is_some() { &new.fact.relations } else { &[] };
        quarantine::keep_aside(&mut memory, &relations);
        draft.report.quarantined.push(memory.clone());
        let key = IndexKey::new(memory.text.clone(), new.vector.clone());
        draft.put_new(memory, vec![key], draft.stamp.clone().because("kept aside"));
    }
    let written = draft.batch.puts.iter().map(|put| &put.memory);
    let flagged = written.filter(|memory| draft.report.tells(memory) && looks_like_instruction(&memory.text));
    draft.report.flagged = flagged.map(|memory| memory.id).collect();
    if !intake.facts.is_empty() && context.store.capabilities().guards {
        draft.batch.unchanged = Some(Unchanged::new(scope.across_sessions(), version));
    }
    let changes = relate(context, scope, intake, neighbours, &went, meant, &mut draft.report)
        .await
        .map_err(|error| error.with_stage(Stage::Store))?;
    let new = changes.batch.relations.iter().filter(|relation| changes.new_relations.contains(&relation.id));
    draft.report.relations = new.cloned().collect();
    Ok(Prepared { batch: draft.batch, changes, report: draft.report })
}

/// Whether the plan saw what fills the memory's slot and let all of it be.
fn stands_beside(memory: &Memory, neighbours: &[Neighbour], actions: &[Action]) -> bool {
    let holds = |near: &Neighbour| memory.slot.is_some() && near.memory.slot == memory.slot;
    let touched = actions.iter().any(|action| match action {
        Action::Invalidate { neighbour, .. } | Action::Update { neighbour, .. } => {
            neighbours.get(*neighbour).is_some_and(holds)
        }
        Action::Add { .. } | Action::Skip { .. } => false,
    });
    !touched && neighbours.iter().any(holds)
}

/// The facts of each turn, of those that become memories. A fact that is skipped gives its turn no key: it belongs to a
/// memory that does not know of this turn, and so could not take its text along when it is deleted.
fn facts_by_turn<'i>(intake: &'i Intake, actions: &[Action]) -> HashMap<MemoryId, Vec<&'i NewFact>> {
    let stored: HashSet<usize> = actions
        .iter()
        .filter_map(|action| match action {
            Action::Add { fact } | Action::Update { fact: Some(fact), .. } => Some(*fact),
            Action::Update { fact: None, .. } | Action::Invalidate { .. } | Action::Skip { .. } => None,
        })
        .collect();
    let mut facts: HashMap<MemoryId, Vec<&NewFact>> = HashMap::new();
    for (_, new) in intake.facts.iter().enumerate().filter(|(number, _)| stored.contains(number)) {
        if let Some(turn) = new.episode {
            facts.entry(turn).or_default().push(new);
        }
    }
    facts
}

/// A memory for each fact that the plan adds.
fn new_memories(
    context: &AddContext<'_>,
    scope: &Scope,
    intake: &Intake,
    actions: &[Action],
) -> BTreeMap<usize, Memory> {
    let added = actions.iter().filter_map(|action| match action {
        Action::Add { fact } => Some(*fact),
        Action::Update { .. } | Action::Invalidate { .. } | Action::Skip { .. } => None,
    });
    let mut numbers: Vec<usize> = added.collect();
    numbers.sort_unstable();
    let mut given = context.once.filter(|_| intake.episodes.is_empty()).map(Once::memory);
    let memory = |number: usize| {
        let new = intake.facts.get(number)?;
        let id = given.take().unwrap_or_else(|| context.ids.next(context.now));
        Some((number, new_memory(new, id, scope, context.now)))
    };
    numbers.into_iter().filter_map(memory).collect()
}

/// The memory that is made of a fact.
fn new_memory(new: &NewFact, id: MemoryId, scope: &Scope, now: Timestamp) -> Memory {
    let mut memory = Memory::new(id, scope.clone(), new.fact.text.as_str(), now);
    memory.kind = new.fact.kind.clone();
    memory.categories.clone_from(&new.fact.categories);
    memory.importance = new.fact.importance;
    memory.slot.clone_from(&new.fact.slot);
    memory.speaker.clone_from(&new.fact.speaker);
    memory.trust = new.fact.trust;
    memory.sources = new.episode.into_iter().map(Source::Memory).collect();
    memory.observed_at = new.observed_at;
    memory.valid_at = new.valid_at();
    memory.invalid_at = new.fact.invalid_at.map(truncate);
    if new.fact.verified == Some(false) {
        memory.metadata.insert(UNVERIFIED.to_owned(), true.into());
    }
    memory
}

/// The vectors of the texts that memories are changed to; those of facts are there already.
async fn updated_vectors<'a>(
    context: &AddContext<'_>,
    intake: &'a Intake,
    actions: &'a [Action],
) -> Result<HashMap<&'a str, Vec<f32>>> {
    let mut vectors: HashMap<&str, Vec<f32>> =
        intake.facts.iter().map(|new| (new.fact.text.as_str(), new.vector.clone())).collect();
    let mut missing: Vec<&str> = actions
        .iter()
        .filter_map(|action| match action {
            Action::Update { text, .. } if !vectors.contains_key(text.as_str()) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    missing.sort_unstable();
    missing.dedup();
    let found = context.embedder.embed_checked(&missing, Purpose::Document).await;
    vectors.extend(missing.into_iter().zip(found.map_err(|error| error.with_stage(Stage::Embed))?));
    Ok(vectors)
}

struct Draft {
    now: crate::Timestamp,
    /// When the last of the facts was said: since then what was withdrawn without a fact holds no longer.
    said_at: crate::Timestamp,
    stamp: Stamp,
    batch: WriteBatch,
    report: AddReport,
}

impl Draft {
    fn put_new(&mut self, memory: Memory, keys: Vec<IndexKey>, stamp: Stamp) {
        self.event(&memory, EventKind::Add, None, Some(memory.text.clone()), stamp);
        self.batch.puts.push(Put::new(memory, keys));
    }

    fn update(&mut self, mut memory: Memory, text: &str, vector: Vec<f32>, new: Option<&NewFact>) -> Memory {
        let (old_text, revision) = (std::mem::replace(&mut memory.text, text.to_owned()), memory.revision);
        if let Some(new) = new {
            memory.observed_at = memory.observed_at.max(new.observed_at);
            memory.importance = memory.importance.max(new.fact.importance);
            memory.valid_at = new.fact.valid_at.map_or(memory.valid_at, truncate);
            // An end that was known, and lies before the new beginning, was that of what it used to say.
            let known = memory.invalid_at.filter(|end| *end > memory.valid_at);
            memory.invalid_at = new.fact.invalid_at.map(truncate).or(known).map(|end| end.max(memory.valid_at));
            memory.slot = new.fact.slot.clone().or(memory.slot);
            // What it says now is partly the word of somebody else than the user.
            if new.fact.trust != Trust::User {
                memory.trust = memory.trust.max(new.fact.trust);
            }
            cite(&mut memory, new);
        }
        self.touch(&mut memory);
        self.event(&memory, EventKind::Update, Some(old_text), Some(text.to_owned()), self.stamp.clone());
        self.report.updated.push(memory.clone());
        self.batch.puts.push(Put::change(memory.clone(), Some(vec![IndexKey::new(text, vector)]), revision));
        memory
    }

    /// Ends the older of the two where the newer begins; the newer is the one that was said later. News that was said
    /// earlier, as in an import of old chats, is the older one: it is born closed.
    fn supersede(&mut self, memory: Memory, successor: &mut Memory) {
        // What is told of a time that is over ends nothing that holds today.
        if successor.invalid_at.is_some_and(|end| end <= self.now) {
            return;
        }
        if successor.observed_at < memory.observed_at {
            let end = memory.valid_at.max(successor.valid_at);
            successor.invalid_at = Some(successor.invalid_at.map_or(end, |known| known.min(end)));
            successor.superseded_by = Some(memory.id);
            return;
        }
        self.end_by(memory, successor);
    }

    fn end_by(&mut self, mut memory: Memory, successor: &Memory) {
        memory.superseded_by = Some(successor.id);
        self.end(memory, successor.valid_at, EventKind::Supersede);
    }

    /// Whether the batch changes this memory already.
    fn touches(&self, id: MemoryId) -> bool {
        self.batch.puts.iter().any(|put| put.memory.id == id)
    }

    fn withdraw(&mut self, memory: Memory, by: Option<&NewFact>) {
        let at = by.map_or(self.said_at, NewFact::valid_at);
        self.end(memory, at, EventKind::Delete);
    }

    fn end(&mut self, mut memory: Memory, at: crate::Timestamp, kind: EventKind) {
        let revision = memory.revision;
        // A validity never ends before it begins, nor later than it did.
        let end = at.max(memory.valid_at);
        memory.invalid_at = Some(memory.invalid_at.map_or(end, |known| known.min(end)));
        self.touch(&mut memory);
        let stamp = match memory.superseded_by {
            Some(successor) => self.stamp.clone().because(format!("superseded by {successor}")),
            None => self.stamp.clone(),
        };
        self.event(&memory, kind, Some(memory.text.clone()), None, stamp);
        match kind {
            EventKind::Supersede => self.report.superseded.push(memory.clone()),
            _ => self.report.deleted.push(memory.clone()),
        }
        self.batch.puts.push(Put::change(memory, None, revision));
    }

    fn touch(&self, memory: &mut Memory) {
        memory.updated_at = self.now;
        memory.revision += 1;
    }

    fn event(
        &mut self,
        memory: &Memory,
        kind: EventKind,
        old_text: Option<String>,
        new_text: Option<String>,
        stamp: Stamp,
    ) {
        let event = HistoryEvent::new(memory.id, memory.scope.clone(), kind, old_text, new_text, stamp);
        self.batch.events.push(event);
    }
}

/// Adds the turn a fact was said in to the sources.
fn cite(memory: &mut Memory, new: &NewFact) {
    let sources: Vec<Source> = new.episode.into_iter().map(Source::Memory).collect();
    for source in sources {
        if !memory.sources.contains(&source) {
            memory.sources.push(source);
        }
    }
}
