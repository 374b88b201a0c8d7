//! A plan is checked before it is carried out: whatever made it, nothing new is lost, and nothing known is touched twice
//! or without cause.

mod words;

use std::collections::{HashMap, HashSet};

use crate::{
    Action, Fact, Memory, Neighbour, Plan,
    score::{
        relatedness::{covers, share_words},
        sameness::{
            compared, names_alike, names_apart, negations, normalized, numbers_within, same_particulars, same_text,
        },
    },
};
use words::Words;

/// Cosine from which two texts are taken to speak of the same thing without sharing a word. Of some embedders all texts
/// come that near, so it is weak evidence.
const NEAR: f32 = 0.5;
/// Most memories that one fact ends on weak evidence.
const WEAK: usize = 3;
/// From so many memories on, a word that most of them have ("likes", a name at the head of each) tells nothing.
const FEW: usize = 4;

/// Takes out of a plan what must not be done, says why, and adds every fact that is then left over.
pub(super) fn check(plan: Plan, facts: &[Fact], neighbours: &[Neighbour]) -> Plan {
    let Plan { actions, meanings, mut rejected, account, model_calls, usage } = plan;
    let (judge, mut kept, objections) = judged(&actions, facts, neighbours);
    rejected.extend(objections.into_iter().map(|(_, reason)| reason.to_owned()));
    kept.extend((0..facts.len()).filter(|fact| !judge.settled.contains(fact)).map(|fact| judge.added(fact)));
    Plan { actions: kept, meanings, rejected, account, model_calls, usage }
}

/// The steps that [`check`] would take out, for whoever makes the plan to know beforehand.
pub(super) fn objections(actions: &[Action], facts: &[Fact], neighbours: &[Neighbour]) -> Vec<(usize, &'static str)> {
    judged(actions, facts, neighbours).2
}

type Judged<'a> = (Judge<'a>, Vec<Action>, Vec<(usize, &'static str)>);

/// What is to be carried out, and what is not, by place and reason.
fn judged<'a>(actions: &[Action], facts: &'a [Fact], neighbours: &'a [Neighbour]) -> Judged<'a> {
    // Each fact and each memory is good for one action.
    let most = 2 * (facts.len() + neighbours.len()) + 16;
    let shown = actions.get(..most).unwrap_or(actions);
    let mut judge = Judge::new(shown, facts, neighbours);
    let (mut kept, mut objections) = (Vec::with_capacity(shown.len()), Vec::new());
    for (at, action) in shown.iter().enumerate() {
        match judge.judge(action.clone()) {
            Ok(action) => {
                judge.note(&action);
                kept.push(action);
            }
            Err(reason) => objections.push((at, reason)),
        }
    }
    objections.extend((actions.len() > most).then_some((most, "more actions than there is to act on")));
    (judge, kept, objections)
}

struct Judge<'a> {
    facts: &'a [Fact],
    neighbours: &'a [Neighbour],
    /// The words of each fact, and of each memory.
    fact_words: Vec<Words>,
    memory_words: Vec<Words>,
    /// The first fact of each text, and the texts of the memories, as texts are compared.
    fact_texts: HashMap<String, usize>,
    memory_texts: HashSet<String>,
    /// Words that tell nothing, since most memories have them.
    common: HashSet<String>,
    /// Facts that are not stored because something says them.
    skipped: HashSet<usize>,
    /// Memories that say facts which are therefore not stored: they must stay, and go on saying them.
    leaned_on: HashMap<usize, Vec<usize>>,
    /// Facts that are dealt with.
    settled: HashSet<usize>,
    /// Memories that are changed.
    touched: HashSet<usize>,
    /// How many memories each fact has ended that it does not surely speak of; `None` for ends without a fact.
    ended_weakly: HashMap<Option<usize>, usize>,
    /// The texts that memories are changed to, as they are compared.
    texts: HashSet<String>,
}

type Verdict = Result<(), &'static str>;

fn refuse_if(refused: bool, reason: &'static str) -> Verdict {
    if refused { Err(reason) } else { Ok(()) }
}

/// How surely a new fact speaks of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    None,
    /// It is near, or shares a word that most memories share.
    Weak,
    /// It fills the same slot, or shares a word.
    Strong,
}

