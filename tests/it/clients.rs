//! The clients of model servers, through real HTTP against a server on this machine that does as it is told.

mod adding;
#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(feature = "openai")]
mod embeddings;
#[cfg(feature = "openai")]
mod local;
mod odd;
#[cfg(feature = "ollama")]
mod ollama;
#[cfg(feature = "openai")]
mod openai;
#[cfg(feature = "openai")]
mod rerank;
mod server;
mod suites;
mod transport;

use std::{sync::Arc, time::Duration};

use ingrain::{ChatRequest, HttpOptions, Llm, ManualClock, Message};
use serde_json::{Value, json};
use server::Asked;

const KEY: &str = "sk-test-0000";

/// Every client, set up for the server at `url`.
#[allow(clippy::vec_init_then_push, reason = "which clients there are depends on the features")]
fn clients(url: &str, options: &HttpOptions) -> Vec<Arc<dyn Llm>> {
    let mut clients: Vec<Arc<dyn Llm>> = Vec::new();
    #[cfg(feature = "openai")]
    clients.push(Arc::new(openai::client(url, options)));
    #[cfg(feature = "anthropic")]
    clients.push(Arc::new(anthropic::client(url, options)));
    #[cfg(feature = "ollama")]
    clients.push(Arc::new(ollama::client(url, options)));
    clients
}

/// A clock that waits for nobody, and options that use it.
fn no_waiting() -> (ManualClock, HttpOptions) {
    let clock = ManualClock::at("2025-02-10T08:00:00Z".parse().unwrap());
    let options = HttpOptions::new().clock(clock.clone()).timeout(Duration::from_secs(30));
    (clock, options)
}

fn hello() -> ChatRequest {
    ChatRequest::new(vec![Message::user("Where do I keep my bees?")])
}

/// What the server of this path says when it says `text`.
fn answer(path: &str, text: &str) -> Value {
    match path {
        "/v1/messages" => json!({
            "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn", "usage": {"input_tokens": 7, "output_tokens": 3},
        }),
        "/api/chat" => json!({
            "model": "m", "message": {"role": "assistant", "content": text}, "done": true, "done_reason": "stop",
            "prompt_eval_count": 7, "eval_count": 3,
        }),
        _ => json!({
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        }),
    }
}

/// As [`answer`], as the server of this path streams it, each character a piece.
fn streamed(path: &str, text: &str) -> String {
    let pieces = text.chars().map(|character| match path {
        "/v1/messages" => format!(
            "event: content_block_delta\ndata: {}\n\n",
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": character}})
        ),
        "/api/chat" => format!("{}\n", json!({"message": {"role": "assistant", "content": character}, "done": false})),
        _ => format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": character}}]})),
    });
    let pieces: String = pieces.collect();
    match path {
        "/v1/messages" => {
            let start = json!({"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}});
            let delta =
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}});
            format!(
                "data: {start}\n\nevent: ping\ndata: {{\"type\": \"ping\"}}\n\n{pieces}data: {delta}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"
            )
        }
        "/api/chat" => {
            let last = json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
                "prompt_eval_count": 7, "eval_count": 3});
            format!("{pieces}{last}\n")
        }
        _ => {
            let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
            let usage = json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}});
            format!("data: {{\"choices\":[]}}\n\n{pieces}data: {last}\n\ndata: {usage}\n\ndata: [DONE]\n\n")
        }
    }
}

/// Whether the request wants a stream.
fn wants_stream(asked: &Asked) -> bool {
    asked.body["stream"] == true
}
