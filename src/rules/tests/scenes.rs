//! Scenes for the reconciler.

use proptest::prelude::*;

use super::{block_on, extract, now};
use crate::{
    Action, Fact, Memory, MemoryId, MemoryKind, Message, Neighbour, ReconcileRequest, Reconciler, Scope,
    rules::RuleReconciler,
};

fn fact(text: &str, slot: &str) -> Fact {
    if slot.is_empty() { Fact::new(text, 0) } else { Fact::new(text, 0).with_slot(slot) }
}

fn known(text: &str, slot: &str, cosine: f32) -> Neighbour {
    let mut memory = Memory::new(MemoryId::new(now()), Scope::user("u"), text, now());
    memory.slot = Some(slot.to_owned()).filter(|slot| !slot.is_empty());
    Neighbour::new(memory, cosine)
}

fn plan(facts: &[Fact], neighbours: &[Neighbour]) -> Vec<Action> {
    let request = ReconcileRequest::new(facts, neighbours);
    block_on(RuleReconciler::new().reconcile(&request)).expect("rules never fail").actions
}

#[test]
fn repetitions_are_skipped() {
    let tea = [fact("likes TEA.", "")];
    assert_eq!(plan(&tea, &[known("Likes tea", "", 0.2)]), [Action::Skip { fact: 0, neighbour: Some(0) }]);
    let twice = [fact("Likes tea", ""), fact("likes tea", "")];
    assert_eq!(plan(&twice, &[]), [Action::Add { fact: 0 }, Action::Skip { fact: 1, neighbour: None }]);
    let near = [fact("Likes the tea", "")];
    assert_eq!(plan(&near, &[known("Likes tea", "", 0.98)]), [Action::Skip { fact: 0, neighbour: Some(0) }]);
}

#[test]
fn a_high_cosine_alone_decides_nothing() {
    for (new, old) in [("Likes coffee", "Likes tea"), ("Does not like tea", "Likes tea"), ("Has 3 cats", "Has 2 cats")]
    {
        assert_eq!(plan(&[fact(new, "")], &[known(old, "", 1.0)]), [Action::Add { fact: 0 }], "{new}");
    }
}

#[test]
fn episodes_are_no_neighbours() {
    let mut episode = known("Lives in Rome", "user.home", 1.0);
    episode.memory.kind = MemoryKind::Episode;
    assert_eq!(plan(&[fact("Lives in Rome", "user.home")], &[episode]), [Action::Add { fact: 0 }]);
}

#[test]
fn a_new_value_supersedes_the_old() {
    for (slot, old, new) in [
        ("user.home", "Lives in Rome", "Moved to Oslo"),
        ("user.employer", "Works at Acme", "No longer works at Acme"),
        ("user.employer", "Работает в Яндексе", "Уволилась"),
        ("user.preference.coffee", "Likes coffee", "Hates coffee"),
        ("user.preference.кофе", "Любит кофе", "Больше не любит кофе"),
        ("user.diet", "Is no longer vegan", "Is vegan"),
        ("user.age", "Is 34 years old", "Is 35 years old"),
    ] {
        let actions = plan(&[fact(new, slot)], &[known(old, slot, 0.5)]);
        assert_eq!(actions, [Action::Invalidate { neighbour: 0, fact: Some(0) }, Action::Add { fact: 0 }], "{new}");
    }
}

#[test]
fn the_same_in_other_words_is_skipped_or_refines() {
    let home = "user.home";
    let skipped = plan(&[fact("Lives in Porto", home)], &[known("Moved to Porto in June", home, 0.5)]);
    assert_eq!(skipped, [Action::Skip { fact: 0, neighbour: Some(0) }]);
    let text = "Moved to Porto in June".to_owned();
    let refined = plan(&[fact(&text, home)], &[known("Lives in Porto", home, 0.5)]);
    assert_eq!(refined, [Action::Update { neighbour: 0, fact: Some(0), text }]);
}

#[test]
fn a_withdrawal_ends_only_what_it_names() {
    let slot = "user.employer";
    assert_eq!(
        plan(&[fact("No longer works at Acme", slot)], &[known("Works at Bolt", slot, 0.5)]),
        [Action::Add { fact: 0 }]
    );
}

/// Which of the two is the older the engine sees, which knows when each was said.
#[test]
fn what_was_before_is_left_to_the_engine() {
    let mut before = fact("Moved to Oslo in 2010", "user.home");
    before.valid_at = Some("2010-01-01T00:00:00Z".parse().expect("a valid time"));
    assert_eq!(
        plan(&[before], &[known("Lives in Rome", "user.home", 0.5)]),
        [Action::Invalidate { neighbour: 0, fact: Some(0) }, Action::Add { fact: 0 }]
    );
}

#[test]
fn of_two_in_one_request_the_later_holds() {
    let facts = [fact("Lives in Rome", "user.home"), fact("Moved to Oslo", "user.home")];
    let actions = plan(&facts, &[known("Lives in Porto", "user.home", 0.5)]);
    assert_eq!(
        actions,
        [
            Action::Skip { fact: 0, neighbour: None },
            Action::Invalidate { neighbour: 0, fact: Some(1) },
            Action::Add { fact: 1 }
        ]
    );
}

fn said(text: &str, message: usize) -> Fact {
    let mut fact = fact(text, "user.home");
    fact.message = message;
    fact
}

