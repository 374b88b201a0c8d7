//! A model behind OpenAI's API, on this machine or anywhere: chat, a stream, JSON to a schema, and what errors say.
//!
//! Start a server (`llama-server -m model.gguf`, `vllm serve …`, LM Studio), then
//! `cargo run --example openai_compatible --features openai`. Another server: set `OPENAI_BASE_URL` and `OPENAI_MODEL`,
//! and `OPENAI_API_KEY` if it wants a key.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::{env, io::Write, time::Duration};

use ingrain::{ChatRequest, ErrorKind, HttpOptions, Llm, Message, OpenAi, ResponseFormat};
use serde_json::json;

#[tokio::main]
async fn main() -> ingrain::Result<()> {
    let variable = |name: &str, default: &str| env::var(name).unwrap_or_else(|_| default.to_owned());
    let url = variable("OPENAI_BASE_URL", "http://localhost:8080/v1");

    // Small machines want patience. `OpenAi::from_env()` is the short form of all this.
    let options = HttpOptions::new().timeout(Duration::from_secs(300)).backoff(Duration::from_millis(200));
    let llm = OpenAi::builder()
        .base_url(&url)
        .model(variable("OPENAI_MODEL", "local"))
        .key(variable("OPENAI_API_KEY", "")) // a blank key is no key
        .http(options)
        .build()?;

    // The kind says what to do next; what may pass was tried three times by now.
    let hello = ChatRequest::new(vec![Message::user("Say hello in one word.")]).with_max_output_tokens(16);
    let answer = match llm.chat(&hello).await {
        Ok(answer) => answer,
        Err(error) if error.kind() == ErrorKind::ProviderUnreachable => {
            println!("No server answers at {url}: {error}");
            println!("Start one there, or set OPENAI_BASE_URL to another.");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    println!("{}: {}", llm.name(), answer.text);
    println!("  {} tokens in, {} out, {:?}", answer.usage.input_tokens, answer.usage.output_tokens, answer.finish);

    // Piece by piece; the pieces together are the answer's text.
    let story = ChatRequest::new(vec![Message::user("Name three animals.")]).with_max_output_tokens(32);
    let mut show = |piece: &str| {
        print!("{piece}");
        // A terminal that went away is no reason to stop.
        let _ = std::io::stdout().flush();
    };
    llm.chat_stream(&story, &mut show).await?;
    println!();

    // A server that refuses the schema is asked for JSON of any shape, then for text: look at what came.
    let schema = json!({
        "type": "object",
        "properties": { "facts": { "type": "array", "items": { "type": "string" }, "maxItems": 3 } },
        "required": ["facts"],
        "additionalProperties": false,
    });
    let request = ChatRequest::new(vec![
        Message::system("List what the user tells about himself as JSON: {\"facts\": [\"…\"]}"),
        Message::user("I moved to Lisbon in May, and I'm allergic to shellfish."),
    ]);
    let format = ResponseFormat::Schema { name: "facts".to_owned(), schema };
    let answer = llm.chat(&request.with_format(format).with_temperature(0.0).with_max_output_tokens(128)).await?;
    println!("{} (schema kept to: {})", answer.text.trim(), llm.capabilities().json_schema);
    Ok(())
}
