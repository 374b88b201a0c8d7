//! What new facts do to what is known, without a model.

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;

use super::sameness::{Agreement, agreement, is_against, may_be_named, names};
use crate::{
    Action, Fact, Memory, Neighbour, Plan, ReconcileRequest, Reconciler, Result,
    score::sameness::{self, normalized, same_text},
};

/// Most facts of a slot, before or after one, that are held against it.
const MOST_RIVALS: usize = 16;

/// How plans begin.
const PLANS: [&str; 8] = [
    "plans to ",
    "hopes to ",
    "wants to ",
    "is going to ",
    "is training for ",
    "is preparing for ",
    "is saving for ",
    "планирует ",
];

/// A [`Reconciler`] without a model: it knows repetitions and single-valued slots, and adds the rest.
///
/// For each fact, in order, the first of these that holds decides:
///
/// 1. An earlier fact has the same [normalised text](crate::score::sameness::normalized): skipped.
/// 2. A neighbour [says it already](crate::score::sameness::repeats), in the same words or nearly so: skipped.
/// 3. A later fact of the same message fills the same slot: skipped, since what was said last holds. Of several messages
///    each has its fact added, and the caller, who knows the times, ends each where the next begins.
/// 4. One of the two says the same as the other and a name besides ("Has a dog", "Has a dog named Rex"): the fact is
///    skipped, or a neighbour is updated to its text.
/// 5. Neighbours fill the same slot (they are current, so there is one as a rule):
///    - one that says the same in other words, with all that the fact says: the fact is skipped;
///    - one that says the same with less: it is updated to the fact's text, and keeps its id and history;
///    - any other is invalidated in favour of the fact, which is added; of several such facts in favour of the last.
///      Which of the two holds the longer is for the caller to say, who knows all the times. A withdrawal ("No longer
///      works at X") invalidates only what it names, or whatever is there if it names nothing; it is added too, so that
///      the past is known.
/// 6. Else it is added.
///
/// Besides: a fact that [only ends](Fact::ends_only) what fills its slot is skipped where nothing does, and what
/// is no longer eaten or drunk ("No longer eats sushi") ends the liking of it too ("Loves sushi"). And what the quote of a
/// fact calls wrong ("…, not Tom") ends, with a slot or without, and so does a plan that is called off.
///
/// Only neighbours of a [semantic kind](crate::MemoryKind::is_semantic) count, and their similarity
/// never decides alone.
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
        let mut planner = Planner {
            request,
            decisions: Vec::with_capacity(facts.len()),
            updated: vec![false; request.neighbours.len()],
            ended: BTreeMap::new(),
            texts: HashSet::new(),
            slots: HashMap::new(),
        };
        for (index, fact) in facts.iter().enumerate() {
            if let Some(slot) = fact.slot.as_deref() {
                planner.slots.entry(slot).or_default().push(index);
            }
        }
        for (index, fact) in facts.iter().enumerate() {
            let decision = planner.decide(index, fact);
            planner.decisions.push(decision);
        }
        Ok(Plan::of(planner.actions()))
    }
}

