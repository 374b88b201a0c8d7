//! What users expect of an add that asks a model: whatever the model answers.

mod answers;
mod budget;
mod plans;
mod prompts;
mod secrets;

use ingrain::{ChatRequest, ChatResponse, FinishReason, MemoryEngine, testing::ScriptedLlm};
use serde_json::{Value, json};

use crate::worlds::World;

/// The world's engine with a model.
async fn asking(world: &World, llm: &ScriptedLlm) -> MemoryEngine {
    MemoryEngine::builder()
        .store(world.store.clone())
        .embedder(world.embedder.clone())
        .clock(world.clock.clone())
        .llm(llm.clone())
        .build()
        .await
        .unwrap()
}

/// A list of facts, in the crate's own form, all of the first message.
fn facts(texts: &[&str]) -> String {
    facts_of(0, texts)
}

fn facts_of(message: usize, texts: &[&str]) -> String {
    let fact = |text: &&str| {
        json!({
            "text": text, "kind": "fact", "categories": [], "importance": 0.5, "since": null, "until": null,
            "message": message, "quote": "",
        })
    };
    json!({"facts": texts.iter().map(fact).collect::<Vec<_>>()}).to_string()
}

/// A list of actions, in the crate's own form.
fn actions(actions: &[Value]) -> String {
    json!({ "actions": actions }).to_string()
}

fn cut(text: &str) -> ChatResponse {
    ChatResponse::text(text).with_finish(FinishReason::Length)
}

/// Everything that a request says.
fn said(request: &ChatRequest) -> String {
    request.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Requests for facts, and requests for actions.
fn asked(llm: &ScriptedLlm) -> (usize, usize) {
    let requests = llm.requests();
    let extractions = requests.iter().filter(|request| said(request).contains("\"facts\":[{")).count();
    (extractions, requests.len() - extractions)
}
