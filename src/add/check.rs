//! A plan is checked before it is carried out: whatever made it, nothing new is lost, and nothing known is touched twice
//! or without cause.

use std::collections::HashSet;

use crate::{
    Action, Fact, Memory, Neighbour, Plan,
    score::{
        relatedness::share_words,
        sameness::{numbers_within, same_particulars, same_text},
    },
};

/// Cosine from which two texts are taken to speak of the same thing without sharing a word.
const NEAR: f32 = 0.5;

/// Takes out of a plan what must not be done, says why, and adds every fact that is then left over.
pub(super) fn check(plan: Plan, facts: &[Fact], neighbours: &[Neighbour]) -> Plan {
    let Plan { actions, mut rejected, account, model_calls, usage } = plan;
    let (judge, objections) = judged(&actions, facts, neighbours);
    let refused: HashSet<usize> = objections.iter().map(|(at, _)| *at).collect();
    rejected.extend(objections.into_iter().map(|(_, reason)| reason.to_owned()));
    let kept = actions.into_iter().enumerate().filter(|(at, _)| !refused.contains(at));
    let mut actions: Vec<Action> = kept.map(|(_, action)| action).collect();
    actions.extend((0..facts.len()).filter(|fact| !judge.settled.contains(fact)).map(|fact| Action::Add { fact }));
    Plan { actions, rejected, account, model_calls, usage }
}

/// The steps that [`check`] would take out, for whoever makes the plan to know beforehand.
pub(super) fn objections(actions: &[Action], facts: &[Fact], neighbours: &[Neighbour]) -> Vec<(usize, &'static str)> {
    judged(actions, facts, neighbours).1
}

fn judged<'a>(
    actions: &[Action],
    facts: &'a [Fact],
    neighbours: &'a [Neighbour],
) -> (Judge<'a>, Vec<(usize, &'static str)>) {
    let mut judge = Judge::new(actions, facts, neighbours);
    let mut objections = Vec::new();
    for (at, action) in actions.iter().enumerate() {
        match judge.judge(action) {
            Ok(()) => judge.note(action),
            Err(reason) => objections.push((at, reason)),
        }
    }
    (judge, objections)
}

struct Judge<'a> {
    facts: &'a [Fact],
    neighbours: &'a [Neighbour],
    /// Facts that are not stored because something says them.
    skipped: HashSet<usize>,
    /// Memories that say a fact which is therefore not stored: they must stay.
    leaned_on: HashSet<usize>,
    /// Facts that are dealt with.
    settled: HashSet<usize>,
    /// Memories that are changed.
    touched: HashSet<usize>,
    /// Facts that have ended a memory they do not seem to speak of.
    ended_unseen: HashSet<usize>,
    /// The texts that memories are changed to.
    texts: Vec<String>,
}

type Verdict = Result<(), &'static str>;

fn refuse_if(refused: bool, reason: &'static str) -> Verdict {
    if refused { Err(reason) } else { Ok(()) }
}

impl<'a> Judge<'a> {
    fn new(actions: &[Action], facts: &'a [Fact], neighbours: &'a [Neighbour]) -> Self {
        let mut judge = Self {
            facts,
            neighbours,
            skipped: HashSet::new(),
            leaned_on: HashSet::new(),
            settled: HashSet::new(),
            touched: HashSet::new(),
            ended_unseen: HashSet::new(),
            texts: Vec::new(),
        };
        // Asked of the whole plan, since a model puts its steps in any order.
        let named = actions.iter().filter_map(|action| match action {
            Action::Skip { fact, .. } => Some(*fact),
            _ => None,
        });
        judge.skipped = named.collect();
        for action in actions {
            if let Action::Skip { fact, neighbour: Some(neighbour) } = action
                && judge.skip(*fact, Some(*neighbour)).is_ok()
            {
                judge.leaned_on.insert(*neighbour);
            }
        }
        judge
    }

    fn note(&mut self, action: &Action) {
        match action {
            Action::Add { fact } | Action::Skip { fact, .. } => {
                self.settled.insert(*fact);
            }
            Action::Update { neighbour, fact, text } => {
                self.touched.insert(*neighbour);
                self.settled.extend(fact);
                self.texts.push(text.clone());
            }
            Action::Invalidate { neighbour, fact } => {
                self.touched.insert(*neighbour);
                let unseen = self.neighbours.get(*neighbour).is_some_and(|near| !self.is_spoken_of(near));
                self.ended_unseen.extend(fact.filter(|_| unseen));
            }
        }
    }

