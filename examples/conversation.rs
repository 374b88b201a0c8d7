//! A chat that outgrows its prompt: the oldest of it is summarised while it goes on, the end stays word for word, and
//! nothing is lost. No server, no key, no download: `cargo run --example conversation`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use ingrain::{
    ChatRequest, ConversationEvent, ConversationOptions, Error, MemoryEngine, Message, Scope, SqliteStore, ToolCall,
};

/// What a traveller tells at first.
const TOLD: [(&str, &str); 4] = [
    ("I have to be in Porto on 12 May for my sister's wedding.", "Then let us look for a train on 11 May."),
    ("The hotel must not cost more than 90 euros a night.", "There is one for 85 euros near the river."),
    ("My mother comes with me and sleeps badly.", "It is in a side street, so it should be quiet."),
    ("Please remember that she eats no gluten.", "Noted: no gluten for your mother."),
];
/// What she asks about afterwards, at length.
const PLACES: [&str; 11] = [
    "the cathedral",
    "the bridge",
    "the market",
    "the harbour",
    "the lighthouse",
    "the tile museum",
    "the old tram",
    "the botanical garden",
    "the bookshop",
    "the wine cellars",
    "the beach",
];
const QUESTIONS: [(&str, &str); 5] = [
    ("What is worth seeing at", "Most people like the view best at"),
    ("How do we get to", "Ten minutes on foot lead to"),
    ("Do we need tickets for", "Tickets are sold at the entrance of"),
    ("Can my mother sit down somewhere near", "Benches stand in the shade beside"),
    ("Where can we eat after", "A small tavern lies just behind"),
];

/// Fifty-nine exchanges, no two of them the same.
fn talk() -> impl Iterator<Item = (String, String)> {
    let told = TOLD.map(|(user, reply)| (user.to_owned(), reply.to_owned()));
    let asked = PLACES.into_iter().flat_map(|place| {
        QUESTIONS.map(|(question, answer)| (format!("{question} {place}?"), format!("{answer} {place}.")))
    });
    told.into_iter().chain(asked)
}

async fn open(path: &std::path::Path) -> Result<MemoryEngine, Error> {
    // Without a model, rules pick the sentences that say most; with `.llm(…)` the model writes the summary.
    MemoryEngine::builder()
        .store(SqliteStore::open(path).await?)
        .conversations(ConversationOptions::new().max_tokens(400).summary_words(50).keep_last(4))
        .on_conversation(|_, event| {
            if let ConversationEvent::Failed(failure) = event {
                println!("will be tried again: {}", failure.message);
            }
        })
        .build()
        .await
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("ingrain-conversation-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|cause| Error::invalid("no folder for the file").with_source(cause))?;
    let path = folder.join("memory.db");
    let monday = Scope::user("ines").with_session("monday");

    // 1. Sixty exchanges. Each append returns once it is stored; no reply waits for a summary.
    let memory = open(&path).await?;
    let chat = memory.conversation(&monday)?;
    for (question, answer) in talk() {
        chat.append([Message::user(question), Message::assistant(answer)]).await?;
        // Whatever is being summarised just then, a view has room in the prompt.
        let view = chat.view().await?;
        assert!(view.size <= 400 && view.messages.len() > 1);
    }

    // 2. The last one uses a tool. A call is never parted from its result, so servers take what is shown.
    let look = ToolCall::new("call-1", "trains", r#"{"to": "Porto", "on": "2025-05-11"}"#);
    chat.append([
        Message::user("Which train shall we take?"),
        Message::assistant("").with_tool_call(look),
        Message::tool("call-1", "09:30, 14:30"),
        Message::assistant("The one at 9:30."),
    ])
    .await?;

    // 3. Before the program ends: wait until the summary is up to date.
    chat.settle().await?;
    drop((chat, memory));

    // 4. Another day, the same file. The view is ready for a request: the summary as data in its frame, then the end.
    let memory = open(&path).await?;
    let chat = memory.conversation(&monday)?;
    let view = chat.view().await?;
    for message in &view.messages {
        println!("{}: {}", message.role.as_str(), message.text);
    }
    println!("\n{} tokens, {} messages left out", view.size, view.left_out);
    assert_eq!(view.left_out, 0);
    // What she told at first is still in front, after fifty-five questions.
    for told in ["12 May", "90 euros a night", "sleeps badly", "no gluten"] {
        assert!(view.messages.first().is_some_and(|front| front.text.contains(told)), "{told}");
    }
    assert_eq!(view.messages.last().map(|message| message.text.as_str()), Some("The one at 9:30."));
    ChatRequest::new(view.messages).check()?;

    // 5. What the summary covers is still there, word for word.
    let exchanges = chat.exchanges().await?;
    println!("in the store: {} exchanges", exchanges.len());
    assert_eq!(exchanges.len(), 60);
    let oldest = exchanges.first().and_then(|first| first.messages.first());
    assert!(oldest.is_some_and(|oldest| oldest.message.text.starts_with("I have to be in Porto")));

    let _left_behind = std::fs::remove_dir_all(&folder).is_err();
    Ok(())
}
