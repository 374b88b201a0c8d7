//! Taking everything out of a store, and into another.

mod export;
mod import;
mod line;

pub use export::Export;
pub use import::{Import, OnClash};
use serde::{Deserialize, Serialize};

/// How much was exported or imported, so far or in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct TransferReport {
    /// Memories.
    pub memories: u64,
    /// Memories that had been removed, of which there is but the history.
    pub removed: u64,
    /// Events of histories.
    pub events: u64,
    /// Entities of the graph.
    pub entities: u64,
    /// Relations of the graph, also those that had ended or expired.
    pub relations: u64,
    /// Queued adds.
    pub queued_adds: u64,
    /// Lines that were passed over since the store has what they hold, or something else in its place, or no room for such
    /// things. Of an import alone.
    pub skipped: u64,
}
