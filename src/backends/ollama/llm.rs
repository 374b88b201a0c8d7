use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{BACKEND, Ollama};
use crate::{
    ChatRequest, ChatResponse, ErrorKind, FinishReason, Llm, LlmCapabilities, ResponseFormat, Result, ToolCall,
    ToolChoice, ToolDefinition, Usage,
    http::{
        Answer, Body, Call, HttpError, Parameter, Refusal, Stream, Turn, arguments, digits, new_call_id, private, turns,
    },
};

/// Old servers know `"json"` alone, and complain about the type.
const JSON_SCHEMA: Parameter = Parameter { name: "json_schema", words: &["format", "grammar"], has_range: false };
const JSON_MODE: Parameter = Parameter { name: "json_mode", words: &["format"], has_range: false };

#[async_trait]
impl Llm for Ollama {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> LlmCapabilities {
        let (json_schema, json_mode) = (!self.refused.has(JSON_SCHEMA), !self.refused.has(JSON_MODE));
        LlmCapabilities { tools: !self.refused.lacks_tools(), json_schema, json_mode, streaming: true }
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

impl Ollama {
    async fn exchange(
        &self,
        request: &ChatRequest,
        mut sink: Option<&mut (dyn for<'t> FnMut(&'t str) + Send)>,
    ) -> Result<ChatResponse> {
        let told = |error: HttpError| error.told("chat");
        request.check().map_err(|error| error.with_backend(BACKEND))?;
        let messages = messages(request).map_err(|error| error.with_backend(BACKEND))?;
        let private = private(&request.messages);
        loop {
            let (body, sent) = self.body(request, &messages, sink.is_some());
            let call = Call { path: "/api/chat", body: &body, stream: sink.is_some(), private: private.clone() };
            let error = match self.http.send(&call).await {
                Ok(answer) => {
                    let mut pieces = Pieces::default();
                    let mut nowhere = |_: &str| {};
                    let sink = sink.take().map_or(&mut nowhere as _, |sink| sink);
                    let read = match answer {
                        Answer::Whole(json) => self.take(&mut pieces, &json, &private, sink),
                        Answer::Stream(stream) => self.take_all(&mut pieces, *stream, &private, sink).await,
                    };
                    return read.and_then(|()| pieces.whole()).map_err(told);
                }
                Err(error) => error,
            };
            // A request with tools means nothing without them: it is noted that the model has none, and told.
            let has_tools = body.get("tools").is_some();
            if has_tools && self.refused.learn_tools(&error) {
                return Err(told(error.of_kind(ErrorKind::Unsupported)));
            }
            if !self.refused.learn(&error, &sent) {
                return Err(told(error));
            }
        }
    }

    /// The request, without what the server refuses, and what of it the server may still refuse.
    fn body(&self, request: &ChatRequest, messages: &Value, streamed: bool) -> (Value, Vec<Parameter>) {
        let mut body = Body::new(&self.refused);
        body.set("model", self.model.as_str());
        body.set("messages", messages.clone());
        body.set("stream", streamed);
        // Else what does not fit into the context is cut off its beginning without a word, before and during the answer.
        // Older servers pass over both and do so all the same.
        body.set("truncate", false);
        body.set("shift", false);
        let mut options = Map::new();
        if let Some(tokens) = self.num_ctx {
            options.insert("num_ctx".to_owned(), json!(tokens));
        }
        if let Some(temperature) = request.temperature {
            options.insert("temperature".to_owned(), json!(digits(temperature)));
        }
        if let Some(limit) = request.max_output_tokens {
            options.insert("num_predict".to_owned(), json!(limit));
        }
        if !options.is_empty() {
            body.set("options", options);
        }
        match &request.response_format {
            ResponseFormat::Schema { schema, .. } if body.offer(JSON_SCHEMA, "format", schema.clone()) => {}
            ResponseFormat::Schema { .. } | ResponseFormat::Json => {
                body.offer(JSON_MODE, "format", "json");
            }
            ResponseFormat::Text => {}
        }
        let offered = request.tools.iter().filter(|tool| match &request.tool_choice {
            ToolChoice::None => false,
            ToolChoice::Tool(name) => tool.name == *name,
            ToolChoice::Auto | ToolChoice::Required => true,
        });
        let tools: Vec<Value> = offered.map(tool).collect();
        if !tools.is_empty() {
            body.set("tools", tools);
        }
        body.done()
    }