struct Planner<'a> {
    request: &'a ReconcileRequest<'a>,
    /// What becomes of each fact.
    decisions: Vec<Action>,
    /// Neighbours an action has changed: another would contradict it.
    updated: Vec<bool>,
    /// Neighbours that end, and the last of the facts that end them.
    ended: BTreeMap<usize, usize>,
    /// The normalised texts of the facts so far.
    texts: HashSet<String>,
    /// The facts of each slot.
    slots: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Planner<'a> {
    fn actions(self) -> Vec<Action> {
        let mut ends: HashMap<usize, Vec<usize>> = HashMap::new();
        for (neighbour, fact) in self.ended {
            ends.entry(fact).or_default().push(neighbour);
        }
        let with_ends = self.decisions.into_iter().enumerate().flat_map(|(index, decision)| {
            let ended = ends.remove(&index).unwrap_or_default().into_iter();
            ended.map(move |neighbour| Action::Invalidate { neighbour, fact: Some(index) }).chain([decision])
        });
        with_ends.collect()
    }

    fn decide(&mut self, fact: usize, new: &Fact) -> Action {
        if new.ends_only && !self.is_held(new) {
            return Action::Skip { fact, neighbour: None };
        }
        let normal = normalized(&new.text);
        let known = !normal.is_empty() && !self.texts.insert(normal);
        // Before a repetition is looked for: "Lives in Rome", then "Moved to Oslo", is no repetition of Rome. And Rome,
        // then Oslo, then Rome again is a return.
        if (known && !self.disputed(fact, new)) || self.outdone(fact, new) || self.is_named_beside(fact, new) {
            return Action::Skip { fact, neighbour: None };
        }
        let open = self.open();
        let said = |near: &Neighbour| repeats(fact, new, near) || names(&new.text, &near.memory.text);
        if let Some((neighbour, _)) = open.iter().find(|(_, near)| said(near)) {
            return Action::Skip { fact, neighbour: Some(*neighbour) };
        }
        if let Some((neighbour, _)) = open.iter().find(|(_, near)| names(&near.memory.text, &new.text)) {
            return self.update(*neighbour, fact, new);
        }
        self.fill_slot(fact, new)
    }

    /// Whether something that a fact which only ends it can end fills its slot.
    fn is_held(&self, new: &Fact) -> bool {
        let Some(slot) = new.slot.as_deref() else { return false };
        let ends = |known: &str| agreement(known, &new.text) == Agreement::Contradicts;
        let told = self.slots.get(slot).into_iter().flatten().filter_map(|fact| self.request.facts.get(*fact));
        told.into_iter().any(|fact| !fact.ends_only && ends(&fact.text))
            || self.open().iter().any(|(_, near)| near.memory.slot.as_deref() == Some(slot) && ends(&near.memory.text))
    }

    /// Later facts of the slot, or earlier ones, nearest first; only so many that the cost stays in proportion.
    fn later(&self, fact: usize, new: &Fact) -> impl Iterator<Item = &'a Fact> {
        let holders = new.slot.as_deref().and_then(|slot| self.slots.get(slot)).map_or(&[][..], Vec::as_slice);
        let from = holders.partition_point(|other| *other <= fact);
        let facts: &'a [Fact] = self.request.facts;
        holders.iter().skip(from).take(MOST_RIVALS).filter_map(|other| facts.get(*other))
    }

    fn earlier(&self, fact: usize, new: &Fact) -> impl Iterator<Item = &'a Fact> {
        let holders = new.slot.as_deref().and_then(|slot| self.slots.get(slot)).map_or(&[][..], Vec::as_slice);
        let to = holders.partition_point(|other| *other < fact);
        let facts: &'a [Fact] = self.request.facts;
        holders.iter().take(to).rev().take(MOST_RIVALS).filter_map(|other| facts.get(*other))
    }

    /// Whether a later fact of the message takes the slot.
    fn outdone(&self, fact: usize, new: &Fact) -> bool {
        self.later(fact, new).any(|other| other.message == new.message && overrides(new, other))
    }

    /// Whether the message before that spoke of the slot said otherwise.
    fn disputed(&self, fact: usize, new: &Fact) -> bool {
        let before = self.earlier(fact, new).find(|other| other.message != new.message);
        before.is_some_and(|other| agreement(&other.text, &new.text) == Agreement::Contradicts)
    }

    /// Whether another fact says the same with a name.
    fn is_named_beside(&self, fact: usize, new: &Fact) -> bool {
        may_be_named(&new.text)
            && self.request.facts.iter().enumerate().any(|(at, other)| at != fact && names(&new.text, &other.text))
    }

    /// Neighbours that count and are not yet spoken for.
    fn open(&self) -> Vec<(usize, &'a Neighbour)> {
        let neighbours: &'a [Neighbour] = self.request.neighbours;
        let counted = neighbours.iter().enumerate().zip(&self.updated);
        let open = counted.filter(|((at, near), updated)| {
            !*updated && near.memory.kind.is_semantic() && !self.ended.contains_key(at)
        });
        open.map(|(numbered, _)| numbered).collect()
    }

    fn update(&mut self, neighbour: usize, fact: usize, new: &Fact) -> Action {
        if let Some(updated) = self.updated.get_mut(neighbour) {
            *updated = true;
        }
        Action::Update { neighbour, fact: Some(fact), text: new.text.clone() }
    }

    /// Whether the fact says that a pet has died, without its name, and the memory is the only one of such a pet.
    fn is_the_only_one(&self, new: &Fact, known: &str) -> bool {
        let died = new.slot.is_none().then(|| new.text.split_once(" died")).flatten();
        let Some((pet, _)) = died.filter(|_| new.categories.iter().any(|label| label == "pets")) else { return false };
        let pet = pet.to_lowercase();
        let is_one = |text: &str| {
            let words: Vec<&str> = text.strip_prefix("Has a ").unwrap_or_default().split(' ').collect();
            words
                .iter()
                .position(|word| *word == pet)
                .is_some_and(|at| words.get(at + 1).is_none_or(|next| *next == "named"))
        };
        let any = |text: &str| text.starts_with("Has ") && text.to_lowercase().contains(&pet);
        is_one(known) && self.open().iter().filter(|(_, near)| any(&near.memory.text)).count() == 1
    }

    fn fill_slot(&mut self, fact: usize, new: &Fact) -> Action {
        for (neighbour, near) in self.open() {
            let known = near.memory.text.as_str();
            let over = is_called_off(&new.text, known) || is_told_over(&new.text, known);
            if over || is_corrected(new, &near.memory) || is_gone(new, &near.memory) || self.is_the_only_one(new, known)
            {
                self.ended.insert(neighbour, fact);
            }
        }
        let Some(slot) = new.slot.as_deref() else { return Action::Add { fact } };
        let agree = |near: &Neighbour, new: &Fact| agreement(&near.memory.text, &new.text);
        let holds = |near: &Neighbour| near.memory.slot.as_deref() == Some(slot);
        for (neighbour, near) in self.open().into_iter().filter(|(_, near)| holds(near)) {
            match agree(near, new) {
                Agreement::Covers => return Action::Skip { fact, neighbour: Some(neighbour) },
                // What a later fact ends is not worth the change.
                Agreement::Refined
                    if !self.later(fact, new).any(|other| agree(near, other) == Agreement::Contradicts) =>
                {
                    return self.update(neighbour, fact, new);
                }
                _ => {}
            }
        }
        for (neighbour, near) in self.request.neighbours.iter().enumerate() {
            let updated = self.updated.get(neighbour).copied().unwrap_or(true);
            let ends =
                (holds(near) && agree(near, new) == Agreement::Contradicts) || is_off_the_table(new, &near.memory);
            if !updated && near.memory.kind.is_semantic() && ends {
                self.ended.insert(neighbour, fact);
            }
        }
        Action::Add { fact }
    }
}

