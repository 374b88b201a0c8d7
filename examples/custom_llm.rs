//! A model of your own: a function that answers, and the suite that checks it.
//!
//! `cargo run --example custom_llm --features testing`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::Arc;

use ingrain::{ChatRequest, ChatResponse, Llm, LlmFn, Message, Role, Usage};

/// Stands for a client that you have already: another crate's, an in-process model, a queue.
#[derive(Debug)]
struct Parrot;

impl Parrot {
    async fn complete(&self, prompt: &str) -> Result<String, std::io::Error> {
        Ok(format!("You said: {prompt}"))
    }
}

/// The function gets its own copy of each request, already checked: there is a message that is not a system message,
/// and the numbers make sense.
fn model() -> impl Llm {
    let parrot = Arc::new(Parrot);
    LlmFn::new("example/parrot", move |request: ChatRequest| {
        let parrot = parrot.clone();
        async move {
            let last = request.messages.iter().rfind(|message| message.role == Role::User);
            let prompt = last.map(|message| message.text.as_str()).unwrap_or_default();
            // Say by kind what went wrong, so that callers know whether to try again. Prompts stay out of errors.
            let text = parrot.complete(prompt).await.map_err(|cause| {
                ingrain::Error::new(ingrain::ErrorKind::ProviderUnreachable, "chat").with_source(cause)
            })?;
            let words = |text: &str| text.split_whitespace().count() as u64;
            let usage = Usage::new(words(prompt), words(&text));
            Ok(ChatResponse::text(text).with_usage(usage))
        }
    })
}

// The suite is a set of tests: `cargo test --example custom_llm` runs it.
#[cfg(test)]
ingrain::llm_suite!(parrot, async { model() });

#[tokio::main]
async fn main() -> ingrain::Result<()> {
    let llm = model();
    let answer = llm.chat(&ChatRequest::new(vec![Message::user("I keep bees.")])).await?;
    println!("{}: {} ({} tokens)", llm.name(), answer.text, answer.usage.output_tokens);
    assert_eq!(answer.text, "You said: I keep bees.");
    Ok(())
}
