use async_trait::async_trait;
use serde_json::{Value, json};

use super::{BACKEND, OpenAi, stream};
use crate::{
    ChatRequest, ChatResponse, Error, ErrorKind, FinishReason, Llm, LlmCapabilities, ResponseFormat, Result, ToolCall,
    ToolChoice, ToolDefinition, Usage,
    http::{Answer, Body, Call, HttpError, Parameter, Turn, digits, new_call_id, private, turns, whole_piece},
};

const TEMPERATURE: Parameter = Parameter { name: "temperature", words: &["temperature"], has_range: false };
const MAX_TOKENS: Parameter = Parameter { name: "max_tokens", words: &["max_tokens"], has_range: true };
const MAX_COMPLETION_TOKENS: Parameter =
    Parameter { name: "max_completion_tokens", words: &["max_completion_tokens"], has_range: true };
const FORMAT: [&str; 2] = ["response_format", "json_schema"];
const JSON_SCHEMA: Parameter = Parameter { name: "json_schema", words: &FORMAT, has_range: false };
const JSON_OBJECT: Parameter =
    Parameter { name: "json_object", words: &["response_format", "json_object"], has_range: false };
const STREAM_USAGE: Parameter =
    Parameter { name: "stream_options", words: &["stream_options", "include_usage"], has_range: false };
const TOOL_CHOICE: Parameter = Parameter { name: "tool_choice", words: &["tool_choice"], has_range: false };

#[async_trait]
impl Llm for OpenAi {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> LlmCapabilities {
        LlmCapabilities {
            tools: !self.refused.lacks_tools(),
            json_schema: !self.refused.has(JSON_SCHEMA),
            json_mode: !self.refused.has(JSON_OBJECT),
            streaming: true,
        }
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

impl OpenAi {
    async fn exchange(
        &self,
        request: &ChatRequest,
        sink: Option<&mut (dyn for<'t> FnMut(&'t str) + Send)>,
    ) -> Result<ChatResponse> {
        let told = |error: HttpError| error.told("chat");
        request.check().map_err(|error| error.with_backend(BACKEND))?;
        let messages = messages(request).map_err(|error| error.with_backend(BACKEND))?;
        let private = private(&request.messages);
        let streamed = sink.is_some();
        let mut nowhere = |_: &str| {};
        let sink = sink.map_or(&mut nowhere as _, |sink| sink);
        let mut wordless = false;
        loop {
            let (body, sent) = self.body(request, &messages, streamed, wordless);
            let call = Call { path: "/chat/completions", body: &body, stream: streamed, private: private.clone() };
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
            let error = match answer {
                Ok(answer) => return Ok(answer),
                Err(error) if begun => return Err(told(error)),
                Err(error) => error,
            };
            // JSON of any shape wants a prompt that names it: of this call alone.
            if !wordless && error.refusal().is_some_and(|refusal| refusal.says(&["must contain the word"])) {
                wordless = true;
                continue;
            }
            // A request with tools means nothing without them: it is noted that there are none, and told.
            if !request.tools.is_empty() && self.refused.learn_tools(&error) {
                return Err(told(error.of_kind(ErrorKind::Unsupported)));
            }
            if !self.refused.learn(&error, &sent) {
                return Err(told(error));
            }
        }
    }

    /// The request, without what the server refuses, and what of it the server may still refuse.
    fn body(&self, request: &ChatRequest, messages: &Value, streamed: bool, wordless: bool) -> (Value, Vec<Parameter>) {
        let mut body = Body::new(&self.refused);
        body.set("model", self.model.as_str());
        body.set("messages", messages.clone());
        if let Some(temperature) = request.temperature {
            body.offer(TEMPERATURE, "temperature", digits(temperature));
        }
        if let Some(limit) = request.max_output_tokens
            && !body.offer(MAX_TOKENS, "max_tokens", limit)
        {
            body.offer(MAX_COMPLETION_TOKENS, "max_completion_tokens", limit);
        }
        let schema = match &request.response_format {
            ResponseFormat::Schema { name, schema } => {
                let format = json!({ "name": name, "strict": is_strict(schema), "schema": schema });
                body.offer(JSON_SCHEMA, "response_format", json!({ "type": "json_schema", "json_schema": format }))
            }
            _ => false,
        };
        if request.response_format != ResponseFormat::Text && !schema && !wordless {
            body.offer(JSON_OBJECT, "response_format", json!({ "type": "json_object" }));
        }
        if !request.tools.is_empty() {
            body.set("tools", request.tools.iter().map(tool).collect::<Value>());
            let choice = match &request.tool_choice {
                ToolChoice::Auto => None,
                ToolChoice::None => Some(json!("none")),
                ToolChoice::Required => Some(json!("required")),
                ToolChoice::Tool(name) => Some(json!({ "type": "function", "function": { "name": name } })),
            };
            if let Some(choice) = choice {
                body.offer(TOOL_CHOICE, "tool_choice", choice);
            }
        }
        if streamed {
            body.set("stream", true);
            body.offer(STREAM_USAGE, "stream_options", json!({ "include_usage": true }));
        }
        body.done()
    }
}

pub(super) fn read(json: &Value) -> Result<ChatResponse, HttpError> {
    let choice = json.pointer("/choices/0").ok_or_else(|| HttpError::unusable(BACKEND, "the answer is empty"))?;
    let message = choice.get("message").filter(|message| message.is_object());
    let message = message.ok_or_else(|| HttpError::unusable(BACKEND, "the answer holds no message"))?;
    let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let tool_calls: Vec<ToolCall> = calls.iter().map(tool_call).collect();
    let refusal = message.get("refusal").and_then(Value::as_str).filter(|refusal| !refusal.is_empty());
    let reason = choice.get("finish_reason").and_then(Value::as_str);
    Ok(ChatResponse {
        text: refusal.map_or_else(|| text(message.get("content")), str::to_owned),
        finish: finish(reason, !tool_calls.is_empty(), refusal.is_some()),
        tool_calls,
        usage: usage(json),
    })
}

/// The messages in the server's form.
fn messages(request: &ChatRequest) -> Result<Value, Error> {
    let message = |turn: Turn<'_>| match turn {
        Turn::System(text) => json!({ "role": "system", "content": text }),
        Turn::User(text) => json!({ "role": "user", "content": text }),
        Turn::Assistant { text, calls: [] } => json!({ "role": "assistant", "content": text }),
        Turn::Assistant { text, calls } => {
            // Arguments that are no JSON make servers fail that put them into a template.
            let function = |call: &ToolCall| {
                let arguments = Value::Object(crate::http::arguments(call)).to_string();
                let function = json!({ "name": call.name, "arguments": arguments });
                json!({ "id": call.id, "type": "function", "function": function })
            };
            let calls: Value = calls.iter().map(function).collect();
            // Text is left out when there is none: `null` is refused by some, empty text by others.
            if text.is_empty() {
                json!({ "role": "assistant", "tool_calls": calls })
            } else {
                json!({ "role": "assistant", "content": text, "tool_calls": calls })
            }
        }
        Turn::Result { call, text, .. } => json!({ "role": "tool", "tool_call_id": call.id, "content": text }),
    };
    Ok(turns(&request.messages)?.into_iter().map(message).collect())
}

