//! Relations of facts.

use super::{block_on, now};
use crate::{ExtractRequest, Extractor, Message, rules::RuleExtractor};

fn relations(message: Message) -> Vec<String> {
    let messages = [message];
    let mut request = ExtractRequest::new(&messages, now());
    request.relations = true;
    let found = block_on(RuleExtractor::new().extract(&request)).expect("rules never fail");
    let relations = found.facts.into_iter().flat_map(|fact| fact.relations);
    relations
        .map(|relation| {
            let mut object = relation.object.name;
            for alias in relation.object.aliases {
                object = format!("{object} = {alias}");
            }
            let kind = relation.object.entity_type.unwrap_or_default();
            let one = if relation.single_valued { "1" } else { "n" };
            format!("{} | {} | {object} | {kind} | {one}", relation.subject.name, relation.predicate)
        })
        .collect()
}

#[test]
fn what_has_a_name_is_related() {
    for (message, expected) in [
        (
            "I live in Lisbon and I work at Mar Clinic.",
            &["user | lives_in | Lisbon | place | 1", "user | works_at | Mar Clinic | organization | 1"][..],
        ),
        ("I moved to Porto in May.", &["user | lives_in | Porto | place | 1"]),
        ("I have a dog named Bruno.", &["user | has_pet | Bruno | dog | n"]),
        (
            "My sister lives in Rome.",
            &["user | has_sister | user's sister | person | n", "user's sister | lives_in | Rome | place | 1"],
        ),
        ("My sister's name is Ann.", &["user | has_sister | Ann | person | n"]),
        ("My mother's name is Maria.", &["user | has_mother | Maria = user's mother | person | 1"]),
        (
            "My mother works at Acme.",
            &["user | has_mother | user's mother | person | 1", "user's mother | works_at | Acme | organization | 1"],
        ),
        // The relative and the name are told apart, and so is what tells several apart.
        (
            "My sister Ann lives in Porto.",
            &[
                "user | has_sister | Ann | person | n",
                "Ann | lives_in | Porto | place | 1",
                "user | has_sister | Ann | person | n",
            ],
        ),
        (
            "My older brother Max works at Nokia.",
            &["user | has_brother | Max | person | n", "Max | works_at | Nokia | organization | 1"],
        ),
        (
            "My older brother works at Nokia.",
            &[
                "user | has_brother | user's older brother | person | n",
                "user's older brother | works_at | Nokia | organization | 1",
            ],
        ),
        (
            "My sister Ann is called Annie.",
            &["user | has_sister | Annie = Ann | person | n", "user | has_sister | Ann | person | n"],
        ),
        (
            "My wife Eva works at Nokia.",
            &[
                "user | has_wife | Eva = user's wife | person | 1",
                "Eva | works_at | Nokia | organization | 1",
                "user | has_wife | Eva = user's wife | person | 1",
            ],
        ),
        // An article is no part of a name, unless it may be.
        ("I work at the Mar Clinic.", &["user | works_at | Mar Clinic | organization | 1"]),
        ("I live in The Hague.", &["user | lives_in | The Hague = Hague | place | 1"]),
        ("I'm married to Ana.", &["user | married_to | Ana | person | 1"]),
        ("My name is Alice.", &["user | same_as | Alice | person | n"]),
        ("I study at MIT.", &["user | studies_at | MIT | organization | 1"]),
        ("I was born in Recife.", &["user | born_in | Recife | place | 1"]),
        ("У меня есть собака Рекс.", &["user | has_pet | Рекс | dog | n"]),
        ("Мою сестру зовут Аня.", &["user | has_sister | Аня | person | n"]),
    ] {
        assert_eq!(relations(Message::user(message)), expected, "{message}");
    }
}

#[test]
fn what_has_no_name_or_is_not_so_is_not_related() {
    for message in [
        "I live in a small town.",
        "I no longer work at Google.",
        "I don't live in Rome anymore.",
        "I like tea.",
        "I'm married.",
        "I have two cats.",
        "My parents live in Rome.",
        "I plan to move to Oslo.",
        // The name stands in another case than its own.
        "Я живу в Казани и работаю в Яндексе.",
        "Мой брат живёт в Москве.",
        "Мой старший брат Иван живёт в Москве.",
    ] {
        assert_eq!(relations(Message::user(message)), [] as [String; 0], "{message}");
    }
}

#[test]
fn a_relative_with_a_name_keeps_the_text_and_the_slot() {
    let messages =
        [Message::user("My sister Ann lives in Porto."), Message::user("My wife Eva works at the Mar Clinic.")];
    let request = ExtractRequest::new(&messages, now());
    let found = block_on(RuleExtractor::new().extract(&request)).expect("rules never fail");
    let facts: Vec<(&str, Option<&str>)> =
        found.facts.iter().map(|fact| (fact.text.as_str(), fact.slot.as_deref())).collect();
    assert_eq!(
        facts,
        [
            ("Sister Ann lives in Porto", Some("sister ann.home")),
            ("Sister's name is Ann", None),
            ("Wife Eva works at the Mar Clinic", Some("wife.employer")),
            ("Wife's name is Eva", Some("wife.name")),
        ]
    );
}

#[test]
fn who_speaks_is_called_by_name() {
    let message = Message::user("I live in Lisbon. My sister lives in Rome.").from_speaker("Ann");
    let subjects: Vec<String> =
        relations(message).iter().map(|line| line.split(" | ").next().unwrap_or("").to_owned()).collect();
    assert_eq!(subjects, ["Ann", "Ann", "Ann's sister"]);
}

#[test]
fn nothing_is_related_unless_asked_for() {
    let messages = [Message::user("I live in Lisbon.")];
    let found =
        block_on(RuleExtractor::new().extract(&ExtractRequest::new(&messages, now()))).expect("rules never fail");
    assert!(found.facts.len() == 1 && found.facts.iter().all(|fact| fact.relations.is_empty()));
}
