//! An agent over models that do well and badly: what they say is listed, what is made of it is looked at.

mod acceptance;
mod faults;
mod own_tools;
mod plain;
mod properties;
mod saving;
mod session;
mod stream;
mod written;

use std::sync::{Arc, Mutex};

use ingrain::{
    ChatRequest, ChatResponse, LlmCapabilities, MemoryAgentBuilder, Message, Role, Scope, ToolCall, ToolDefinition,
    ToolFn, testing::ScriptedLlm,
};
use serde_json::{Value, json};

use crate::worlds::World;

/// A model that knows tools.
fn model() -> ScriptedLlm {
    let mut able = LlmCapabilities::default();
    able.tools = true;
    ScriptedLlm::new().with_capabilities(able)
}

/// An answer that calls tools: id, name, arguments.
fn calls(calls: &[(&str, &str, &str)]) -> ChatResponse {
    calls.iter().fold(ChatResponse::text(""), |response, (id, name, arguments)| {
        response.with_tool_call(ToolCall::new(*id, *name, *arguments))
    })
}

fn call(name: &str, arguments: &str) -> ChatResponse {
    calls(&[("c1", name, arguments)])
}

fn search(query: &str) -> ChatResponse {
    call("search_memory", &json!({ "query": query }).to_string())
}

fn agent(world: &World, llm: &ScriptedLlm) -> MemoryAgentBuilder {
    world.engine.agent(llm.clone())
}

fn mia() -> Scope {
    Scope::user("mia").with_session("monday")
}

/// What each tool message of a request says, by the id it answers.
fn results(request: &ChatRequest) -> Vec<(&str, &str)> {
    let tool = request.messages.iter().filter(|message| message.role == Role::Tool);
    tool.map(|message| (message.tool_call_id.as_deref().unwrap(), message.text.as_str())).collect()
}

fn said(messages: &[Message]) -> Vec<(Role, &str)> {
    messages.iter().map(|message| (message.role, message.text.as_str())).collect()
}

/// The calls of a tool that were carried out, in order.
type Log = Arc<Mutex<Vec<String>>>;

fn log() -> Log {
    Log::default()
}

fn logged(log: &Log) -> Vec<String> {
    log.lock().unwrap().clone()
}

/// A tool that notes down what it is called with.
fn noting(name: &str, parameters: Value, log: &Log) -> impl ingrain::AgentTool + use<> {
    let (log, name) = (log.clone(), name.to_owned());
    ToolFn::new(ToolDefinition::new(name.clone(), "Notes its call down.", parameters), move |_, arguments| {
        log.lock().unwrap().push(format!("{name}{}", Value::Object(arguments)));
        async { Ok("Noted.".to_owned()) }
    })
}

fn text_parameter() -> Value {
    json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]})
}
