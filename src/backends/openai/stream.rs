use serde_json::Value;

use super::{
    BACKEND,
    llm::{finish, read as read_whole, text, usage},
};
use crate::{
    ChatResponse, ErrorKind, ToolCall, Usage,
    http::{Events, HttpClient, HttpError, Refusal, Stream, new_call_id, whole_piece},
};

/// Most tool calls of one answer; a faulty server could name any index.
const CALLS: usize = 128;

/// Puts the pieces of an answer together, handing text on as it comes.
///
/// The answer is whole when the server said why it stopped; `[DONE]` may be missing. Without either the connection was
/// cut, however politely it was closed.
pub(super) async fn read(
    http: &HttpClient,
    mut stream: Stream,
    private: &[&str],
    sink: &mut (dyn for<'t> FnMut(&'t str) + Send),
) -> Result<ChatResponse, HttpError> {
    let mut events = Events::default();
    let mut answer = Pieces::default();
    loop {
        let line = stream.line().await?;
        if let Some(first) = line.as_deref().filter(|line| !answer.any && line.starts_with('{')) {
            let first = first.to_owned();
            let whole = read_whole(&stream.whole(first, private).await?)?;
            whole_piece(&whole, sink);
            return Ok(whole);
        }
        if let Some(event) = events.take(line.as_deref()) {
            if event.data.trim() == "[DONE]" {
                answer.done = true;
                break;
            }
            let json: Value = serde_json::from_str(&event.data)
                .map_err(|_| HttpError::unusable(BACKEND, "a piece of the answer is not JSON"))?;
            let named = || (event.name == "error").then(|| Refusal::without_status(&json));
            if let Some(refusal) = Refusal::in_band(&json).or_else(named) {
                return Err(http.refused(refusal, private));
            }
            answer.take(&json, sink)?;
        }
        if line.is_none() {
            break;
        }
    }
    answer.whole()
}

#[derive(Default)]
struct Pieces {
    text: String,
    /// With the index that the server gave.
    calls: Vec<(Option<u64>, ToolCall)>,
    reason: Option<String>,
    refused: bool,
    usage: Usage,
    done: bool,
    any: bool,
}

impl Pieces {
    fn take(&mut self, json: &Value, sink: &mut (dyn for<'t> FnMut(&'t str) + Send)) -> Result<(), HttpError> {
        if json.get("usage").is_some_and(Value::is_object) {
            self.usage = usage(json);
        }
        let Some(choice) = json.pointer("/choices/0") else {
            return Ok(());
        };
        self.any = true;
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.reason = Some(reason.to_owned());
        }
        let Some(delta) = choice.get("delta") else {
            return Ok(());
        };
        let refusal = text(delta.get("refusal"));
        self.refused |= !refusal.is_empty();
        for piece in [text(delta.get("content")), refusal] {
            if !piece.is_empty() {
                sink(&piece);
                self.text.push_str(&piece);
            }
        }
        for piece in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.take_call(piece)?;
        }
        Ok(())
    }

    /// A piece names its call by its index, and those without one go on with the last. An id that is new begins a new
    /// call all the same: Gemini gives each of several calls the index 0.
    fn take_call(&mut self, piece: &Value) -> Result<(), HttpError> {
        let part = |key: &str| piece.pointer(key).and_then(Value::as_str).unwrap_or_default();
        let (id, index) = (part("/id"), piece.get("index").and_then(Value::as_u64));
        let other_id = |call: &ToolCall| !id.is_empty() && !call.id.is_empty() && call.id != id;
        let found = self.calls.iter().rposition(|(known, _)| index.is_none() || *known == index);
        let found = found.filter(|place| self.calls.get(*place).is_some_and(|(_, call)| !other_id(call)));
        let place = found.unwrap_or(self.calls.len());
        if place >= CALLS || index.is_some_and(|index| index >= CALLS as u64) {
            return Err(HttpError::unusable(BACKEND, "the answer has too many tool calls"));
        }
        if found.is_none() {
            self.calls.push((index, ToolCall::new("", "", "")));
        }
        if let Some((_, call)) = self.calls.get_mut(place) {
            // Some servers repeat id and name with every piece.
            if call.id.is_empty() {
                id.clone_into(&mut call.id);
            }
            if call.name.is_empty() {
                part("/function/name").clone_into(&mut call.name);
            }
            match piece.pointer("/function/arguments") {
                Some(parsed @ Value::Object(_)) => call.arguments.push_str(&parsed.to_string()),
                _ => call.arguments.push_str(part("/function/arguments")),
            }
        }
        Ok(())
    }

    fn whole(self) -> Result<ChatResponse, HttpError> {
        if self.reason.is_none() && !self.done {
            let message = "the connection was closed in the middle of the answer";
            return Err(HttpError::new(BACKEND, ErrorKind::ProviderUnreachable, message));
        }
        if !self.any {
            return Err(HttpError::unusable(BACKEND, "the answer is empty"));
        }
        let mut tool_calls: Vec<ToolCall> = self.calls.into_iter().map(|(_, call)| call).collect();
        for call in tool_calls.iter_mut().filter(|call| call.id.is_empty()) {
            call.id = new_call_id();
        }
        let finish = finish(self.reason.as_deref(), !tool_calls.is_empty(), self.refused);
        Ok(ChatResponse { text: self.text, tool_calls, finish, usage: self.usage })
    }
}