    /// Whether a new fact seems to speak of the memory.
    fn is_spoken_of(&self, near: &Neighbour) -> bool {
        near.cosine >= NEAR || self.facts.iter().any(|fact| about(fact, &near.memory))
    }

    fn judge(&self, action: &Action) -> Verdict {
        match action {
            Action::Add { fact } => {
                self.fact(*fact)?;
                refuse_if(self.settled.contains(fact), "a second action on one fact")
            }
            Action::Skip { fact, neighbour } => self.skip(*fact, *neighbour),
            Action::Update { neighbour, fact, text } => self.update(*neighbour, *fact, text),
            Action::Invalidate { neighbour, fact } => self.invalidate(*neighbour, *fact),
        }
    }

    fn fact(&self, number: usize) -> Result<&'a Fact, &'static str> {
        self.facts.get(number).ok_or("an action on a fact that is not there")
    }

    fn neighbour(&self, number: usize) -> Result<&'a Neighbour, &'static str> {
        refuse_if(self.touched.contains(&number), "a second action on one memory")?;
        self.neighbours.get(number).ok_or("an action on a memory that was not shown")
    }

    fn skip(&self, number: usize, neighbour: Option<usize>) -> Verdict {
        let fact = self.fact(number)?;
        refuse_if(self.settled.contains(&number), "a second action on one fact")?;
        let said = match neighbour {
            Some(neighbour) => {
                let known = self.neighbour(neighbour)?;
                known.cosine >= NEAR || about(fact, &known.memory)
            }
            // Some other new fact must say it, or say it anew, and be stored itself.
            None => self.facts.iter().enumerate().any(|(other, stored)| {
                other != number
                    && !self.skipped.contains(&other)
                    && (same_text(&fact.text, &stored.text)
                        || (fact.slot.is_some() && fact.slot == stored.slot)
                        || (same_particulars(&fact.text, &stored.text) && share_words(&fact.text, &stored.text)))
            }),
        };
        refuse_if(!said, "a skip of a fact that nothing says")
    }

    fn update(&self, neighbour: usize, fact: Option<usize>, text: &str) -> Verdict {
        let fact = fact.map(|number| self.fact(number).map(|fact| (number, fact))).transpose()?;
        let Neighbour { memory, cosine, .. } = self.neighbour(neighbour)?;
        refuse_if(!text.chars().any(char::is_alphanumeric), "an update to a blank text")?;
        refuse_if(same_text(text, &memory.text), "an update to the text that is there")?;
        refuse_if(!numbers_within(text, self.said(memory)), "an update with a number that nobody said")?;
        refuse_if(self.texts.iter().any(|other| same_text(other, text)), "a second update to one text")?;
        let spoken_of = |fact: &Fact| *cosine >= NEAR || about(fact, memory);
        let related = match fact {
            Some((number, fact)) => {
                refuse_if(self.settled.contains(&number), "a second action on one fact")?;
                refuse_if(!share_words(text, &fact.text), "an update that leaves its fact out")?;
                spoken_of(fact)
            }
            None => {
                let told = self.facts.iter().any(|fact| share_words(text, &fact.text));
                refuse_if(!told, "an update to a text that nobody said")?;
                self.facts.iter().any(spoken_of)
            }
        };
        refuse_if(!related && !share_words(text, &memory.text), "an update of what no new fact speaks of")
    }

    /// All that a new text for the memory may rest on.
    fn said<'m>(&self, memory: &'m Memory) -> impl Iterator<Item = &'m str>
    where
        'a: 'm,
    {
        self.facts.iter().map(|fact| fact.text.as_str()).chain([memory.text.as_str()])
    }

    fn invalidate(&self, number: usize, fact: Option<usize>) -> Verdict {
        fact.map(|number| self.fact(number)).transpose()?;
        let near = self.neighbour(number)?;
        let memory = &near.memory;
        let repeated = self.facts.iter().any(|fact| same_text(&fact.text, &memory.text));
        refuse_if(repeated || self.leaned_on.contains(&number), "a delete of what was only repeated")?;
        refuse_if(fact.is_some_and(|fact| self.skipped.contains(&fact)), "a replacement by a fact that is not stored")?;
        match fact {
            _ if self.is_spoken_of(near) => Ok(()),
            // A successor may share no word with what it ends ("Owns a car", "Has gone over to cycling"): the plan is
            // believed once for each fact, so that none of them ends all that is known.
            Some(fact) => {
                refuse_if(self.ended_unseen.contains(&fact), "a second end of what its fact does not speak of")
            }
            None => Err("a delete of what no new fact speaks of"),
        }
    }
}

