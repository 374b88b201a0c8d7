//! The suites, on each client against a server that answers in the form that it was asked for.

use ingrain::HttpOptions;
use serde_json::{Value, json};

use super::{
    answer,
    server::{Asked, Reply, Server},
    streamed, wants_stream,
};

/// Answers like a model that calls a tool when it must, and speaks JSON when asked to.
async fn model() -> Server {
    Server::start(|_, asked| {
        let body = &asked.body;
        let forced = match asked.path.as_str() {
            // Ollama's tools cannot be forced: it calls those that it has.
            "/api/chat" => body["tools"].is_array(),
            _ => body["tools"].is_array() && body["tool_choice"].is_string() | body["tool_choice"].is_object(),
        };
        let json = ["response_format", "output_config", "format"].iter().any(|key| !body[*key].is_null());
        match (forced, wants_stream(asked)) {
            (true, false) => Reply::Json(200, calls(asked)),
            (true, true) => Reply::Pieces("text/event-stream", vec![streamed_calls(asked).into_bytes()]),
            (false, _) if json => Reply::Json(200, answer(&asked.path, r#"{"facts":["They float."]}"#)),
            (false, false) => Reply::Json(200, answer(&asked.path, "A small boat.")),
            (false, true) => {
                Reply::Pieces("text/event-stream", vec![streamed(&asked.path, "A small boat.").into_bytes()])
            }
        }
    })
    .await
}

fn calls(asked: &Asked) -> Value {
    let input = json!({"query": "kayak"});
    match asked.path.as_str() {
        "/v1/messages" => {
            let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "search_memory", "input": input});
            json!({"content": [call("t1"), call("t2")], "stop_reason": "tool_use"})
        }
        "/api/chat" => {
            let call = json!({"function": {"name": "search_memory", "arguments": input}});
            json!({"message": {"content": "", "tool_calls": [call, call]}, "done": true, "done_reason": "stop"})
        }
        _ => {
            let call =
                json!({"type": "function", "function": {"name": "search_memory", "arguments": input.to_string()}});
            json!({"choices": [{"finish_reason": "stop", "message": {"content": null, "tool_calls": [call, call]}}]})
        }
    }
}

fn streamed_calls(asked: &Asked) -> String {
    match asked.path.as_str() {
        "/v1/messages" => {
            let block = json!({"type": "tool_use", "id": "t1", "name": "search_memory", "input": {}});
            let events = [
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 7}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": block}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"query\":"}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "\"kayak\"}"}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}}),
                json!({"type": "message_stop"}),
            ];
            events.map(|event| format!("event: x\ndata: {event}\n\n")).concat()
        }
        "/api/chat" => format!("{}\n", calls(asked)),
        _ => {
            let piece = |delta: Value| json!({"choices": [{"delta": {"tool_calls": [delta]}}]});
            let events = [
                piece(json!({"index": 0, "function": {"name": "search_memory", "arguments": "{\"query\":"}})),
                piece(json!({"index": 0, "function": {"arguments": "\"kayak\"}"}})),
                piece(json!({"index": 1, "function": {"name": "search_memory", "arguments": "{}"}})),
                json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
            ];
            events.map(|event| format!("data: {event}\n\n")).concat()
        }
    }
}

#[cfg(feature = "openai")]
ingrain::llm_suite!(openai, async { crate::clients::openai::client(&model().await.url, &HttpOptions::new()) });
#[cfg(feature = "anthropic")]
ingrain::llm_suite!(anthropic, async { crate::clients::anthropic::client(&model().await.url, &HttpOptions::new()) });
#[cfg(feature = "ollama")]
ingrain::llm_suite!(ollama, async { crate::clients::ollama::client(&model().await.url, &HttpOptions::new()) });
