//! Golden cases and properties of the extractor.

mod relations;
mod scenes;

use proptest::prelude::*;
use serde_json::Value;

use super::RuleExtractor;
use crate::{ExtractRequest, Extractor, Fact, Message, Timestamp};

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
            .map(|fact| (fact.text, fact.slot, fact.valid_at.map(|at| at.date_naive().to_string()), fact.ends_only))
            .collect();
        let text = |fact: &Value, key: &str| fact[key].as_str().map(str::to_owned);
        let expected = case["facts"].as_array().expect("a list of facts").iter();
        let expected: Vec<_> = expected
            .map(|fact| {
                let ends_only = fact["ends_only"].as_bool().unwrap_or_default();
                (text(fact, "text").expect("a text"), text(fact, "slot"), text(fact, "valid_at"), ends_only)
            })
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
        ("Moved to Łódź in 2021, lives there now", Some("I moved to Łódź two years ago"))
    );
    assert_eq!((home.message, home.speaker.as_deref()), (1, Some("Zoë")));
    assert_eq!(home.categories, ["home"]);
}

#[test]
fn times_count_from_the_message() {
    let at = "2020-03-01T09:00:00Z".parse().expect("a valid time");
    let facts = extract(&[Message::user("I moved to Porto yesterday").at(at)]);
    assert_eq!(facts[0].text, "Moved to Porto on 29 February 2020, lives there now");
    assert_eq!(facts[0].valid_at, Some("2020-02-29T00:00:00Z".parse().expect("a valid time")));
}

#[test]
fn a_plan_holds_until_its_time_is_over() {
    let at = "2020-03-01T09:00:00Z".parse().expect("a valid time");
    for (message, end) in [
        ("I'm planning a trip to Peru in June 2020.", Some("2020-07-01T00:00:00Z")),
        ("I plan to visit Peru in June 2020.", Some("2020-07-01T00:00:00Z")),
        ("I'm training for a marathon next month", Some("2020-05-01T00:00:00Z")),
        ("I'm planning a party tomorrow", Some("2020-03-03T00:00:00Z")),
        ("Я планирую поехать в Перу в июне 2020 года", Some("2020-07-01T00:00:00Z")),
        ("I'm in Peru from 3 to 10 March", Some("2020-03-11T00:00:00Z")),
        ("I'm planning a trip to Peru from 28 December to 3 January", Some("2021-01-04T00:00:00Z")),
        ("We'll be in Peru between 3 and 10 June", Some("2020-06-11T00:00:00Z")),
        ("I plan to stay in Peru until Friday", Some("2020-03-07T00:00:00Z")),
        ("I'm staying in Peru until Christmas", Some("2020-12-27T00:00:00Z")),
        ("I'm on vacation until June", Some("2020-07-01T00:00:00Z")),
        ("Я в Перу с 3 по 10 марта", Some("2020-03-11T00:00:00Z")),
        ("I plan to visit Peru in May, I mean June", Some("2020-07-01T00:00:00Z")),
        ("I'm planning a trip to Peru from 3 May", None),
        ("I plan to learn to sail", None),
        ("I moved to Peru this year", None),
    ] {
        let facts = extract(&[Message::user(message).at(at)]);
        let [fact] = facts.as_slice() else { panic!("{message}: {facts:?}") };
        assert_eq!(fact.invalid_at, end.map(|end| end.parse().expect("a valid time")), "{message}");
    }
}

#[test]
fn what_holds_until_some_day_is_no_state() {
    for message in [
        "I live in Berlin until June",
        "I moved to Berlin until June",
        "I'm vegan until Friday",
        "I'm in Peru",
        "I'm in Peru from 3 May",
        "I'm in Peru on Fridays",
        "I was in Peru from 3 to 10 February",
    ] {
        assert_eq!(extract(&[Message::user(message)]), [], "{message}");
    }
}

#[test]
fn what_was_has_its_time() {
    let day = |text: &str| Some(format!("{text}T00:00:00Z").parse::<Timestamp>().expect("a valid time"));
    for (message, text, since, until) in [
        ("I lived in Rome from 2018 to 2021", "Lived in Rome from 2018 to 2021", "2018-01-01", "2022-01-01"),
        ("I worked at Acme between 2010 and 2012", "Worked at Acme between 2010 and 2012", "2010-01-01", "2013-01-01"),
        ("Я жила в Казани с 2018 по 2021 год", "Жила в Казани с 2018 по 2021 год", "2018-01-01", "2022-01-01"),
    ] {
        let facts = extract(&[Message::user(message)]);
        let [fact] = facts.as_slice() else { panic!("{message}: {facts:?}") };
        assert_eq!((fact.text.as_str(), fact.valid_at, fact.invalid_at), (text, day(since), day(until)));
        assert_eq!(fact.slot, None);
    }
    for message in [
        "I lived in Rome",
        "I lived in Rome for a year",
        "I lived in Rome until I was five",
        "I worked at Acme until 2020",
    ] {
        assert_eq!(extract(&[Message::user(message)]), [], "{message}");
    }
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
        "/*",
        "// ",
        "http://",
        "- a\n",
        "text help ",
        "you to ",
        "Not. ",
        "I am a nurse at ",
        "I live in Rome, I mean ",
        "no wait ",
        "actually ",
        "sorry, a b ",
        "I like tea. Sorry, ",
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
    "// ",
    "http://",
    "- ",
    "not ",
    "this ",
    "text",
    ": ",
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