impl<'a> Judge<'a> {
    fn new(actions: &[Action], facts: &'a [Fact], neighbours: &'a [Neighbour]) -> Self {
        let memory_words: Vec<Words> = neighbours.iter().map(|near| Words::of(&near.memory.text)).collect();
        let mut judge = Self {
            facts,
            neighbours,
            fact_words: facts.iter().map(|fact| Words::of(&fact.text)).collect(),
            common: common(&memory_words),
            memory_words,
            fact_texts: facts
                .iter()
                .map(|fact| compared(&fact.text))
                .enumerate()
                .map(|(place, text)| (text, place))
                .rev()
                .collect(),
            memory_texts: neighbours.iter().map(|near| compared(&near.memory.text)).collect(),
            skipped: HashSet::new(),
            leaned_on: HashMap::new(),
            settled: HashSet::new(),
            touched: HashSet::new(),
            ended_weakly: HashMap::new(),
            texts: HashSet::new(),
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
                judge.leaned_on.entry(*neighbour).or_default().push(*fact);
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
                self.texts.insert(compared(text));
            }
            Action::Invalidate { neighbour, fact } => {
                if self.evidence(*neighbour) < Evidence::Strong {
                    *self.ended_weakly.entry(*fact).or_default() += 1;
                }
                self.touched.insert(*neighbour);
            }
        }
    }

    /// Whether one of the new facts speaks of the memory.
    fn evidence(&self, number: usize) -> Evidence {
        let Some((near, words)) = self.neighbours.get(number).zip(self.memory_words.get(number)) else {
            return Evidence::None;
        };
        let found = (0..self.facts.len()).filter_map(|fact| self.about(fact, near, words)).max();
        let by_cosine = if near.cosine >= NEAR { Evidence::Weak } else { Evidence::None };
        found.unwrap_or(Evidence::None).max(by_cosine)
    }

    fn about(&self, fact: usize, near: &Neighbour, words: &Words) -> Option<Evidence> {
        let (fact, said) = (self.facts.get(fact)?, self.fact_words.get(fact)?);
        if fact.slot.is_some() && fact.slot == near.memory.slot {
            return Some(Evidence::Strong);
        }
        let shared = said.telling().filter(|stem| words.has_stem(stem));
        shared.map(|stem| if self.common.contains(stem) { Evidence::Weak } else { Evidence::Strong }).max()
    }

    /// The action as it is to be carried out.
    fn judge(&self, action: Action) -> Result<Action, &'static str> {
        match action {
            Action::Add { fact } => {
                self.fact(fact)?;
                refuse_if(self.settled.contains(&fact), "a second action on one fact")?;
                return Ok(self.added(fact));
            }
            Action::Skip { fact, neighbour } => self.skip(fact, neighbour)?,
            Action::Update { neighbour, fact, text } => return self.update(neighbour, fact, text),
            Action::Invalidate { neighbour, fact } => self.invalidate(neighbour, fact)?,
        }
        Ok(action)
    }

    /// What becomes of a fact that is to be added: one that only ends something is left out where there is nothing to end.
    fn added(&self, fact: usize) -> Action {
        let idle = self.facts.get(fact).is_some_and(|new| ends_nothing(new, self.facts, self.neighbours));
        if idle { Action::Skip { fact, neighbour: None } } else { Action::Add { fact } }
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
                // It may have been changed by then: what changes it goes on saying the fact.
                let known = self.neighbours.get(neighbour).ok_or("an action on a memory that was not shown")?;
                let related = known.cosine >= NEAR || about(fact, known);
                let known_memory = &known.memory;
                let (said, known) = (&fact.text, &known_memory.text);
                let another = at_odds(said, known) || puts_another(said, known);
                related && (!another || fills_alike(fact, known_memory))
            }
            None if ends_nothing(fact, self.facts, self.neighbours) => true,
            // "Is no longer vegetarian" ends nothing of "Is pescatarian", unless the plan says so.
            None if fact.ends_only => !self.neighbours.iter().any(|near| {
                fact.slot.is_some() && near.memory.slot == fact.slot && share_words(&fact.text, &near.memory.text)
            }),
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

    fn update(&self, number: usize, fact: Option<usize>, text: String) -> Result<Action, &'static str> {
        if let Some(fact) = fact {
            self.fact(fact)?;
            refuse_if(self.settled.contains(&fact), "a second action on one fact")?;
        }
        let near = self.neighbour(number)?;
        let memory = &near.memory;
        refuse_if(!text.chars().any(char::is_alphanumeric), "an update to a blank text")?;
        refuse_if(same_text(&text, &memory.text), "an update to the text that is there")?;
        let dated = self.facts.iter().flat_map(|fact| [fact.valid_at, fact.invalid_at]).flatten();
        let dates: String = dated.chain([memory.valid_at]).map(|at| format!("{} ", at.date_naive())).collect();
        let said = || self.facts.iter().map(|fact| fact.text.as_str()).chain([memory.text.as_str()]);
        let quotes = self.facts.iter().filter_map(|fact| fact.quote.as_deref());
        let grounds = said().chain(quotes).chain([dates.as_str()]);
        refuse_if(!numbers_within(&text, grounds), "an update with a number that nobody said")?;
        let invented = negations(&text) > 0 && said().all(|said| negations(said) == 0);
        refuse_if(invented, "an update with a negation that nobody said")?;
        let key = compared(&text);
        refuse_if(self.texts.contains(&key), "a second update to one text")?;
        refuse_if(self.memory_texts.contains(&key), "an update to the text of another memory")?;
        // Without its fact the update would say a second time what is added by itself.
        let own = self.fact_texts.get(&key).copied();
        let stored = fact.is_none() && own.is_some_and(|own| self.settled.contains(&own));
        refuse_if(stored, "an update to a fact that is stored")?;
        let fact = fact.or(own);
        let spoken_of = |fact: &Fact| near.cosine >= NEAR || about(fact, near);
        let related = match fact.and_then(|fact| self.facts.get(fact)) {
            Some(fact) => {
                refuse_if(!share_words(&text, &fact.text), "an update that leaves its fact out")?;
                spoken_of(fact)
            }
            None => {
                let told = self.facts.iter().any(|fact| share_words(&text, &fact.text));
                refuse_if(!told, "an update to a text that nobody said")?;
                self.facts.iter().any(spoken_of)
            }
        };
        refuse_if(!related && !share_words(&text, &memory.text), "an update of what no new fact speaks of")?;
        self.without_loss(number, fact, text)
    }

    /// The update, if what its memory says and what its fact says is left in it. A text that says the fact and not the
    /// memory is the fact in the memory's place: that ends the memory, and overwrites nothing.
    fn without_loss(&self, number: usize, fact: Option<usize>, text: String) -> Result<Action, &'static str> {
        let memory = &self.neighbour(number)?.memory;
        let new = Words::of(&text);
        let says = |said: &str| same_text(said, &text) || covers(&text, said);
        let mut leaning = self.leaned_on.get(&number).into_iter().flatten().filter_map(|fact| self.facts.get(*fact));
        refuse_if(!leaning.all(|fact| says(&fact.text)), "an update that drops what a known fact rests on")?;
        let given = fact.and_then(|fact| Some((fact, self.facts.get(fact)?, self.fact_words.get(fact)?)));
        let old = self.memory_words.get(number).ok_or("an action on a memory that was not shown")?;
        let another_number = given.is_some_and(|(_, fact, _)| !numbers_within(&fact.text, std::iter::empty()));
        let number_kept = another_number || numbers_within(&memory.text, std::iter::once(text.as_str()));
        let turned = negations(&memory.text) > 0 && negations(&text) == 0;
        let (kept, fresh) = (old.kept_in(&new), new.kept_in(old) < new.len());
        let is_the_fact = given.is_some_and(|(_, _, words)| new.mostly_in(words) && words.mostly_in(&new));
        let keeps = kept == old.len() || (!is_the_fact && old.mostly_in(&new));
        if keeps && number_kept && !turned {
            // A fact of which half is left out is stored by itself, too.
            let whole = given.is_none_or(|(_, fact, words)| {
                words.mostly_in(&new) && numbers_within(&fact.text, std::iter::once(text.as_str()))
            });
            return Ok(Action::Update { neighbour: number, fact: fact.filter(|_| whole), text });
        }
        match fact {
            // Half of it is there, and something else in the place of the rest: another value.
            Some(fact) if is_the_fact && number_kept && kept * 2 >= old.len() && (fresh || turned) => {
                self.invalidate(number, Some(fact))?;
                Ok(Action::Invalidate { neighbour: number, fact: Some(fact) })
            }
            _ => Err("an update that drops what its memory says"),
        }
    }

    fn invalidate(&self, number: usize, fact: Option<usize>) -> Verdict {
        fact.map(|number| self.fact(number)).transpose()?;
        let memory = &self.neighbour(number)?.memory;
        let repeated = self.fact_texts.contains_key(&compared(&memory.text));
        refuse_if(repeated || self.leaned_on.contains_key(&number), "a delete of what was only repeated")?;
        refuse_if(fact.is_some_and(|fact| self.skipped.contains(&fact)), "a replacement by a fact that is not stored")?;
        let ended = self.ended_weakly.get(&fact).copied().unwrap_or_default();
        match self.evidence(number) {
            Evidence::Strong => Ok(()),
            // No fact ends all that is known because all of it is alike.
            Evidence::Weak => refuse_if(ended >= WEAK, "one more end of what its fact hardly speaks of"),
            Evidence::None if fact.is_none() => Err("a delete of what no new fact speaks of"),
            // A successor may share no word with what it ends ("Owns a car", "Has gone over to cycling"): the plan is
            // believed once for each fact.
            Evidence::None => refuse_if(ended > 0, "a second end of what its fact does not speak of"),
        }
    }
}

