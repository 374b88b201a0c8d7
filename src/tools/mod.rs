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
/// The scope is the application's: no tool takes one, and what lies outside is as if it were not there. A handle is cheap
/// to clone, and good for any framework that has function calls.
///
/// ```
/// use ingrain::{HashingEmbedder, MemoryEngine, Message, Scope, ToolCall};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(256)).build().await?;
/// let mia = Scope::user("mia");
/// memory.add(&mia, [Message::user("I'm allergic to penicillin.")]).await?;
/// let tools = memory.tools(&mia).read_only();
/// let body = serde_json::json!({ "model": "some-model", "messages": [], "tools": tools.openai() });
/// // What the model then calls:
/// let call = ToolCall::new("c1", "search_memory", r#"{"query": "allergies", "kinds": ["fact"]}"#);
/// let answer = tools.call_tool(&call).await?;
/// assert!(answer.text.contains("Is allergic to penicillin"));
/// # Ok(())
/// # }
/// ```
///
/// | tool | arguments (* required) | |
/// | --- | --- | --- |
/// | `search_memory` | `query`, `categories`, `kinds`, `from`, `to`, `limit` | finds; without a query the newest |
/// | `list_categories` | | with how many memories each |
/// | `add_memory` | `text`*, `kind`, `categories` | one fact, held against what is known |
/// | `update_memory` | `id`*, `text`* | a new text for one |
/// | `forget_memory` | `id`* | removes it; its history stays |
/// | `list_blocks` | | what each is for, says and may hold |
/// | `append_block` | `label`*, `text`* | on a new line |
/// | `replace_block` | `label`*, `old`*, `new`* | where `old` is there once |
/// | `rethink_block` | `label`*, `text`* | as a whole |
///
/// These names and parameters are stable; `from` and `to` are days of what was told, both included. The tools reach what holds
/// now, blocks aside, which have tools of their own.
///
/// # What a model is told
/// Memories stand in the [frame](crate::MemoryContext) of recalled text, one to a line, each a quotation that nothing stored
/// can end, with an id in square brackets: the last eight digits of its [`MemoryId`](crate::MemoryId), which the other
/// tools take, as they take the whole id. The longest texts are cut, between characters, so that the result keeps to its
/// length and the others have room. Nothing found is said in words. When such a text comes back through
/// [`add`](MemoryEngine::add) it is known and not stored again.
///
/// # What a model may do
/// What it adds is one fact, of the assistant's word ([`Trust::Assistant`](crate::Trust::Assistant)), held against what is
/// known as in an [`add`](MemoryEngine::add): a repetition is not stored, what it contradicts ends. So is a memory from then
/// on that a model changes or adds to. A turn of a conversation can be forgotten, and not changed; so can what has ended.
/// Blocks are the application's to make; a model changes those that are not read-only. The history names
/// [`Actor::Agent`](crate::Actor::Agent).
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
