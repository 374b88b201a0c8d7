//! The memory as tools for a model, in any framework: hand over the definitions, run what the model calls, hand back what
//! the tools say. No server, no key, no download: `cargo run --example tools`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use ingrain::{Block, Error, MemoryEngine, Message, Scope, ToolCall};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let memory = MemoryEngine::builder().build().await?;
    let mia = Scope::user("mia");
    memory.add(&mia, [Message::user("I'm allergic to penicillin. I live in Lisbon.")]).await?;
    memory.blocks(&mia).set(Block::new("user", "Mia.").description("Who the user is").limit(200)).await?;

    // 1. What a request to a model holds, here in the form of OpenAI; `anthropic()` gives that of Anthropic. Whose memory it
    // is, no model can say: the scope is bound.
    let tools = memory.tools(&mia);
    for tool in tools.openai() {
        println!("{tool}");
    }

    // 2. What the model called, all at once. The second tool does not exist: that is a result for the model to read, and
    // no reason to stop.
    let calls = [
        ToolCall::new("c1", "search_memory", r#"{"query": "allergies"}"#),
        ToolCall::new("c2", "delete_everything", "{}"),
        ToolCall::new("c3", "add_memory", r#"{"text": "Lives in Porto"}"#),
    ];
    let mut messages = Vec::new();
    for call in &calls {
        let result = tools.call_tool(call).await?; // an outage would be an error here
        println!("\n> {}({})\n{}", call.name, call.arguments, result.text);
        messages.push(result); // with the call's id and the role of a tool, for the next request
    }
    let says = |at: usize, words: &str| messages.get(at).is_some_and(|message| message.text.contains(words));
    assert!(says(0, "Is allergic to penicillin") && says(1, "there is no tool `delete_everything`"));
    // 3. The new fact ended the old one, and is kept as the model's word, not the user's.
    assert!(says(2, "Lives in Lisbon"));

    // 4. Core memory is edited by tools too, as far as its limit and the application allow.
    let edit = r#"{"label": "user", "old": "Mia.", "new": "Mia, who has moved to Porto."}"#;
    let result = tools.call("replace_block", edit).await?;
    println!("\n{}", result.text);
    assert!(result.changed && memory.blocks(&mia).history("user").await?.len() == 2);

    // 5. A framework that is to read and nothing else.
    assert_eq!(tools.read_only().without_blocks().definitions().len(), 2);
    Ok(())
}
