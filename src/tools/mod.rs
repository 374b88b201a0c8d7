//! [`MemoryEngine::tools`]: the memory as tools that a model calls, in any framework.

mod options;
mod result;

use serde_json::Value;

use crate::{Error, ErrorKind, MemoryEngine, Message, Result, Scope, ToolCall, ToolDefinition};

use options::Options;
pub use result::ToolResult;

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
    /// The tools there are, for a [`ChatRequest`](crate::ChatRequest). Their order, names and texts are always the same for
    /// the same options, so a provider's prompt cache hits.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        Vec::new()
    }

    /// The tools in the form of OpenAI's Chat Completions, for the member `tools` of a request.
    #[must_use]
    pub fn openai(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The tools in the form of Anthropic's Messages, for the member `tools` of a request.
    #[must_use]
    pub fn anthropic(&self) -> Vec<Value> {
        Vec::new()
    }

    /// Runs the tool `name` with these arguments, as the model sent them.
    ///
    /// What a model gets wrong (a tool that is not there, arguments that cannot be read, an id that names nothing) is a
    /// result for it to read, with [`is_error`](ToolResult::is_error), and nothing was changed then.
    ///
    /// # Errors
    /// What is not the model's fault: an outage of store, embedder or model, or a bad scope.
    #[expect(clippy::unused_async, reason = "to be written")]
    pub async fn call(&self, name: &str, arguments: &str) -> Result<ToolResult> {
        let _ = (&self.engine, &self.scope, &self.options, name, arguments);
        Err(Error::new(ErrorKind::Unsupported, "to be written"))
    }

    /// As [`call`](Self::call), with the result as the message that answers the call.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn call_tool(&self, call: &ToolCall) -> Result<Message> {
        Ok(self.call(&call.name, &call.arguments).await?.into_message(&call.id))
    }
}