#[test]
fn of_several_messages_each_is_kept_and_the_last_ends_what_was() {
    let facts = [said("Lives in Rome", 0), said("Moved to Oslo", 1), said("Moved to Bergen", 2)];
    assert_eq!(
        plan(&facts, &[known("Lives in Porto", "user.home", 0.5)]),
        [
            Action::Add { fact: 0 },
            Action::Add { fact: 1 },
            Action::Invalidate { neighbour: 0, fact: Some(2) },
            Action::Add { fact: 2 }
        ]
    );
    // The last says what is known, but not of the time between.
    let back = [said("Moved to Oslo", 0), said("Lives in Porto", 1)];
    assert_eq!(
        plan(&back, &[known("Lives in Porto", "user.home", 0.5)]),
        [Action::Invalidate { neighbour: 0, fact: Some(0) }, Action::Add { fact: 0 }, Action::Add { fact: 1 }]
    );
}

#[test]
fn what_a_later_message_repeats_is_skipped_unless_it_is_a_return() {
    let twice = [said("Lives in Rome", 0), said("Lives in Rome", 1)];
    assert_eq!(plan(&twice, &[]), [Action::Add { fact: 0 }, Action::Skip { fact: 1, neighbour: None }]);
    let back = [said("Lives in Rome", 0), said("Moved to Oslo", 1), said("Lives in Rome", 2)];
    assert_eq!(plan(&back, &[]), [Action::Add { fact: 0 }, Action::Add { fact: 1 }, Action::Add { fact: 2 }]);
}

#[test]
fn a_name_refines_what_had_none() {
    for (bare, named) in [("Has a dog", "Has a dog named Rex"), ("Есть собака", "Есть собака Шарик")]
    {
        let text = named.to_owned();
        let refined = plan(&[fact(named, "")], &[known(bare, "", 0.8)]);
        assert_eq!(refined, [Action::Update { neighbour: 0, fact: Some(0), text }]);
        assert_eq!(plan(&[fact(bare, "")], &[known(named, "", 0.8)]), [Action::Skip { fact: 0, neighbour: Some(0) }]);
        let both = [fact(bare, ""), fact(named, "")];
        assert_eq!(plan(&both, &[]), [Action::Skip { fact: 0, neighbour: None }, Action::Add { fact: 1 }]);
    }
    let other = plan(&[fact("Has a dog named Max", "")], &[known("Has a dog named Rex", "", 0.8)]);
    assert_eq!(other, [Action::Add { fact: 0 }]);
}

proptest! {
    #[test]
    fn every_fact_is_decided_once(facts in prop::collection::vec(any_fact(), 0..8), known_facts in prop::collection::vec(any_fact(), 0..6)) {
        let neighbours: Vec<_> = known_facts.iter().map(|fact| known(&fact.text, fact.slot.as_deref().unwrap_or(""), 0.98)).collect();
        let actions = plan(&facts, &neighbours);
        for index in 0..facts.len() {
            let decided = actions.iter().filter(|action| match action {
                Action::Add { fact } | Action::Skip { fact, .. } => *fact == index,
                Action::Update { fact, .. } => *fact == Some(index),
                Action::Invalidate { .. } => false,
            });
            prop_assert_eq!(decided.count(), 1);
        }
        for index in 0..neighbours.len() {
            let touched = actions.iter().filter(|action| match action {
                Action::Update { neighbour, .. } | Action::Invalidate { neighbour, .. } => *neighbour == index,
                _ => false,
            });
            prop_assert!(touched.count() <= 1);
        }
    }
}

fn any_fact() -> impl Strategy<Value = Fact> {
    let texts = [
        "Lives in Rome",
        "Moved to Rome in May",
        "Does not live in Rome",
        "Lives in Oslo",
        "Left the job",
        "Likes tea",
    ];
    (prop::sample::select(texts.to_vec()), prop::sample::select(vec!["", "user.home", "user.employer"]))
        .prop_map(|(text, slot)| fact(text, slot))
}

/// What the first message says is ended by what the second says.
#[test]
fn what_is_said_later_supersedes() {
    for (before, later) in [
        ("I have two cats.", "I have three cats now."),
        ("I have two kids.", "I have three kids now."),
        ("My husband Ivan works as a doctor.", "My husband is a teacher now."),
        ("My favorite color is blue.", "My favourite colour is green."),
        ("I live in Porto.", "I live in a small town near Munich."),
        ("I'm married to Carlos.", "I got divorced last year."),
        ("Я замужем.", "Я развелась."),
        ("I work at Google.", "I left Google last month and joined Meta."),
        ("I work at Google.", "I don't work at Google anymore, I'm at Meta now."),
        ("I work at Google.", "I'm no longer working at Google."),
        ("I'm allergic to peanuts.", "Turns out I'm not allergic to peanuts after all."),
        ("I have a peanut allergy.", "I'm not allergic to peanuts."),
        ("I like pizza and sushi.", "I hate sushi."),
        ("My girlfriend is vegan.", "My girlfriend is no longer vegan."),
        ("Моя девушка веган.", "Моя девушка больше не веган."),
        ("У меня два кота.", "У меня три кота."),
    ] {
        let neighbours: Vec<_> = extract(&[Message::user(before)])
            .into_iter()
            .map(|fact| known(&fact.text, fact.slot.as_deref().unwrap_or(""), 0.7))
            .collect();
        let ends = |action: &Action| matches!(action, Action::Invalidate { .. });
        assert!(plan(&extract(&[Message::user(later)]), &neighbours).iter().any(ends), "{before} {later}");
    }
}

#[test]
fn a_comparison_ends_nothing() {
    for taste in ["I love coffee", "I hate coffee", "I like tea"] {
        let fact = extract(&[Message::user(taste)]).remove(0);
        let neighbours = [known(&fact.text, fact.slot.as_deref().unwrap_or(""), 0.9)];
        let actions = plan(&extract(&[Message::user("I prefer tea over coffee")]), &neighbours);
        assert_eq!(actions, [Action::Add { fact: 0 }], "{taste}");
    }
}
