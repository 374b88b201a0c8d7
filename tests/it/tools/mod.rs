//! The memory as tools for a model.

mod changing;
mod definitions;
mod hostile;
mod searching;

use ingrain::{Memory, MemoryId, MemoryTools, Scope, ToolResult};
use serde_json::Value;

use crate::worlds::World;

/// Calls a tool, which works.
async fn run(tools: &MemoryTools, name: &str, arguments: Value) -> ToolResult {
    let result = tools.call(name, &arguments.to_string()).await.unwrap();
    assert!(!result.is_error, "{name} {arguments}: {}", result.text);
    result
}

/// What a tool says that was not run; it says it shortly, and changed nothing.
async fn fault(tools: &MemoryTools, name: &str, arguments: &str) -> String {
    let result = tools.call(name, arguments).await.unwrap();
    assert!(result.is_error && !result.changed && result.memories.is_empty(), "{name} {arguments}: {}", result.text);
    assert!(result.text.chars().count() < 2_000);
    result.text
}

/// The id as the tools show it.
fn short(id: MemoryId) -> String {
    let digits = id.to_string().replace('-', "");
    digits[digits.len() - 8..].to_owned()
}

async fn stored(world: &World, scope: &Scope, text: &str) -> Memory {
    world.add(scope, text).await
}
