use serde_json::{Map, Value, json};

use super::{Anthropic, BACKEND};
use crate::{
    ChatRequest, Error, ResponseFormat, Result, ToolCall, ToolChoice, ToolDefinition,
    http::{Body, Parameter, Turn, arguments, digits, turns},
};

const TEMPERATURE: Parameter = Parameter { name: "temperature", words: &["temperature"], has_range: false };
const TOOL_CHOICE: Parameter = Parameter { name: "tool_choice", words: &["tool_choice"], has_range: false };
pub(super) const JSON_SCHEMA: Parameter =
    Parameter { name: "json_schema", words: &["output_config", "output_format", "json_schema"], has_range: false };

/// The conversation in the server's form.
pub(super) struct Conversation {
    system: String,
    messages: Value,
}

impl Conversation {
    /// Parts the system text from the messages and joins what one side says in a row, results of tools first.
    ///
    /// # Errors
    /// `InvalidArgument` when nothing is left to send, and for a result without its call.
    pub(super) fn of(request: &ChatRequest) -> Result<Self> {
        let mut system: Vec<&str> = Vec::new();
        let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
        let mut say = |role: &'static str, block: Value| match messages.last_mut() {
            Some((last, blocks)) if *last == role => blocks.push(block),
            _ => messages.push((role, vec![block])),
        };
        // The API refuses blocks of white space.
        let block = |text: &str| (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }));
        for turn in turns(&request.messages)? {
            match turn {
                Turn::System(text) if text.trim().is_empty() => {}
                Turn::System(text) => system.push(text),
                Turn::User(text) => block(text).into_iter().for_each(|block| say("user", block)),
                Turn::Assistant { text, calls } => {
                    // A last message that ends with white space is refused.
                    block(text.trim_end()).into_iter().for_each(|block| say("assistant", block));
                    for call in calls {
                        say("assistant", tool_use(call));
                    }
                }
                Turn::Result { call, text, failed } => {
                    let mut result = Map::new();
                    result.insert("type".to_owned(), json!("tool_result"));
                    result.insert("tool_use_id".to_owned(), json!(call.id));
                    if !text.trim().is_empty() {
                        result.insert("content".to_owned(), json!(text));
                    }
                    if failed {
                        result.insert("is_error".to_owned(), json!(true));
                    }
                    say("user", Value::Object(result));
                }
            }
        }
        if messages.is_empty() {
            return Err(Error::invalid("a request needs a message that is not blank").with_backend(BACKEND));
        }
        let message = |(role, blocks): (&str, Vec<Value>)| json!({ "role": role, "content": blocks });
        Ok(Self { system: system.join("\n\n"), messages: messages.into_iter().map(message).collect() })
    }
}

impl Anthropic {
    /// The request, without what the server refuses, and what of it the server may still refuse.
    pub(super) fn body(
        &self,
        request: &ChatRequest,
        conversation: &Conversation,
        streamed: bool,
    ) -> (Value, Vec<Parameter>) {
        let mut body = Body::new(&self.refused);
        body.set("model", self.model.as_str());
        body.set("max_tokens", request.max_output_tokens.unwrap_or(self.max_output_tokens));
        body.set("messages", conversation.messages.clone());
        if !conversation.system.is_empty() {
            body.set("system", conversation.system.as_str());
        }
        if let Some(temperature) = request.temperature {
            body.offer(TEMPERATURE, "temperature", digits(temperature));
        }
        // There is no mode for JSON of any shape: the prompt must ask for it.
        if let ResponseFormat::Schema { schema, .. } = &request.response_format {
            body.offer(JSON_SCHEMA, "output_config", json!({ "format": { "type": "json_schema", "schema": schema } }));
        }
        if !request.tools.is_empty() {
            body.set("tools", request.tools.iter().map(tool).collect::<Value>());
            let choice = match &request.tool_choice {
                ToolChoice::Auto => None,
                ToolChoice::None => Some(json!({ "type": "none" })),
                ToolChoice::Required => Some(json!({ "type": "any" })),
                ToolChoice::Tool(name) => Some(json!({ "type": "tool", "name": name })),
            };
            if let Some(choice) = choice {
                body.offer(TOOL_CHOICE, "tool_choice", choice);
            }
        }
        if streamed {
            body.set("stream", true);
        }
        body.done()
    }
}

fn tool_use(call: &ToolCall) -> Value {
    let input: Map<String, Value> = arguments(call);
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters })
}