/// Whether a fact speaks of what a memory says.
fn about(fact: &Fact, memory: &Memory) -> bool {
    (fact.slot.is_some() && fact.slot == memory.slot) || share_words(&fact.text, &memory.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryId, Scope, Timestamp};

    fn checked(actions: Vec<Action>) -> (Vec<Action>, usize) {
        let at = Timestamp::default();
        let known = ["Owns a kayak", "Keeps bees in Porto"];
        let neighbours: Vec<Neighbour> = known
            .iter()
            .map(|text| Neighbour::new(Memory::new(MemoryId::new(at), Scope::user("a"), *text, at), 0.1))
            .collect();
        let facts = [Fact::new("Owns a kayak and paddles weekly", 0), Fact::new("Allergic to peanuts", 0)];
        let plan = check(Plan::of(actions), &facts, &neighbours);
        (plan.actions, plan.rejected.len())
    }

    const BOTH: [Action; 2] = [Action::Add { fact: 0 }, Action::Add { fact: 1 }];

    #[test]
    fn no_plan_loses_a_fact() {
        let skip = |fact, neighbour| Action::Skip { fact, neighbour };
        for harmful in [
            vec![],
            vec![skip(0, None), skip(1, None)],
            vec![skip(0, Some(1)), skip(1, Some(0))],
            vec![skip(7, Some(0)), skip(0, Some(7)), Action::Add { fact: 9 }],
            vec![Action::Update { neighbour: 0, fact: Some(1), text: "garbage".into() }],
            vec![Action::Update { neighbour: 0, fact: Some(1), text: "\u{200b}".into() }],
            vec![Action::Update { neighbour: 1, fact: Some(1), text: "Allergic to peanuts".into() }],
            vec![Action::Update { neighbour: 1, fact: None, text: "Allergic to peanuts".into() }],
            vec![Action::Update { neighbour: 1, fact: None, text: "Keeps no bees in Porto".into() }],
            vec![Action::Update { neighbour: 0, fact: Some(0), text: "Owns 2 kayaks, paddles weekly".into() }],
            vec![Action::Invalidate { neighbour: 1, fact: None }],
            vec![Action::Invalidate { neighbour: 9, fact: Some(0) }],
        ] {
            let count = harmful.len();
            assert_eq!(checked(harmful.clone()), (BOTH.into(), count), "{harmful:?}");
        }
    }

    #[test]
    fn what_says_a_fact_stays() {
        let skip = Action::Skip { fact: 0, neighbour: Some(0) };
        let delete = Action::Invalidate { neighbour: 0, fact: None };
        for plan in [vec![skip.clone(), delete.clone()], vec![delete, skip.clone()]] {
            assert_eq!(checked(plan), (vec![skip.clone(), Action::Add { fact: 1 }], 1));
        }
    }

    #[test]
    fn a_fact_ends_one_memory_it_shares_no_word_with() {
        let at = Timestamp::default();
        let known = ["Owns a kayak", "Keeps bees in Porto", "Sings bass", "Eats no fish"];
        let neighbours: Vec<Neighbour> = known
            .iter()
            .map(|text| Neighbour::new(Memory::new(MemoryId::new(at), Scope::user("a"), *text, at), 0.1))
            .collect();
        let facts = [Fact::new("Has gone over to the mountains", 0), Fact::new("Sold the kayak", 0)];
        let end = |neighbour, fact| Action::Invalidate { neighbour, fact: Some(fact) };
        let plan = check(Plan::of(vec![end(1, 0), end(2, 0), end(3, 0), end(0, 0)]), &facts, &neighbours);
        assert_eq!(plan.actions, [end(1, 0), end(0, 0), Action::Add { fact: 0 }, Action::Add { fact: 1 }]);
        assert_eq!(plan.rejected.len(), 2);
    }

    #[test]
    fn a_sound_plan_is_kept() {
        let text = "Owns a kayak, paddles weekly".to_owned();
        let plan = vec![Action::Update { neighbour: 0, fact: Some(0), text }, Action::Add { fact: 1 }];
        assert_eq!(checked(plan.clone()), (plan, 0));
        let plan =
            vec![Action::Invalidate { neighbour: 0, fact: Some(0) }, Action::Add { fact: 0 }, Action::Add { fact: 1 }];
        assert_eq!(checked(plan.clone()), (plan, 0));
    }
}
