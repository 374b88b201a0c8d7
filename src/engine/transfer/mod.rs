//! Taking everything out of a store, and into another.

mod admit;
mod export;
mod import;
mod line;
mod relations;
mod write;

pub use export::Export;
pub use import::{Import, OnClash};
use serde::{Deserialize, Serialize};

use crate::{MemoryEngine, Scope};

impl MemoryEngine {
    /// All that the scope covers, as lines of JSON, to keep or to take to another store: memories with the texts they are
    /// found by and their histories, the histories of what was removed, the graph, conversations with their summaries, and queued adds.
    ///
    /// The first line is `{"type": "ingrain", "version": …}`, the last `{"type": "end", …}` with counts, by which
    /// [`import`](Self::import) knows that nothing is missing; in between, `type` is `memory`, `removed`, `entity`,
    /// `relation`, `conversation`, `messages` or `queued_add`. Vectors are not in it: whatever imports makes them anew.
    ///
    /// All that a [purge of everything](crate::Purge::everything) of the scope takes away is in it. So the graph's part of a
    /// session is what its memories told, though the graph is the user's: relations that rest on them, with those of the
    /// memories that are in the scope, and in their words. Only summaries and observations across sessions that tell of
    /// them are not, which [`maintain`](Self::maintain) makes anew.
    ///
    /// Lines are made as they are asked for. What is there all the while is told exactly once; what is written or removed
    /// meanwhile may be told or not.
    ///
    /// ```
    /// # use ingrain::{HashingEmbedder, MemoryEngine, Scope};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// # let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await?;
    /// # let other = MemoryEngine::builder().embedder(HashingEmbedder::new(32)).build().await?;
    /// let alice = Scope::user("alice");
    /// memory.add(&alice, "I live in Lisbon.").await?;
    /// let (mut export, mut import) = (memory.export(&alice), other.import(&alice));
    /// while let Some(line) = export.next_line().await? {
    ///     import.line(&line).await?; // or write it to a file
    /// }
    /// assert_eq!(import.finish().await?.memories, memory.count(&alice, None).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A whole store is exported user by user, each into a file of its own, say: who is there tells
    /// [`scopes_of_everyone`](Self::scopes_of_everyone). A copy of a SQLite file as a whole is `SqliteStore::copy_to`, which has
    /// the vectors too, and is of one moment.
    ///
    /// ```
    /// # use ingrain::{HashingEmbedder, MemoryEngine, Scope};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// # let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await?;
    /// # let other = MemoryEngine::builder().embedder(HashingEmbedder::new(32)).build().await?;
    /// # memory.add_raw(&Scope::user("alice"), ["Owns a kayak"]).await?;
    /// # memory.add_raw(&Scope::user("bob").with_session("monday"), ["Keeps bees"]).await?;
    /// let mut last = None;
    /// loop {
    ///     let page = memory.scopes_of_everyone(last.as_ref(), 100).await?;
    ///     for scope in &page {
    ///         let (mut export, mut import) = (memory.export(scope), other.import(scope));
    ///         while let Some(line) = export.next_line().await? {
    ///             import.line(&line).await?;
    ///         }
    ///         import.finish().await?;
    ///     }
    ///     last = page.last().cloned();
    ///     if last.is_none() {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(other.scopes_of_everyone(None, 100).await?, [Scope::user("alice"), Scope::user("bob")]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn export(&self, scope: &Scope) -> Export {
        Export::new(self.clone(), scope.clone())
    }

    /// Takes the lines of an [export](Self::export) in: ids, times, scopes and histories as they were. Every line must
    /// belong to a scope that `scope` covers; a relation of another, such as that of the user whose session it is, is taken if
    /// it rests on a memory that is there and both cover.
    ///
    /// Texts are embedded by this engine's embedder, and secrets taken out by its redactor. Nothing is extracted or
    /// reconciled: import into an empty scope, or into an earlier state of the same. Several hundred lines are written at a
    /// time; if an import is broken off, begin it again, and what is there is passed over. What was removed or erased here
    /// after it was exported comes back; a relation is held
    /// against those that are there as if it were told now; a conversation that is there is left as it is and counts as skipped.
    pub fn import(&self, scope: &Scope) -> Import {
        Import::new(self.clone(), scope.clone())
    }
}

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
    /// Messages of conversations.
    pub messages: u64,
    /// Queued adds.
    pub queued_adds: u64,
    /// Lines that were passed over since the store has what they hold, or something else in its place, or no room for such
    /// things. Of an import alone.
    pub skipped: u64,
}