    /// One object of an answer, which is the whole of it when nothing is streamed.
    fn take(
        &self,
        pieces: &mut Pieces,
        json: &Value,
        private: &[&str],
        sink: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<(), HttpError> {
        if let Some(refusal) = Refusal::in_band(json) {
            return Err(self.http.refused(refusal, private));
        }
        if let Some(message) = json.get("message").filter(|message| message.is_object()) {
            pieces.any = true;
            let text = message.get("content").and_then(Value::as_str).unwrap_or_default();
            if !text.is_empty() {
                sink(text);
                pieces.text.push_str(text);
            }
            let calls = message.get("tool_calls").and_then(Value::as_array);
            pieces.calls.extend(calls.into_iter().flatten().map(tool_call));
        }
        if json.get("done").is_some_and(|done| done == true) {
            pieces.done = true;
            pieces.reason = json.get("done_reason").and_then(Value::as_str).map(str::to_owned);
            let count = |key: &str| json.get(key).and_then(Value::as_u64).unwrap_or_default();
            pieces.usage = Usage::new(count("prompt_eval_count"), count("eval_count"));
        }
        Ok(())
    }

    async fn take_all(
        &self,
        pieces: &mut Pieces,
        mut stream: Stream,
        private: &[&str],
        sink: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<(), HttpError> {
        while !pieces.done
            && let Some(line) = stream.line().await?
        {
            if line.trim().is_empty() {
                continue;
            }
            let json: Value = serde_json::from_str(&line)
                .map_err(|_| HttpError::unusable(BACKEND, "a piece of the answer is not JSON"))?;
            self.take(pieces, &json, private, sink)?;
        }
        if !pieces.done {
            let message = "the connection was closed in the middle of the answer";
            return Err(HttpError::new(BACKEND, ErrorKind::ProviderUnreachable, message));
        }
        Ok(())
    }
}

#[derive(Default)]
struct Pieces {
    text: String,
    calls: Vec<ToolCall>,
    reason: Option<String>,
    usage: Usage,
    done: bool,
    any: bool,
}

impl Pieces {
    fn whole(self) -> Result<ChatResponse, HttpError> {
        if !self.any {
            return Err(HttpError::unusable(BACKEND, "the answer holds no message"));
        }
        let finish = match self.reason.as_deref() {
            Some("length") => FinishReason::Length,
            _ if !self.calls.is_empty() => FinishReason::ToolCalls,
            None | Some("stop" | "") => FinishReason::Stop,
            Some(other) => FinishReason::Other(other.chars().take(64).collect()),
        };
        Ok(ChatResponse { text: self.text, tool_calls: self.calls, finish, usage: self.usage })
    }
}

fn messages(request: &ChatRequest) -> Result<Value> {
    let message = |turn: Turn<'_>| match turn {
        Turn::System(text) => json!({ "role": "system", "content": text }),
        Turn::User(text) => json!({ "role": "user", "content": text }),
        Turn::Assistant { text, calls: [] } => json!({ "role": "assistant", "content": text }),
        Turn::Assistant { text, calls } => {
            let call = |call: &ToolCall| json!({ "function": { "name": call.name, "arguments": arguments(call) } });
            let calls: Value = calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        // Results follow their calls, in order: Ollama knows no ids.
        Turn::Result { call, text, .. } => json!({ "role": "tool", "tool_name": call.name, "content": text }),
    };
    Ok(turns(&request.messages)?.into_iter().map(message).collect())
}

fn tool(tool: &ToolDefinition) -> Value {
    let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.parameters });
    json!({ "type": "function", "function": function })
}

fn tool_call(call: &Value) -> ToolCall {
    let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
    let arguments = match call.pointer("/function/arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(parsed) => parsed.to_string(),
        None => String::new(),
    };
    ToolCall::new(new_call_id(), name, arguments)
}