/// The telling words that more than half of the memories have.
fn common(memories: &[Words]) -> HashSet<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for stem in memories.iter().filter(|_| memories.len() >= FEW).flat_map(Words::telling) {
        *counts.entry(stem).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| count * 2 > memories.len()).map(|(stem, _)| stem.to_owned()).collect()
}

/// Whether a fact speaks of what a memory says.
fn about(fact: &Fact, near: &Neighbour) -> bool {
    (fact.slot.is_some() && fact.slot == near.memory.slot) || share_words(&fact.text, &near.memory.text)
}

/// Whether a fact that is worth storing only as an end has nothing to end.
fn ends_nothing(fact: &Fact, facts: &[Fact], neighbours: &[Neighbour]) -> bool {
    // "No longer works at Bolt" ends nothing of "Works at Acme".
    let about = |near: &Neighbour| near.memory.slot == fact.slot && !names_apart(&fact.text, &near.memory.text);
    let known = || fact.slot.is_some() && neighbours.iter().any(about);
    let told = || facts.iter().any(|other| !other.ends_only && fact.slot.is_some() && other.slot == fact.slot);
    fact.ends_only && !known() && !told()
}

/// Whether a memory that shares words with a fact cannot say it: another number, another name, or one of them says "not"
/// to the other's words. Of texts without a common word, as in two languages, nothing is known.
fn at_odds(fact: &str, memory: &str) -> bool {
    let negated = || (negations(fact) > 0) != (negations(memory) > 0) && (covers(memory, fact) || covers(fact, memory));
    let number = || !numbers_within(fact, std::iter::once(memory));
    share_words(fact, memory) && (number() || names_apart(fact, memory) || negated())
}

