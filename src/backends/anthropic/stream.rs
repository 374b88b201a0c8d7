use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    BACKEND,
    llm::{finish, read as read_whole, usage},
};
use crate::{
    ChatResponse, ErrorKind, ToolCall, Usage,
    http::{Events, HttpClient, HttpError, Refusal, Stream, new_call_id, whole_piece},
};

/// Most tool calls of one answer.
const CALLS: usize = 128;

/// Puts the pieces of an answer together, handing text on as it comes. It is whole with `message_stop` alone.
pub(super) async fn read(
    http: &HttpClient,
    mut stream: Stream,
    private: &[&str],
    sink: &mut (dyn for<'t> FnMut(&'t str) + Send),
) -> Result<ChatResponse, HttpError> {
    let mut events = Events::default();
    let mut text = String::new();
    let mut calls: BTreeMap<u64, ToolCall> = BTreeMap::new();
    let mut reason = None;
    let mut tokens = Usage::default();
    let mut any = false;
    loop {
        let line = stream.line().await?;
        if let Some(first) = line.as_deref().filter(|line| !any && line.starts_with('{')) {
            let first = first.to_owned();
            let whole = read_whole(&stream.whole(first, private).await?)?;
            whole_piece(&whole, sink);
            return Ok(whole);
        }
        let Some(event) = events.take(line.as_deref()) else {
            if line.is_none() {
                let message = "the connection was closed in the middle of the answer";
                return Err(HttpError::new(BACKEND, ErrorKind::ProviderUnreachable, message));
            }
            continue;
        };
        let json: Value = serde_json::from_str(&event.data)
            .map_err(|_| HttpError::unusable(BACKEND, "a piece of the answer is not JSON"))?;
        any = true;
        let part = |path: &str| json.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let index = json.get("index").and_then(Value::as_u64).unwrap_or_default();
        match part("/type") {
            "message_start" => tokens = usage(json.pointer("/message/usage")),
            "content_block_start" if part("/content_block/type") == "tool_use" => {
                let id = Some(part("/content_block/id")).filter(|id| !id.is_empty());
                let id = id.map_or_else(new_call_id, str::to_owned);
                calls.insert(index, ToolCall::new(id, part("/content_block/name"), ""));
                if calls.len() > CALLS {
                    return Err(HttpError::unusable(BACKEND, "the answer has too many tool calls"));
                }
            }
            "content_block_start" | "content_block_delta" => {
                // A block of text may begin with some of it.
                let piece = [part("/content_block/text"), part("/delta/text")].concat();
                if !piece.is_empty() {
                    sink(&piece);
                    text.push_str(&piece);
                }
                if let Some(call) = calls.get_mut(&index) {
                    call.arguments.push_str(part("/delta/partial_json"));
                }
            }
            "message_delta" => {
                let stop = part("/delta/stop_reason");
                reason = Some(stop.to_owned()).filter(|stop| !stop.is_empty()).or(reason);
                // Counts are of the whole answer so far; what was sent is often said at the start alone.
                let said = usage(json.get("usage"));
                tokens.output_tokens = said.output_tokens.max(tokens.output_tokens);
                tokens.input_tokens = said.input_tokens.max(tokens.input_tokens);
            }
            "message_stop" => break,
            "error" => return Err(http.refused(Refusal::without_status(&json), private)),
            _ if event.name == "error" || Refusal::in_band(&json).is_some() => {
                return Err(http.refused(Refusal::without_status(&json), private));
            }
            // Pings, ends of blocks, and what may come in the future: the API asks to pass over it.
            _ => {}
        }
    }
    let mut tool_calls: Vec<ToolCall> = calls.into_values().collect();
    for call in tool_calls.iter_mut().filter(|call| call.arguments.is_empty()) {
        // A call without arguments has no pieces of them.
        call.arguments.push_str("{}");
    }
    let finish = finish(reason.as_deref(), !tool_calls.is_empty());
    Ok(ChatResponse { text, finish, tool_calls, usage: tokens })
}
