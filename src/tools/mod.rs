//! [`MemoryEngine::tools`]: the memory as tools that a model calls, in any framework.

mod arguments;
mod blocks;
mod change;
mod definitions;
mod find;
mod ids;
mod options;
mod result;
mod show;

use serde_json::Value;

use crate::{MemoryEngine, Message, Result, Scope, Timestamp, ToolCall, ToolDefinition};
use arguments::{Arguments, Fault};
use definitions::Tool;
use options::Options;
pub use result::ToolResult;

/// What is kept free of a result for what is said beside the memories.
const REMARK: usize = 150;
/// Most characters of a fault that a model is told: short, whatever the limit.
const FAULT: usize = 1_500;

impl MemoryEngine {
    /// The memory of a scope as tools that a model calls: see [`MemoryTools`].
    pub fn tools(&self, scope: &Scope) -> MemoryTools {
        MemoryTools { engine: self.clone(), scope: scope.clone(), options: Options::default() }
    }
}

/// The memory of one scope as tools for a model: definitions to offer it, and one method that runs what it calls.
///
/// The scope is the application's: no tool takes one, and what lies outside is as if it were not there.
///
/// | tool | arguments (* required) | |
/// | --- | --- | --- |
/// | `search_memory` | `query`, `categories`, `kinds`, `from`, `to`, `limit` | finds; without a query the newest |
/// | `list_categories` | | |
/// | `add_memory` | `text`*, `kind`, `categories` | one fact, held against what is known |
/// | `update_memory` | `id`*, `text`* | |
/// | `forget_memory` | `id`* | |
/// | `list_blocks` | | |
/// | `append_block` | `label`*, `text`* | |
/// | `replace_block` | `label`*, `old`*, `new`* | |
/// | `rethink_block` | `label`*, `text`* | |
///
/// These names are stable.
#[derive(Debug, Clone)]
#[must_use]
pub struct MemoryTools {
    engine: MemoryEngine,
    scope: Scope,
    options: Options,
}

impl MemoryTools {
    /// The tools there are, for a [`ChatRequest`](crate::ChatRequest). The same options give the same bytes, so a
    /// provider's prompt cache hits. The schemas are plain objects that allow no other members and require all of theirs,
    /// of which some may be null; they hold no references.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        Tool::offered(&self.options).map(|tool| tool.definition(&self.options)).collect()
    }

    /// The tools in the form of OpenAI's Chat Completions, for the member `tools` of a request, with `strict` on.
    #[must_use]
    pub fn openai(&self) -> Vec<Value> {
        self.definitions().into_iter().map(definitions::openai).collect()
    }

    /// The tools in the form of Anthropic's Messages, for the member `tools` of a request.
    #[must_use]
    pub fn anthropic(&self) -> Vec<Value> {
        self.definitions().into_iter().map(definitions::anthropic).collect()
    }

    /// Runs the tool `name` with these arguments, as the model sent them: a JSON object, also in a string, a code fence or
    /// prose (see [`tool_arguments`](crate::prompted::tool_arguments)). Arguments that there are no parameters for are
    /// passed over.
    ///
    /// What a model gets wrong (a tool that is not there, arguments that cannot be read, an id that names nothing) is a
    /// result for it to read, with [`is_error`](ToolResult::is_error), which says what is expected in fewer than 2,000
    /// characters; nothing was changed then.
    ///
    /// Safe to call from many tasks at once, and to cancel: a call is carried out whole or not at all.
    ///
    /// # Errors
    /// What is not the model's fault: an outage of the store, the embedder or a model that reconciles;
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a bad scope, session or threshold.
    pub async fn call(&self, name: &str, arguments: &str) -> Result<ToolResult> {
        self.written().validate()?;
        self.options.validate()?;
        let done = match self.asked(name, arguments) {
            Ok((tool, arguments)) => self.run(tool, &arguments).await?.map_err(|fault| (Some(tool), fault)),
            Err(fault) => Err(fault),
        };
        Ok(done.unwrap_or_else(|(tool, fault)| {
            let text = match tool {
                Some(tool) if !fault.contains(tool.name()) => format!("{} was not run: {fault}.", tool.name()),
                _ => format!("Nothing was done: {fault}."),
            };
            ToolResult { is_error: true, ..ToolResult::said(shortened(text)) }
        }))
    }

    /// As [`call`](Self::call), with the result as the message that answers the call.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn call_tool(&self, call: &ToolCall) -> Result<Message> {
        Ok(self.call(&call.name, &call.arguments).await?.into_message(&call.id))
    }

    fn asked(&self, name: &str, arguments: &str) -> Result<(Tool, Arguments), (Option<Tool>, Fault)> {
        let Some(tool) = Tool::named(name, &self.options) else {
            let plain = |character: &char| character.is_alphanumeric() || matches!(character, '_' | '-' | '.');
            let name: String = name.chars().filter(plain).take(64).collect();
            let names: Vec<&str> = Tool::offered(&self.options).map(Tool::name).collect();
            return Err((None, format!("there is no tool `{name}`; the tools are {}", names.join(", "))));
        };
        let arguments = Arguments::read(tool, arguments, &self.options).map_err(|fault| (Some(tool), fault))?;
        Ok((tool, arguments))
    }

    async fn run(&self, tool: Tool, arguments: &Arguments) -> Result<Result<ToolResult, Fault>> {
        match tool {
            Tool::Search => self.search(arguments).await,
            Tool::Categories => self.list_categories().await.map(Ok),
            Tool::Add => self.add(arguments).await,
            Tool::Update => self.update(arguments).await,
            Tool::Forget => self.forget(arguments).await,
            Tool::Blocks => self.list_blocks().await.map(Ok),
            Tool::Append | Tool::Replace | Tool::Rethink => self.edit(tool, arguments).await,
        }
    }

    /// The characters that there are for memories in a result.
    fn room(&self) -> usize {
        self.options.max_result_chars.saturating_sub(REMARK)
    }

    /// Where new memories are stored.
    fn written(&self) -> Scope {
        match &self.options.session {
            Some(session) => self.scope.clone().with_session(session),
            None => self.scope.clone(),
        }
    }

    fn now(&self) -> Timestamp {
        self.engine.now()
    }
}

/// A fault as a model is told it.
fn shortened(text: String) -> String {
    match text.char_indices().nth(FAULT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
