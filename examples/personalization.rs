//! Is memory worth its tokens? The same questions, answered with it and without, side by side.
//! No server, no key, no download: `cargo run --features eval --example personalization`.
//!
//! A rule stands in for the model here, and rules for the judge. With real ones only two lines change:
//! `LlmResponder::new(OpenAi::from_env()?)` in the place of the function, and
//! `.judge(&PromptedJudge::new(Anthropic::from_env()?))` after `Personalization::new`, which adds grades from 1 to 10.

#![allow(clippy::print_stdout, reason = "an example prints")]

use ingrain::{
    Error, MemoryEngine, Message, Scope,
    evaluate::personalization::{Personalization, PersonalizationCase, ResponderFn},
};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let memory = MemoryEngine::builder().build().await?;

    // 1. Who asks what, which facts bear on it, and what was said before. The memory is not given the facts: it has to
    //    learn them from the history, as it would from its users.
    let said = |text: &str| [Message::user(text), Message::assistant("Noted.")];
    let (alice, bob, carol) = (Scope::user("alice"), Scope::user("bob"), Scope::user("carol"));
    let cases = [
        PersonalizationCase::new(alice.clone(), "What shall I cook tonight?", ["Is allergic to shellfish"])
            .history(said("I'm allergic to shellfish. I live in Lisbon.")),
        // By now she has moved: what counts is what holds.
        PersonalizationCase::new(alice, "Where is the nearest market?", ["Lives in Porto"])
            .history(said("I moved to Porto.")),
        PersonalizationCase::new(bob, "What is a good plan for Sunday?", ["Has a dog named Bruno", "Loves hiking"])
            .history(said("I have a dog named Bruno. I love hiking.")),
        // Nothing was ever said of this: memory cannot help.
        PersonalizationCase::new(carol, "Which book would I like?", ["Reads crime novels"]),
    ];

    // 2. What answers. This one gives the same advice to everybody, and adds what it is told to keep in mind.
    let responder = ResponderFn::new(|question: String, context: Option<String>| async move {
        let advice = format!("To \"{question}\" most people say: whatever the season has to offer.");
        let known = context.map(|context| facts_in(&context)).filter(|known| !known.is_empty());
        Ok(known.map_or_else(|| advice.clone(), |known| format!("{advice} I keep in mind: {}.", known.join("; "))))
    });

    // 3. Ask everything twice, and compare.
    let report = Personalization::new(&memory, &responder).budget(400).run(&cases).await?;
    println!("{report}\n");
    for row in &report.rows {
        println!("{}\n  with:    {}\n  without: {}", row.question, row.with.answer, row.without.answer);
    }

    // 4. Every question gained but the one whose answer was never told, and nothing is contradicted: not even where
    //    somebody had moved.
    let gains: Vec<bool> = report.rows.iter().map(|row| row.with.used > row.without.used).collect();
    assert_eq!(gains, [true, true, true, false]);
    assert_eq!(report.contradicted, (0, 0));
    assert!(report.used.is_some_and(|gain| gain.difference > 0.0));

    // The report is JSON, too, for whoever keeps count over time.
    let json = serde_json::to_value(&report).unwrap_or_default();
    assert!(json.pointer("/used/low").is_some_and(serde_json::Value::is_number));
    Ok(())
}

/// The facts in a recalled block: each is a JSON string at the end of a line that begins with `‣ fact`.
fn facts_in(context: &str) -> Vec<String> {
    let facts = context.lines().filter(|line| line.starts_with("‣ fact") || line.starts_with("‣ preference"));
    facts.filter_map(|line| serde_json::from_str(line.split_once(": ")?.1).ok()).collect()
}
