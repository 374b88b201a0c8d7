//! What secrets and personal data look like, and what does not.

use std::borrow::Cow;

use ingrain::{
    ErrorKind, HashingEmbedder, InMemoryStore, ListRequest, MemoryEngine, Message, NewMemory, Redactor, Scope,
    rules::PatternRedactor,
};
use proptest::prelude::*;

fn all() -> PatternRedactor {
    PatternRedactor::secrets().with_personal_data()
}

#[test]
fn what_looks_like_a_secret_is_taken_out() {
    // Put together here, so that whoever looks for keys in sources finds none.
    let key = |start: &str, length: usize| format!("{start}{}", "aB3dE6gH9k".repeat(10).split_at(length).0);
    for (secret, name) in [
        (key("sk-", 20), "api key"),
        (key("sk-ant-api03-", 40), "api key"),
        (key("sk_live_", 24), "api key"),
        (key("ghp_", 36), "token"),
        (key("github_pat_", 60), "token"),
        (key("glpat-", 20), "token"),
        (key("hf_", 34), "token"),
        (format!("AKIA{}", "ABCD1234EFGH5678"), "api key"),
        (key("AIza", 35), "api key"),
        (key("xoxb-", 30), "token"),
        (format!("{}.{}.{}", key("eyJ", 20), key("eyJ", 30), key("", 40)), "token"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/=\nabc\n-----END RSA PRIVATE KEY-----".to_owned(), "private key"),
    ] {
        let text = format!("My key is {secret}, and I like tea");
        assert_eq!(all().redact(&text), format!("My key is [{name}], and I like tea"));
    }
    for (text, redacted) in [
        ("postgres://ann:hunter2@db.local/x", "postgres://ann:[password]@db.local/x"),
        ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [token]"),
        ("password: hunter2", "password: [password]"),
        ("My password is hunter2!", "My password is [password]"),
        ("the wifi password for the office is Blue-Kayak7", "the wifi password for the office is [password]"),
        ("{\"api_key\": \"abcd1234\"}", "{\"api_key\": \"[password]\"}"),
        ("мой пароль: кит9кит", "мой пароль: [password]"),
        ("Mein Passwort ist Kanu77", "Mein Passwort ist [password]"),
        ("Mail ann.lee+news@mail.example.org please", "Mail [email address] please"),
        ("Card 4111 1111 1111 1111, exp 12/30", "Card [card number], exp 12/30"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN [account number]"),
        ("Call +49 (0)30 901820 or +1-202-555-0173", "Call [phone number] or [phone number]"),
        ("Call (202) 555-0173", "Call [phone number]"),
        ("Звоните 8 (912) 345-67-89", "Звоните [phone number]"),
        ("SSN 078-05-1120", "SSN [social security number]"),
        ("The server is 192.168.0.17", "The server is [ip address]"),
    ] {
        assert_eq!(all().redact(text), redacted);
    }
}

#[test]
fn what_does_not_stays_as_it_is() {
    for text in [
        "I like tea.",
        "The password is wrong again",
        "My password is stronger than yours",
        "A password is required",
        "I forgot my password, can you help?",
        "On 2025-03-04 at 10:30 we ran 12.5 km in 1:02:33",
        "Order 4111 1111 1111 1112 is no card",
        "Version 1.2.3.400 came out",
        "Room 12-34, flat 5",
        "In 2019 2020 2021 2022 2023 it rained",
        "Es kostet 1.234.567,89 Euro",
        "The bearer of good news",
        "ask-me-anything about risk-averse people",
        "👨‍👩‍👧‍👦 休息 می‌خواهم",
        "UUID 01890a5d-ac96-774b-bcce-b302099a8057",
        "Meet @anna at the café",
    ] {
        assert!(matches!(all().redact(text), Cow::Borrowed(same) if same == text), "{text}: {}", all().redact(text));
    }
}

#[test]
fn patterns_of_ones_own_are_checked() {
    for (name, pattern) in [("x", "("), ("x", "a*"), ("x", r"\[x\]"), (" ", "a"), ("a]", "b")] {
        let error = PatternRedactor::nothing().pattern(name, pattern).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
    let tickets = PatternRedactor::nothing().pattern("ticket", r"no\. (\d+)").unwrap();
    assert_eq!(tickets.redact("See no. 17 and no. 18"), "See no. [ticket] and no. [ticket]");
    let both = PatternRedactor::nothing().pattern("a", "abc").unwrap().pattern("b", "bcd").unwrap();
    assert_eq!(both.redact("xabcdxbcd"), "x[a]dx[b]", "the first that was given comes first");
}

#[tokio::test]
async fn no_secret_gets_into_a_store() {
    let builder = MemoryEngine::builder().store(InMemoryStore::new()).embedder(HashingEmbedder::new(64));
    let memory = builder.redactor(all()).build().await.unwrap();
    let alice = Scope::user("alice");
    let secret = format!("sk-{}", "abcd1234".repeat(4));
    let said = Message::user(format!("My key is {secret}. I live in Lisbon."));
    memory.add(&alice, [said]).await.unwrap();
    let mut metadata = ingrain::Metadata::new();
    metadata.insert("context".into(), secret.clone().into());
    memory.add_raw(&alice, [NewMemory::new(format!("Has the key {secret}")).metadata(metadata)]).await.unwrap();
    let mut export = memory.export(&alice);
    let mut placeholders = 0;
    while let Some(line) = export.next_line().await.unwrap() {
        assert!(!line.contains(&secret), "{line}");
        placeholders += line.matches("[api key]").count();
    }
    assert!(placeholders >= 3);
    assert!(memory.list(&alice, ListRequest::new()).await.unwrap().total >= 3);
}

proptest! {
    #[test]
    fn redacting_twice_changes_nothing_more(text in r#"(?s)([a-zA-Z0-9@:=./+_\[\] '"\n-]|password|sk-|\+49|пароль|eyJ){0,120}"#) {
        let once = all().redact(&text).into_owned();
        let twice = all().redact(&once).into_owned();
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn any_text_is_taken(text in "\\PC*") {
        let redacted = all().redact(&text);
        prop_assert!(redacted.is_char_boundary(redacted.len()));
    }
}
