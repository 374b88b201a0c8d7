//! An agent without a model: rules perceive what the user likes and what the talk is about, the memory keeps it, and what
//! was recalled decides what the agent says. `cargo run --example offline_agent`

#![allow(clippy::print_stdout, reason = "an example prints")]

mod perception;

use ingrain::{AgentSession, MemoryEngine, Scope};

/// Says something to the agent, and shows what it drew on.
async fn say(session: &AgentSession, words: &str) -> ingrain::Result<String> {
    let reply = session.respond(words).await?;
    println!("you:   {words}\nagent: {}   ({} recalled, {})", reply.answer, reply.recalled.len(), reply.stop.as_str());
    Ok(reply.answer)
}

#[tokio::main]
async fn main() -> ingrain::Result<()> {
    let memory = MemoryEngine::builder().build().await?; // in this process; `MemoryEngine::open` keeps it in a file
    let agent = memory.agent(perception::model()).build()?;
    let ann = Scope::user("ann");

    println!("-- on Monday");
    let monday = agent.session(&ann.clone().with_session("monday"))?;
    assert_eq!(say(&monday, "What should I cook for dinner?").await?, "How about some food?");
    let answer = say(&monday, "I'm allergic to shellfish, but I love Thai food.").await?;
    assert!(answer.starts_with("I'll remember: Is allergic to shellfish"), "{answer}");
    say(&monday, "I live in Lisbon.").await?;
    say(&monday, "I like jazz music.").await?;
    memory.flush().await?; // it is remembered in the background: wait, since the next talk follows at once

    println!("-- on Friday");
    let friday = agent.session(&ann.clone().with_session("friday"))?;
    assert_eq!(say(&friday, "What should I cook for dinner?").await?, "How about Thai food, without shellfish?");
    assert_eq!(say(&friday, "Which concert would be right?").await?, "How about jazz music?");
    say(&friday, "I moved to Porto.").await?;
    memory.flush().await?;
    let answer = say(&friday, "Where do I live?").await?;
    assert!(answer.contains("Porto") && !answer.contains("Lisbon"), "{answer}");

    println!("-- somebody else");
    let bob = agent.session(&Scope::user("bob"))?;
    assert_eq!(say(&bob, "Where do I live?").await?, "I don't know that about you yet.");
    Ok(())
}
