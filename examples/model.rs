//! Your own model behind the trait, and what an add makes of its answers.
//!
//! The "model" here is a table of answers, so that the example runs offline; a real one sends `request.messages` to a
//! server. Run it with `cargo run --example model`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::atomic::{AtomicUsize, Ordering};

use ingrain::{
    AddRequest, ChatRequest, ChatResponse, Llm, LlmCapabilities, MemoryEngine, Message, Result, Scope, Usage,
};

/// What it answers, one after the other: the way models do, with thoughts, fences and sentences around the JSON.
const ANSWERS: [&str; 3] = [
    r#"{"facts": [{"text": "Likes coffee", "kind": "preference", "message": 0, "quote": "I like coffee"}]}"#,
    r#"<think>Two things: {"facts": ["draft"]}</think>
Here you are:
```json
{"facts": [
  {"text": "Prefers tea to coffee", "kind": "preference", "message": 0, "quote": "I prefer tea after all"},
  {"text": "Likes football", "kind": "preference", "message": 0, "quote": "I also like football"},
]}
```"#,
    // The last two steps are nonsense: memory 7 was never shown, and nobody spoke of the allergy. Neither is done.
    r#"{"actions": [
  {"event": "supersede", "fact": "0", "memory": 0},
  {"event": "ADD", "fact": 1},
  {"event": "DELETE", "memory": 7},
  {"event": "UPDATE", "memory": 1, "text": "Likes football"}
]}"#,
];

#[derive(Debug, Default)]
struct TableModel {
    asked: AtomicUsize,
}

// The traits are async: put the attribute above an implementation.
#[ingrain::async_trait]
impl Llm for TableModel {
    fn name(&self) -> &str {
        "example/table"
    }

    // Say what your server can do (JSON schemas, JSON, tools), and it is asked for that. This one knows nothing, so it
    // is asked in words.
    fn capabilities(&self) -> LlmCapabilities {
        LlmCapabilities::default()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatResponse> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        println!("  (asked: {} messages, at most {:?} tokens)", request.messages.len(), request.max_output_tokens);
        let answer = ANSWERS.get(number).copied().unwrap_or(r#"{"facts": []}"#);
        Ok(ChatResponse::text(answer).with_usage(Usage::new(700, 60)))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let memory =
        MemoryEngine::builder().embedder(ingrain::HashingEmbedder::new(256)).llm(TableModel::default()).build().await?;
    let ivan = Scope::user("ivan");

    println!("I like coffee.");
    memory.add(&ivan, "I like coffee.").await?;
    memory.add_raw(&ivan, ["Is allergic to peanuts"]).await?;

    println!("I prefer tea after all. I also like football.");
    let said = AddRequest::new([Message::user("I prefer tea after all. I also like football.")]).max_model_calls(4);
    let report = memory.add(&ivan, said).await?;
    for added in &report.added {
        println!("  added: {}", added.text);
    }
    for ended in &report.superseded {
        println!("  ended, and kept as history: {}", ended.text);
    }
    for reason in &report.rejected {
        println!("  not done: {reason}");
    }
    println!("  {} calls, {} tokens in", report.model_calls, report.usage.input_tokens);

    assert_eq!(report.added.len(), 2, "tea and football");
    assert_eq!(report.superseded.len(), 1, "coffee");
    assert_eq!(report.rejected.len(), 2, "whatever a model plans is checked");
    assert_eq!(report.model_calls, 2);
    Ok(())
}