/// Whether the fact says that a relative has died, or is one no more, and the memory tells something of them; or that
/// one is no student, and the memory what one studies. The name of who has died stays theirs.
fn is_gone(fact: &Fact, memory: &Memory) -> bool {
    let graduated = fact.text == "Graduated" && memory.slot.is_none() && memory.text.starts_with("Studies ");
    let ends = |who: &str, named: bool| {
        let of = memory.slot.as_deref().and_then(|slot| slot.strip_prefix(who)?.strip_prefix('.'));
        of.is_some_and(|of| named || (of != "name" && of != "death"))
    };
    let slot = fact.slot.as_deref().unwrap_or_default();
    let dead = slot.strip_suffix(".death").is_some_and(|who| ends(who, false));
    graduated || dead || slot.strip_suffix(".parting").is_some_and(|who| ends(who, true))
}

/// Whether the fact says that a thing is no longer eaten or drunk, and the memory that it is liked. What one is allergic to
/// is another slot, and stays.
fn is_off_the_table(fact: &Fact, memory: &Memory) -> bool {
    let thing = fact.slot.as_deref().and_then(|slot| {
        let thing = slot.strip_prefix("user.eats.").or_else(|| slot.strip_prefix("user.drinks."))?;
        let stops = ["No longer eats", "No longer drinks", "Больше не ест", "Больше не пьёт"];
        stops.iter().any(|stop| fact.text.starts_with(stop)).then_some(thing)
    });
    let liked = memory.slot.as_deref().and_then(|slot| slot.strip_prefix("user.preference."));
    thing.is_some() && thing == liked && !is_against(&memory.text)
}

