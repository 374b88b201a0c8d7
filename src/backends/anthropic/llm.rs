use async_trait::async_trait;
use serde_json::Value;

use super::{
    Anthropic, BACKEND,
    request::{Conversation, JSON_SCHEMA},
    stream,
};
use crate::{
    ChatRequest, ChatResponse, ErrorKind, FinishReason, Llm, LlmCapabilities, Result, ToolCall, Usage,
    http::{Answer, Call, HttpError, new_call_id, private, whole_piece},
};

#[async_trait]
impl Llm for Anthropic {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> LlmCapabilities {
        let json_schema = !self.refused.has(JSON_SCHEMA);
        LlmCapabilities { tools: !self.refused.lacks_tools(), json_schema, json_mode: false, streaming: true }
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatResponse> {
        self.exchange(request, None).await
    }

    async fn chat_stream(
        &self,
        request: &ChatRequest,
        sink: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatResponse> {
        self.exchange(request, Some(sink)).await
    }
}

impl Anthropic {
    async fn exchange(
        &self,
        request: &ChatRequest,
        sink: Option<&mut (dyn for<'t> FnMut(&'t str) + Send)>,
    ) -> Result<ChatResponse> {
        let told = |error: HttpError| error.told("chat");
        request.check().map_err(|error| error.with_backend(BACKEND))?;
        let conversation = Conversation::of(request).map_err(|error| error.with_backend(BACKEND))?;
        let private = private(&request.messages);
        let streamed = sink.is_some();
        let mut nowhere = |_: &str| {};
        let sink = sink.map_or(&mut nowhere as _, |sink| sink);
        loop {
            let (body, sent) = self.body(request, &conversation, streamed);
            let call = Call { path: "/v1/messages", body: &body, stream: streamed, private: private.clone() };
            let mut begun = false;
            let mut sink = |piece: &str| {
                begun = true;
                sink(piece);
            };
            let answer = match self.http.send(&call).await {
                Ok(Answer::Whole(json)) => read(&json).inspect(|answer| whole_piece(answer, &mut sink)),
                Ok(Answer::Stream(stream)) => stream::read(&self.http, *stream, &private, &mut sink).await,
                Err(error) => Err(error),
            };
            match answer {
                Ok(answer) => return Ok(answer),
                Err(error) if !begun && !request.tools.is_empty() && self.refused.learn_tools(&error) => {
                    return Err(told(error.of_kind(ErrorKind::Unsupported)));
                }
                Err(error) if !begun && self.refused.learn(&error, &sent) => {}
                Err(error) => return Err(told(error)),
            }
        }
    }
}

pub(super) fn read(json: &Value) -> Result<ChatResponse, HttpError> {
    let blocks = json.get("content").and_then(Value::as_array);
    let blocks = blocks.ok_or_else(|| HttpError::unusable(BACKEND, "the answer holds no content"))?;
    let reason = json.get("stop_reason").and_then(Value::as_str);
    let part = |block: &Value, key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let of_type = |kind: &'static str| blocks.iter().filter(move |block| block.get("type").is_some_and(|t| t == kind));
    let text: String = of_type("text").map(|block| part(block, "text")).collect();
    let call = |block: &Value| {
        let id = Some(part(block, "id")).filter(|id| !id.is_empty()).unwrap_or_else(new_call_id);
        let input = match block.get("input") {
            // Compatible servers hand on the text that their model wrote.
            Some(Value::String(text)) => text.clone(),
            Some(parsed) => parsed.to_string(),
            None => String::new(),
        };
        ToolCall::new(id, part(block, "name"), input)
    };
    let tool_calls: Vec<ToolCall> = of_type("tool_use").map(call).collect();
    // An answer may be empty, but not without a reason.
    if reason.is_none() && text.is_empty() && tool_calls.is_empty() {
        return Err(HttpError::unusable(BACKEND, "the answer is empty"));
    }
    let finish = finish(reason, !tool_calls.is_empty());
    Ok(ChatResponse { text, finish, tool_calls, usage: usage(json.get("usage")) })
}

pub(super) fn finish(reason: Option<&str>, calls: bool) -> FinishReason {
    match reason {
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("refusal") => FinishReason::Filtered,
        _ if calls => FinishReason::ToolCalls,
        None | Some("end_turn" | "stop_sequence" | "tool_use") => FinishReason::Stop,
        Some(other) => FinishReason::Other(other.chars().take(64).collect()),
    }
}

/// Tokens that were read from a cache, or put there, are sent tokens too.
pub(super) fn usage(usage: Option<&Value>) -> Usage {
    let count = |key: &str| usage.and_then(|usage| usage.get(key)).and_then(Value::as_u64).unwrap_or_default();
    let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"].map(count);
    Usage::new(input.into_iter().fold(0, u64::saturating_add), count("output_tokens"))
}
