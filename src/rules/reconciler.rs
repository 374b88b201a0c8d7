//! What new facts do to what is known, without a model.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;

use super::sameness::{Agreement, agreement, near_duplicate};
use crate::{
    Action, Fact, Neighbour, Plan, ReconcileRequest, Reconciler, Result,
    score::sameness::{normalized, same_text},
};

/// Most later facts of a slot that are asked whether they outdo an earlier one.
const MOST_LATER: usize = 16;

/// A [`Reconciler`] without a model: it knows repetitions and single-valued slots, and adds the rest.
///
/// For each fact, in order, the first of these that holds decides:
///
/// 1. A neighbour or an earlier fact has the same [normalised text](crate::score::sameness::normalized): skipped.
/// 2. A neighbour of cosine similarity 0.97 or more has the same names, numbers, negations and content words: skipped.
/// 3. A later fact of the request fills the same slot: skipped, since what was said last holds.
/// 4. Neighbours fill the same slot (they are current, so there is one as a rule):
///    - one that says the same in other words, with all that the fact says: the fact is skipped;
///    - one that says the same with less: it is updated to the fact's text, and keeps its id and history;
///    - any other is invalidated in favour of the fact, which is added. Not so where the fact is known to hold since
///      before the neighbour did (it tells of earlier times): then both stay, and the caller, who knows all the times,
///      closes the older. A withdrawal ("No longer works at X") invalidates only what it names, or whatever is there
///      if it names nothing; it is added too, so that the past is known.
/// 5. Else it is added.
///
/// Only neighbours of a [semantic kind](crate::MemoryKind::is_semantic) count. The neighbours' similarity is that to the
/// nearest of the facts, whichever that is, so it never decides alone.
///
/// ```
/// use ingrain::{Action, Fact, Memory, MemoryId, Neighbour, ReconcileRequest, Reconciler, Scope, rules::RuleReconciler};
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let now = "2025-02-10T08:00:00Z".parse()?;
/// let mut known = Memory::new(MemoryId::new(now), Scope::user("alice"), "Lives in Lisbon", now);
/// known.slot = Some("user.home".into());
/// let (facts, neighbours) = ([Fact::new("Moved to Porto", 0).with_slot("user.home")], [Neighbour::new(known, 0.7)]);
/// let plan = RuleReconciler::new().reconcile(&ReconcileRequest::new(&facts, &neighbours)).await?;
/// assert_eq!(plan.actions, [Action::Invalidate { neighbour: 0, fact: Some(0) }, Action::Add { fact: 0 }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct RuleReconciler;

impl RuleReconciler {
    /// A reconciler; it has no settings.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

#[async_trait]
impl Reconciler for RuleReconciler {
    /// Never fails and makes no request. Every fact gets an action.
    async fn reconcile(&self, request: &ReconcileRequest<'_>) -> Result<Plan> {
        let facts = request.facts;
        let mut plan = Planner {
            request,
            actions: Vec::with_capacity(facts.len()),
            closed: vec![false; request.neighbours.len()],
            texts: HashSet::new(),
            slots: HashMap::new(),
        };
        for (index, fact) in facts.iter().enumerate() {
            if let Some(slot) = fact.slot.as_deref() {
                plan.slots.entry(slot).or_default().push(index);
            }
        }
        for (index, fact) in facts.iter().enumerate() {
            plan.decide(index, fact);
        }
        Ok(Plan::of(plan.actions))
    }
}

struct Planner<'a> {
    request: &'a ReconcileRequest<'a>,
    actions: Vec<Action>,
    /// Neighbours an action has changed or closed: a second would contradict the first.
    closed: Vec<bool>,
    /// The normalised texts of the facts so far.
    texts: HashSet<String>,
    /// The facts of each slot.
    slots: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Planner<'a> {
    fn decide(&mut self, index: usize, fact: &Fact) {
        let normal = normalized(&fact.text);
        if !normal.is_empty() && !self.texts.insert(normal) {
            return self.actions.push(Action::Skip { fact: index, neighbour: None });
        }
        // Before a repetition is looked for: "Lives in Rome", then "Moved to Oslo", is no repetition of Rome.
        if self.outdone(index, fact) {
            return self.actions.push(Action::Skip { fact: index, neighbour: None });
        }
        if let Some((known, _)) = self.open().into_iter().find(|(_, near)| repeats(fact, near)) {
            return self.actions.push(Action::Skip { fact: index, neighbour: Some(known) });
        }
        self.fill_slot(index, fact);
    }

    /// Whether a later fact takes the slot. Only the next few are asked, so that the cost stays in proportion.
    fn outdone(&self, index: usize, fact: &Fact) -> bool {
        let Some(holders) = fact.slot.as_deref().and_then(|slot| self.slots.get(slot)) else { return false };
        let later = holders.iter().filter(|other| **other > index).take(MOST_LATER);
        later.filter_map(|other| self.request.facts.get(*other)).any(|other| overrides(fact, other))
    }

    /// Neighbours that count and are not yet spoken for.
    fn open(&self) -> Vec<(usize, &'a Neighbour)> {
        let neighbours: &'a [Neighbour] = self.request.neighbours;
        let open = neighbours
            .iter()
            .enumerate()
            .zip(&self.closed)
            .filter(|((_, near), closed)| !*closed && near.memory.kind.is_semantic());
        open.map(|(numbered, _)| numbered).collect()
    }

    fn fill_slot(&mut self, index: usize, fact: &Fact) {
        let holders: Vec<_> = match fact.slot.as_deref() {
            Some(slot) => {
                self.open().into_iter().filter(|(_, near)| near.memory.slot.as_deref() == Some(slot)).collect()
            }
            None => Vec::new(),
        };
        let agree = |near: &Neighbour| agreement(&near.memory.text, &fact.text);
        if let Some((known, _)) = holders.iter().find(|(_, near)| agree(near) == Agreement::Covers) {
            return self.actions.push(Action::Skip { fact: index, neighbour: Some(*known) });
        }
        if let Some((known, _)) = holders.iter().find(|(_, near)| agree(near) == Agreement::Refined) {
            self.close(*known);
            let text = fact.text.clone();
            return self.actions.push(Action::Update { neighbour: *known, fact: Some(index), text });
        }
        for (at, near) in holders {
            let earlier = fact.valid_at.is_some_and(|since| since < near.memory.valid_at);
            if agree(near) == Agreement::Contradicts && !earlier {
                self.close(at);
                self.actions.push(Action::Invalidate { neighbour: at, fact: Some(index) });
            }
        }
        self.actions.push(Action::Add { fact: index });
    }

    fn close(&mut self, neighbour: usize) {
        if let Some(closed) = self.closed.get_mut(neighbour) {
            *closed = true;
        }
    }
}

/// Whether the memory says what the fact says.
fn repeats(fact: &Fact, near: &Neighbour) -> bool {
    same_text(&fact.text, &near.memory.text) || (near.cosine >= 0.97 && near_duplicate(&fact.text, &near.memory.text))
}

/// Whether a later fact of the request takes an earlier one's slot, so that the earlier need not be stored.
fn overrides(fact: &Fact, later: &Fact) -> bool {
    // Told later, but of earlier times: both are worth having.
    let before = later.valid_at.is_some_and(|then| fact.valid_at.is_none_or(|since| then < since));
    !before && !same_text(&fact.text, &later.text) && agreement(&fact.text, &later.text) != Agreement::Unrelated
}