/// Whether the memory says of the same thing what the words of the fact call wrong: "my son's name is Tim, not Tom" ends
/// "Son's name is Tom", for which there is no slot, since one may have several sons.
fn is_corrected(fact: &Fact, memory: &Memory) -> bool {
    let Some((right, wrong)) = fact.quote.as_deref().and_then(|quote| quote.rsplit_once(", not ")) else {
        return false;
    };
    let (right, wrong) = (normalized(right), normalized(wrong));
    let (known, new) = (normalized(&memory.text), normalized(&fact.text));
    let frame = known.strip_suffix(&wrong).filter(|frame| frame.ends_with(' ') && !wrong.is_empty());
    let value = frame.and_then(|frame| new.strip_prefix(frame));
    value.is_some_and(|value| !value.is_empty() && value != wrong && right.ends_with(value))
}

/// Whether the fact calls off what the memory says is planned, its time aside. Plans have no slot: of one kind there may be
/// several.
fn is_called_off(fact: &str, known: &str) -> bool {
    let thing = ["Cancelled the ", "Is no longer planning the "].iter().find_map(|start| fact.strip_prefix(start));
    let planned = ["Is planning a ", "Is planning an "].iter().find_map(|start| known.strip_prefix(start));
    let (Some(thing), Some(planned)) = (thing, planned) else { return false };
    let (thing, planned) = (normalized(thing), normalized(planned));
    !thing.is_empty() && planned.strip_prefix(&thing).is_some_and(is_time)
}

/// Whether the fact tells to be over what the memory says, its time or its name aside: "No longer works from home", "No
/// longer has a dog" of "Has a dog named Rex".
fn is_told_over(fact: &str, known: &str) -> bool {
    let (fact, known) = (normalized(fact), normalized(known));
    let Some(over) = ["no longer ", "больше не "].into_iter().find(|over| fact.contains(over)) else {
        return false;
    };
    let said = fact.replacen(over, "", 1);
    let named = said.starts_with("has a ");
    let plan = PLANS.iter().any(|plan| said.starts_with(plan));
    known
        .strip_prefix(&said)
        .is_some_and(|more| more.is_empty() || (plan && is_time(more)) || (named && more.starts_with(" named ")))
}

/// Whether no more than a time follows.
fn is_time(more: &str) -> bool {
    more.is_empty() || [" in ", " on ", " next ", " this ", " for "].iter().any(|time| more.starts_with(time))
}

/// Whether the memory says what the fact says.
fn repeats(number: usize, fact: &Fact, near: &Neighbour) -> bool {
    sameness::repeats(&near.memory.text, &fact.text, near.cosine_to(number).unwrap_or(0.0))
}

/// Whether a later fact of the message takes an earlier one's slot, so that the earlier need not be stored.
fn overrides(fact: &Fact, later: &Fact) -> bool {
    // Told later, but of earlier times: both are worth having.
    let before = later.valid_at.is_some_and(|then| fact.valid_at.is_none_or(|since| then < since));
    !before && !same_text(&fact.text, &later.text) && agreement(&fact.text, &later.text) != Agreement::Unrelated
}
