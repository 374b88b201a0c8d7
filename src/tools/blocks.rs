//! Tools for core memory.

use super::{
    MemoryTools, ToolResult,
    arguments::{Arguments, Fault},
    definitions::Tool,
    show,
};
use crate::{Block, Blocks, ErrorKind, Memory, MemoryId, Result, frame::quoted};

/// Most labels that are named where one is not found, and most characters that a description is shown with.
const NAMED: usize = 20;
const DESCRIPTION: usize = 200;

impl MemoryTools {
    fn blocks(&self) -> Blocks {
        self.engine.blocks(&self.scope).as_agent()
    }

    pub(super) async fn list_blocks(&self) -> Result<ToolResult> {
        let blocks = self.blocks().list().await?;
        if blocks.is_empty() {
            return Ok(ToolResult::said("There are no blocks.".to_owned()));
        }
        let now = self.now();
        let lines = blocks.iter().map(|block| {
            let id = block.id.unwrap_or_else(|| MemoryId::new(now));
            let mut memory = Memory::new(id, self.scope.clone(), "", now);
            block.write_to(&mut memory);
            (remark(block), memory)
        });
        let show::Listing { mut text, memories, left_out } = show::listing(lines.collect(), self.room());
        if left_out > 0 {
            text.push_str(&format!("\n{left_out} more had no room here."));
        }
        Ok(ToolResult { memories, ..ToolResult::said(text) })
    }

    /// Carries out an edit of a block.
    pub(super) async fn edit(&self, tool: Tool, arguments: &Arguments) -> Result<Result<ToolResult, Fault>> {
        let blocks = self.blocks();
        let wanted = arguments.text("label");
        let all = blocks.list().await?;
        let exact = all.iter().find(|block| block.label == wanted);
        let Some(before) = exact.or_else(|| alike(&all, wanted)) else { return Ok(Err(unknown(&all))) };
        let label = before.label.as_str();
        let edited = match tool {
            Tool::Append => blocks.append(label, arguments.text("text")).await,
            Tool::Replace => blocks.replace(label, arguments.text("old"), arguments.text("new")).await,
            _ => blocks.rethink(label, arguments.text("text")).await,
        };
        match edited {
            Ok(block) => {
                let text = format!("The block {} has {}.", quoted(label), used(&block));
                let changed = block.text != before.text;
                Ok(Ok(ToolResult { memories: block.id.into_iter().collect(), changed, ..ToolResult::said(text) }))
            }
            Err(error) if matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::NotFound) => {
                Ok(Err(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

/// The one block whose label is this but for case and white space.
fn alike<'b>(blocks: &'b [Block], label: &str) -> Option<&'b Block> {
    let folded = |label: &str| label.trim().to_lowercase();
    let mut alike = blocks.iter().filter(|block| folded(&block.label) == folded(label));
    alike.next().filter(|_| alike.next().is_none())
}

fn unknown(blocks: &[Block]) -> Fault {
    let labels: Vec<String> = blocks.iter().take(NAMED).map(|block| quoted(&block.label)).collect();
    match labels.as_slice() {
        [] => "there are no blocks; the application makes them".to_owned(),
        labels => format!("there is no block with this label; `label` must be one of {}", labels.join(", ")),
    }
}

fn used(block: &Block) -> String {
    format!("{} of {} characters", block.characters(), block.limit)
}

/// What stands after the text of a block.
fn remark(block: &Block) -> String {
    let description = block.description.as_deref().filter(|description| !description.trim().is_empty());
    let description = description.map(|text| text.chars().take(DESCRIPTION).collect::<String>());
    let what_for = description.map(|text| format!(", for: {}", quoted(&text))).unwrap_or_default();
    let read_only = if block.read_only { ", read-only" } else { "" };
    format!("({}{what_for}{read_only})", used(block))
}
