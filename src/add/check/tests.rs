use super::*;
use crate::{Memory, MemoryId, Scope, Timestamp};

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
fn another_thing_is_not_known() {
    for (said, known) in [
        ("Is allergic to peanuts", "Is allergic to shellfish"),
        ("Takes warfarin every morning", "Takes aspirin every morning"),
        ("Любит чай", "Любит кофе"),
    ] {
        assert!(puts_another(said, known), "{said} / {known}");
    }
    for (said, known) in [
        ("Verzichtet ganz auf Fleisch", "Isst kein Fleisch"),
        ("Lives in the city of Porto", "Lives in Porto"),
        ("Works for Google", "Works at Google"),
        ("喜欢茶", "喜欢咖啡"),
    ] {
        assert!(!puts_another(said, known), "{said} / {known}");
    }
}

#[test]
fn one_value_in_other_words_is_known() {
    let alike = |slot: &str, said: &str, known: &str| {
        let at = Timestamp::default();
        let mut memory = Memory::new(MemoryId::new(at), Scope::user("a"), known, at);
        memory.slot = Some(slot.into());
        fills_alike(&Fact::new(said, 0).with_slot(slot), &memory)
    };
    assert!(alike("sister.home", "Sister lives in Ghent", "Sister moved to Ghent"));
    assert!(alike("user.employer", "Работает в Сбере", "Работает в Сбер"));
    assert!(alike("user.home", "Живёт в Твери", "Переехала в Тверь, живёт там"));
    for (slot, said, known) in [
        ("sister.home", "Sister lives in Ghent", "Sister moved to Leeds"),
        ("sister.home", "Sister does not live in Ghent", "Sister lives in Ghent"),
        ("user.employer", "Works at Bolt since 2021", "Works at Bolt since 2019"),
        ("user.favorite.color", "Favorite color is green", "Favorite color is teal"),
        // What the slot holds is not what is said of it.
        ("user.preference.coldplay", "Is tired of Coldplay", "Is fond of Coldplay"),
    ] {
        assert!(!alike(slot, said, known), "{said} / {known}");
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

/// What becomes of a plan for these facts and memories, none near by cosine: its actions, and how many are rejected.
fn planned(known: &[&str], facts: &[&str], actions: Vec<Action>) -> (Vec<Action>, usize) {
    let at = Timestamp::default();
    let memory = |text: &&str| Memory::new(MemoryId::new(at), Scope::user("a"), *text, at);
    let neighbours: Vec<Neighbour> = known.iter().map(|text| Neighbour::new(memory(text), 0.1)).collect();
    let facts: Vec<Fact> = facts.iter().map(|text| Fact::new(*text, 0)).collect();
    let plan = check(Plan::of(actions), &facts, &neighbours);
    (plan.actions, plan.rejected.len())
}

fn update(text: &str) -> Action {
    Action::Update { neighbour: 0, fact: Some(0), text: text.to_owned() }
}

#[test]
fn an_update_drops_nothing_of_its_memory() {
    for (memory, fact, text) in [
        ("Keeps bees in Porto", "Works in Porto", "Works in Porto"),
        ("Works at Bolt as a driver and has two kids", "Works at Uber", "Works at Uber as a driver"),
        ("Takes 20 mg of Xanol in the evening", "Takes Xanol with water", "Takes Xanol with water in the evening"),
        ("Does not eat meat", "Eats fish", "Eats meat and fish"),
        ("Likes green tea", "Likes black tea", "Does not like green tea"),
        ("用户养了一只猫", "用户住在北京", "用户住在北京"),
        ("User has a cat", "User lives in Berlin", "User lives in Berlin"),
    ] {
        assert_eq!(planned(&[memory], &[fact], vec![update(text)]), (vec![Action::Add { fact: 0 }], 1), "{memory}");
    }
}

#[test]
fn an_update_to_another_value_ends_the_memory() {
    for (memory, fact) in [
        ("Lives in Lisbon", "Lives in Porto"),
        ("Prefers coffee", "Prefers black tea"),
        ("Works as a nurse", "Works for a bank"),
        ("Is 34 years old", "Is 35 years old"),
        ("Does not eat meat", "Eats meat"),
    ] {
        let end = Action::Invalidate { neighbour: 0, fact: Some(0) };
        assert_eq!(
            planned(&[memory], &[fact], vec![update(fact)]),
            (vec![end, Action::Add { fact: 0 }], 0),
            "{memory}"
        );
    }
}

#[test]
fn an_update_drops_nothing_of_its_fact() {
    let text = "Likes olives a lot";
    let plan = planned(&["Likes olives"], &["Likes olives, hates anchovies and capers"], vec![update(text)]);
    let kept = Action::Update { neighbour: 0, fact: None, text: text.to_owned() };
    assert_eq!(plan, (vec![kept, Action::Add { fact: 0 }], 0));
    let plan = planned(&["Has kids"], &["Has 3 kids"], vec![update("Has kids and is glad")]);
    assert!(plan.0.contains(&Action::Add { fact: 0 }), "{plan:?}");
}

#[test]
fn a_fact_is_not_known_by_what_is_at_odds_with_it() {
    let skip = Action::Skip { fact: 0, neighbour: Some(0) };
    for (memory, fact) in [
        ("Likes olives", "Does not like olives"),
        ("Does not like olives", "Likes olives"),
        ("Has 2 sisters in Ghent", "Has 3 sisters in Ghent"),
        ("Works with Anna", "Works with Hanna"),
    ] {
        let plan = planned(&[memory], &[fact], vec![skip.clone()]);
        assert_eq!(plan, (vec![Action::Add { fact: 0 }], 1), "{memory} / {fact}");
    }
    for (memory, fact) in [
        ("Has lived in Porto with Anna since 2019", "Lives in Porto"),
        ("Is strictly vegetarian, never eats meat", "Eats vegetarian food"),
    ] {
        let plan = planned(&[memory], &[fact], vec![skip.clone()]);
        assert_eq!(plan, (vec![skip.clone()], 0), "{memory} / {fact}");
    }
}

#[test]
fn what_a_known_fact_rests_on_goes_on_saying_it() {
    let skip = Action::Skip { fact: 1, neighbour: Some(0) };
    let known = ["Works in Porto at a bakery near the river"];
    let text = "Works in Lisbon at a bakery near the river";
    for actions in [vec![skip.clone(), update(text)], vec![update(text), skip.clone()]] {
        let (plan, rejected) = planned(&known, &["Works in Lisbon", "Works in Porto"], actions);
        assert_eq!((plan, rejected), (vec![skip.clone(), Action::Add { fact: 0 }], 1));
    }
}

#[test]
fn a_memory_that_is_refined_goes_on_saying_what_it_said() {
    let skip = Action::Skip { fact: 1, neighbour: Some(0) };
    let text = "Works in Porto at a bakery near the river";
    for actions in [vec![skip.clone(), update(text)], vec![update(text), skip.clone()]] {
        let facts = ["Works at a bakery near the river", "Works in Porto"];
        assert_eq!(planned(&["Works in Porto at a bakery"], &facts, actions.clone()), (actions, 0));
    }
}

#[test]
fn what_all_memories_share_is_no_reason_to_end_them() {
    let known = ["Likes jazz", "Likes olives", "Likes the sea", "Likes chess", "Likes trains"];
    let all = |fact| (0..known.len()).map(|neighbour| Action::Invalidate { neighbour, fact }).collect::<Vec<_>>();
    for fact in [None, Some(0)] {
        let (plan, rejected) = planned(&known, &["Likes ginger tea"], all(fact));
        assert!(plan.len() <= 1 + WEAK && rejected >= known.len() - WEAK, "{plan:?}");
    }
    // What it names itself it may end, all of it.
    let known = ["Likes jazz", "Likes coffee", "Drinks coffee at work", "Likes chess", "Owns a coffee mill"];
    let ends = [1, 2, 4].map(|neighbour| Action::Invalidate { neighbour, fact: Some(0) });
    let (plan, rejected) = planned(&known, &["Has given up coffee"], ends.to_vec());
    assert_eq!((plan.len(), rejected), (4, 0), "{plan:?}");
}

#[test]
fn no_update_makes_two_memories_of_one_text() {
    let known = ["Owns a kayak", "Owns a red kayak"];
    let plan = planned(&known, &["Owns a kayak, a red one"], vec![update("Owns a red kayak")]);
    assert_eq!(plan, (vec![Action::Add { fact: 0 }], 1));
    let add = Action::Add { fact: 0 };
    let text = "Owns a blue kayak";
    let alone = Action::Update { neighbour: 0, fact: None, text: text.to_owned() };
    assert_eq!(planned(&known[..1], &[text], vec![add.clone(), alone.clone()]), (vec![add], 1));
    assert_eq!(planned(&known[..1], &[text], vec![alone]), (vec![update(text)], 0));
}

#[test]
fn a_plan_of_any_length_is_checked_in_bounds() {
    let (plan, rejected) = planned(&["Owns a kayak"], &["Keeps bees"], vec![Action::Add { fact: 0 }; 100_000]);
    assert_eq!(plan, [Action::Add { fact: 0 }]);
    assert!(rejected < 100, "{rejected}");
}

#[test]
fn the_plans_of_a_good_model_are_kept() {
    for (memory, fact, text) in [
        ("Has a cat called Tom", "Got a second cat called Mia", "Has two cats called Tom and Mia"),
        ("Plays the ney", "Also plays the oud", "Plays the ney and the oud"),
        ("Работает в библиотеке", "Преподаёт химию", "Раньше работал в библиотеке, теперь преподаёт химию"),
        ("养了一只猫", "猫叫豆豆", "养了一只叫豆豆的猫"),
    ] {
        let (plan, rejected) = planned(&[memory], &[fact], vec![update(text)]);
        assert_eq!(rejected, 0, "{memory}");
        assert!(
            matches!(plan.as_slice(), [Action::Update { .. }] | [Action::Update { .. }, Action::Add { .. }]),
            "{plan:?}"
        );
    }
    // The model is shown since when a fact holds, and may say so.
    let at = "2023-05-01T00:00:00Z".parse().unwrap_or_default();
    let memory = Memory::new(MemoryId::new(at), Scope::user("a"), "Plays the oud", at);
    let facts = [Fact::new("Plays the oud in a band", 0).with_valid_at(at)];
    let plan =
        check(Plan::of(vec![update("Plays the oud in a band since 2023")]), &facts, &[Neighbour::new(memory, 0.1)]);
    assert_eq!(plan.rejected, Vec::<String>::new());
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