/// Whether OpenAI's strict mode takes the schema: every object names all its properties as required, and no others.
fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let properties = map.get("properties").and_then(Value::as_object);
            let is_object = properties.is_some() || map.get("type").is_some_and(|kind| kind == "object");
            let required = map.get("required").and_then(Value::as_array);
            let requires = |name: &String| required.is_some_and(|names| names.iter().any(|other| other == name));
            let closed = map.get("additionalProperties") == Some(&Value::Bool(false));
            let whole = properties.is_none_or(|properties| properties.keys().all(requires));
            (!is_object || (closed && whole)) && map.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

/// Text, or the texts of a list of parts.
pub(super) fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        _ => String::new(),
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.parameters });
    json!({ "type": "function", "function": function })
}

fn tool_call(call: &Value) -> ToolCall {
    let function = call.get("function").unwrap_or(call);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let id = Some(text(call.get("id"))).filter(|id| !id.is_empty()).unwrap_or_else(new_call_id);
    let arguments = match function.get("arguments") {
        // Some servers send what they parsed already.
        Some(parsed @ (Value::Object(_) | Value::Array(_))) => parsed.to_string(),
        other => text(other),
    };
    ToolCall::new(id, text(function.get("name")), arguments)
}

pub(super) fn finish(reason: Option<&str>, calls: bool, refusal: bool) -> FinishReason {
    match reason {
        _ if refusal => FinishReason::Filtered,
        Some("length" | "max_tokens" | "model_length") => FinishReason::Length,
        Some("content_filter") => FinishReason::Filtered,
        // Some servers say `stop` with their calls.
        _ if calls => FinishReason::ToolCalls,
        None
        | Some("stop" | "" | "eos" | "eos_token" | "stop_sequence" | "end_turn" | "tool_calls" | "function_call") => {
            FinishReason::Stop
        }
        Some(other) => FinishReason::Other(other.chars().take(64).collect()),
    }
}

pub(super) fn usage(json: &Value) -> Usage {
    let count = |key: &str| json.pointer(key).and_then(Value::as_u64).unwrap_or_default();
    Usage::new(count("/usage/prompt_tokens"), count("/usage/completion_tokens"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_mode_is_asked_for_where_the_schema_allows_it() {
        let schema = |items: Value, required: Value, others: Value| {
            json!({ "type": "object", "properties": { "a": { "type": "array", "items": items } },
                "required": required, "additionalProperties": others })
        };
        let text = json!({ "type": "string" });
        assert!(is_strict(&schema(text.clone(), json!(["a"]), json!(false))));
        assert!(!is_strict(&schema(text.clone(), json!(["a"]), json!(true))));
        assert!(!is_strict(&schema(text.clone(), json!(["a"]), json!(null))));
        assert!(!is_strict(&schema(text, json!([]), json!(false))));
        assert!(!is_strict(&schema(json!({ "type": "object" }), json!(["a"]), json!(false))));
    }

    #[test]
    fn reasons_to_stop_are_ours() {
        assert_eq!(finish(Some("length"), true, false), FinishReason::Length);
        assert_eq!(finish(Some("stop"), true, false), FinishReason::ToolCalls);
        assert_eq!(finish(None, false, false), FinishReason::Stop);
        assert_eq!(finish(Some("stop"), false, true), FinishReason::Filtered);
        assert_eq!(finish(Some("weather"), false, false), FinishReason::Other("weather".to_owned()));
    }
}
