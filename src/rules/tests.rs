//! Golden cases and properties of the extractor, and scenes for the reconciler.

use proptest::prelude::*;
use serde_json::Value;

use super::{RuleExtractor, RuleReconciler};
use crate::{
    Action, ExtractRequest, Extractor, Fact, Memory, MemoryId, MemoryKind, Message, Neighbour, ReconcileRequest,
    Reconciler, Scope, Timestamp,
};

fn now() -> Timestamp {
    "2023-05-20T10:00:00Z".parse().expect("a valid time")
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

fn extract(messages: &[Message]) -> Vec<Fact> {
    block_on(RuleExtractor::new().extract(&ExtractRequest::new(messages, now()))).expect("rules never fail").facts
}

fn golden(language: &str) {
    let cases: Value = serde_json::from_str(include_str!("../../tests/data/rules.json")).expect("valid JSON");
    let cases = cases[language].as_array().expect("a list of cases");
    let mut wrong = Vec::new();
    for case in cases {
        let message = case["message"].as_str().expect("a message");
        let found: Vec<_> = extract(&[Message::user(message)])
            .into_iter()
            .map(|fact| (fact.text, fact.slot, fact.valid_at.map(|at| at.date_naive().to_string())))
            .collect();
        let text = |fact: &Value, key: &str| fact[key].as_str().map(str::to_owned);
        let expected = case["facts"].as_array().expect("a list of facts").iter();
        let expected: Vec<_> = expected
            .map(|fact| (text(fact, "text").expect("a text"), text(fact, "slot"), text(fact, "valid_at")))
            .collect();
        if found != expected {
            wrong.push(format!("{message}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn english_cases() {
    golden("english");
}

#[test]
fn russian_cases() {
    golden("russian");
}

#[test]
fn only_what_the_user_says_counts() {
    let text = "I live in Lisbon and I'm allergic to shellfish.";
    let others = [Message::system(text), Message::assistant(text), Message::tool("1", text)];
    assert_eq!(extract(&others), []);
}

#[test]
fn a_fact_says_where_it_comes_from() {
    let messages = [
        Message::assistant("Where do you live?"),
        Message::user("Well, I’m from Brazil, but I moved to Łódź two years ago!").from_speaker("Zoë"),
    ];
    let facts = extract(&messages);
    let [origin, home] = facts.as_slice() else { panic!("{facts:?}") };
    assert_eq!((origin.text.as_str(), origin.quote.as_deref()), ("Is from Brazil", Some("I’m from Brazil")));
    assert_eq!(
        (home.text.as_str(), home.quote.as_deref()),
        ("Moved to Łódź in 2021", Some("I moved to Łódź two years ago"))
    );
    assert_eq!((home.message, home.speaker.as_deref()), (1, Some("Zoë")));
    assert_eq!(home.categories, ["home"]);
}

#[test]
fn times_count_from_the_message() {
    let at = "2020-03-01T09:00:00Z".parse().expect("a valid time");
    let facts = extract(&[Message::user("I moved to Porto yesterday").at(at)]);
    assert_eq!(facts[0].text, "Moved to Porto on 29 February 2020");
    assert_eq!(facts[0].valid_at, Some("2020-02-29T00:00:00Z".parse().expect("a valid time")));
}

#[test]
fn labels_are_of_the_request() {
    let messages = [Message::user("I'm vegan and I live in Lisbon")];
    let categories = ["diet".to_owned()];
    let mut request = ExtractRequest::new(&messages, now());
    request.categories = &categories;
    let facts = block_on(RuleExtractor::new().extract(&request)).expect("rules never fail").facts;
    assert_eq!(facts[0].categories, ["diet"]);
    assert!(facts[1].categories.is_empty());
}

/// A quadratic step would show as a test that does not end.
#[test]
fn long_messages_take_time_in_proportion() {
    for piece in [
        "I live in Lisbon and ",
        "I like a, ",
        "“",
        "my my sister ",
        "a.",
        "'a",
        "и я ",
        "I love x1 and y, ",
        "\n",
        "and ",
        "“\n",
        "'a ",
        "in of ",
        "now ",
        "a: ",
        "said ",
    ] {
        let text = piece.repeat(60_000 / piece.len());
        let _ = extract(&[Message::user(text)]);
    }
    let text: String = (0..4_000).map(|n| format!("I like thing{n}. ")).collect();
    assert_eq!(extract(&[Message::user(text)]).len(), 4_000);
}

proptest! {
    #[test]
    fn any_text_is_read_and_quotes_are_verbatim(text in "(?s).{0,200}") {
        for fact in extract(&[Message::user(text.as_str())]) {
            prop_assert!(fact.quote.is_some_and(|quote| text.contains(&quote)));
        }
    }

    #[test]
    fn so_is_any_text_of_its_own_words(words in prop::collection::vec(prop::sample::select(WORDS), 0..30)) {
        let text = words.concat();
        for fact in extract(&[Message::user(text.as_str())]) {
            prop_assert!(!fact.text.contains(['{', '}']), "{}", fact.text);
            prop_assert!(fact.quote.is_some_and(|quote| text.contains(&quote)));
        }
    }
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

const WORDS: &[&str] = &[
    "I ",
    "I'm ",
    "i’m ",
    "live in ",
    "work at ",
    "as ",
    "a ",
    "the ",
    "nurse ",
    "Rome",
    "Łódź ",
    ", ",
    "and ",
    "my ",
    "sister ",
    "Ann ",
    "'s ",
    "is ",
    "34 ",
    "years ",
    "ago ",
    "in ",
    "May ",
    "2019 ",
    "to ",
    "moved ",
    "from ",
    "like ",
    "don't ",
    "not ",
    "prefer ",
    "tea ",
    "over ",
    "dog ",
    "named ",
    "have ",
    "? ",
    ". ",
    "\n",
    "\"",
    "“",
    "`",
    "🙂 ",
    "e\u{301}",
    "я ",
    "живу ",
    "в ",
    "Казани ",
    "не ",
    "люблю ",
    "чай ",
    "у ",
    "меня ",
    "аллергия ",
    "на ",
    "собака ",
    "Шарик ",
    "мне ",
    "лет ",
    "— ",
    "İ ",
    "ẞ",
];

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
