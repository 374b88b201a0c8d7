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
        "From 01.02.2024 to 05.03.2024, 05-06-2024 07:30, 2024-05-06 07:30:15",
        "In 2019 2020 we sold 1 050 000 000 and 1.050.000.000 pieces, 0.123456789 each",
        "Order 1234567 of 12 000 pieces for 600 000 000 won, order number is 1234567",
        "Version 0.12.34.567, 01.02, 10.0.19045.3803 and 1.75.0-nightly",
        "Open 09:00-17:30, 08.00-12.30; lap 01:02:03.456",
        "Call me on 2024-05-06, or on 05.06.2024 at 10:30, or text me at 20240506",
        "My phone cost 1 234 567, its number of pixels is 12345678",
        "My number is 42, and my number 1 is tea",
        "I changed my password in 2024, on 05.06.2024",
        "My password was changed 2024-05-06",
        "Password managers cost 35 euros, a password of 12 characters is short",
        "Passwort vergessen? Das Passwort ist falsch.",
        "Он забыл пароль и ушёл в 2024 году",
        "The key to success: hard work",
        "Key: C major; key = docs/2024/readme, keys: release-2024-05",
        "Shopping is fun2day, the monkey is 4years-old",
        "The token: internationalization",
        "It lies at 05.123456789 east",
        "Cambridge, MA 02139-4307",
        "A hair pin 1920s style, her pin is on the jacket, the pin 2024 edition",
        "The password is 8 to 20 characters long",
        "ISBN 0-306-40615-2 and 978-0-306-40615-7",
    ] {
        assert!(matches!(all().redact(text), Cow::Borrowed(same) if same == text), "{text}: {}", all().redact(text));
    }
}

#[test]
fn telephone_numbers_are_known_without_a_country_code() {
    for (text, redacted) in [
        ("My number is 07700 900123.", "My number is [phone number]."),
        ("Ring 020 7946 0958, or (020) 7946 0958", "Ring [phone number], or [phone number]"),
        ("Call 07700900123 after 10:30", "Call [phone number] after 10:30"),
        ("J'habite ici : 06 12 34 56 78 ou 06.12.34.56.78", "J'habite ici : [phone number] ou [phone number]"),
        ("Ruf an: 030 901820, 0176/12345678", "Ruf an: [phone number], [phone number]"),
        ("From abroad 0049 30 901820", "From abroad [phone number]"),
        // What is said to be one may have any form.
        ("My phone number is 612 345 678", "My phone number is [phone number]"),
        ("Mobile: 5550123", "Mobile: [phone number]"),
        ("Mi teléfono es 612345678", "Mi teléfono es [phone number]"),
        ("Meine Handynummer lautet 160 123456", "Meine Handynummer lautet [phone number]"),
        ("Мой номер телефона: 912 345-67-89", "Мой номер телефона: [phone number]"),
        ("Телефон 345-67-89", "Телефон [phone number]"),
        ("Text me on 555-0123", "Text me on [phone number]"),
    ] {
        assert_eq!(all().redact(text), redacted);
        assert_eq!(PatternRedactor::secrets().redact(text), text, "only if asked for");
    }
}

#[test]
fn passwords_are_known_in_the_words_of_many_languages() {
    for text in [
        "my password is «»",
        "password: «»",
        "Password for the router: «»",
        "The password is: «»",
        "password = «»",
        "password «»",
        "Mein Passwort für den Router lautet «»",
        "Kennwort: «»",
        "Le mot de passe du wifi est «»",
        "Mot de passe : «»",
        "Mi contraseña es «»",
        "La contraseña del wifi: «»",
        "A minha senha é «»",
        "La password è «»",
        "пароль «»",
        "Пароль от почты: «»",
        "ПАРОЛЬ — «»",
        "Мой пароль это «»",
        "密码：«»",
        "密码是«»",
        "Server=db;User=ann;Password=«»;Encrypt=True",
    ] {
        let told = text.replace("«»", "hunter2");
        assert_eq!(PatternRedactor::default().redact(&told), text.replace("«»", "[password]"));
    }
    for text in ["My PIN is 4711", "pin: 4711", "PIN code: 4711", "пин-код 4711"] {
        assert_eq!(PatternRedactor::default().redact(text), text.replace("4711", "[password]"));
    }
}

#[test]
fn keys_are_known_by_the_word_before_them() {
    let key = "aB3dE6gH9kaB3dE6gH9k";
    let azure = format!("Endpoint=https://x/;AccountName=ann;AccountKey={key}/{key}+==;EndpointSuffix=x");
    assert_eq!(
        PatternRedactor::default().redact(&azure),
        "Endpoint=https://x/;AccountName=ann;AccountKey=[api key];EndpointSuffix=x"
    );
    for text in ["My key: «»", "My key is «», so", "STRIPE_KEY=«»", "license key = '«»'", "the token: «»", "secret=«»"]
    {
        assert_eq!(PatternRedactor::default().redact(&text.replace("«»", key)), text.replace("«»", "[api key]"));
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