/// Whether a fact fills the slot of a memory with the same name in other words ("Sister lives in Ghent", "Sister moved to
/// Ghent"), endings aside. A slot that holds its thing ("user.preference.jazz") says nothing of what is said of it.
fn fills_alike(fact: &Fact, memory: &Memory) -> bool {
    let Some(slot) = fact.slot.as_deref().filter(|slot| memory.slot.as_deref() == Some(*slot)) else { return false };
    let thing = slot.rsplit('.').next().unwrap_or(slot);
    let (said, known) = (fact.text.as_str(), memory.text.as_str());
    let within = |one: &str, other: &str| numbers_within(one, std::iter::once(other));
    !normalized(known).contains(thing)
        && names_alike(said, known)
        && (negations(said) > 0) == (negations(known) > 0)
        && within(said, known)
        && within(known, said)
}

/// Whether two statements begin alike and go on with another thing each ("Is allergic to peanuts", "Is allergic to
/// shellfish"): then neither says the other, however much they have in common.
fn puts_another(said: &str, known: &str) -> bool {
    let (said, known) = (normalized(said), normalized(known));
    let said: Vec<&str> = said.split_whitespace().collect();
    let known: Vec<&str> = known.split_whitespace().collect();
    let alike = said.iter().zip(&known).take_while(|(one, other)| one == other).count();
    let alone = |one: &[&str], other: &[&str]| {
        let rest = one.get(alike..).unwrap_or_default();
        rest.iter().any(|word| word.chars().filter(|char| char.is_alphabetic()).count() > 2 && !other.contains(word))
    };
    alike > 0 && alone(&said, &known) && alone(&known, &said)
}

#[cfg(test)]
mod tests;
