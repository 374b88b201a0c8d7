//! Whose memories there are: the list that maintenance, an export of everything and erasure by user go by.

use std::collections::BTreeSet;

use super::MemoryEngine;
use crate::{ConversationStore, Result, Scope, Stage, VectorStore, add::later::Later};

impl MemoryEngine {
    /// Whose memories there are: of **all users, agents and sessions** the scopes that together cover everything, in order,
    /// those after `after`, at most `limit`. For whoever runs the application, and no answer to any of its users.
    ///
    /// Each user comes once, as [`Scope::user`], which covers the user's agents and sessions; what was stored without a user
    /// comes once as its agent's scope, and without either as its session's. Such an agent's or session's scope also covers
    /// what users have of the same agent or session, so that this is told again if it is exported, and passed over by an
    /// import.
    ///
    /// Whoever has a memory, also one that no longer holds, the history of one that was deleted, a conversation or a queued
    /// add is in it, wherever those are kept: everybody of whom there is something to [purge](Self::purge). Walking the pages
    /// meets everybody who is there all the while. A page is read along indexes, not from the memories.
    ///
    /// ```
    /// # use ingrain::{HashingEmbedder, MemoryEngine, Scope};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// # let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await?;
    /// memory.add_raw(&Scope::user("bob"), ["Owns a kayak"]).await?;
    /// memory.add_raw(&Scope::user("alice").with_session("monday"), ["Keeps bees"]).await?;
    /// memory.add_raw(&Scope::user("alice").with_session("tuesday"), ["Plays the cello"]).await?;
    /// let mut scopes = Vec::new();
    /// loop {
    ///     let page = memory.scopes_of_everyone(scopes.last(), 100).await?;
    ///     if page.is_empty() {
    ///         break;
    ///     }
    ///     scopes.extend(page);
    /// }
    /// assert_eq!(scopes, [Scope::user("alice"), Scope::user("bob")]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) if `after` is a bad scope; what the stores report.
    pub async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        let listed = async {
            after.map_or(Ok(()), Scope::validate)?;
            let conversations = self.0.conversation_store().map(Kept::Conversations);
            let queued = self.0.later.as_ref().map(Kept::Queued);
            let mut all = BTreeSet::new();
            for kept in [Some(Kept::Memories(&*self.0.store)), conversations, queued].into_iter().flatten() {
                // The first of all are among the first of each.
                all.extend(kept.owners(after, limit).await?);
            }
            Ok(all.into_iter().take(limit).collect())
        };
        listed.await.map_err(|error: crate::Error| error.with_stage(Stage::Search))
    }
}

/// What a scope may have something in.
enum Kept<'e> {
    Memories(&'e dyn VectorStore),
    Conversations(&'e dyn ConversationStore),
    Queued(&'e Later),
}

impl Kept<'_> {
    async fn page(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        match self {
            Self::Memories(store) => store.scopes_of_everyone(after, limit).await,
            Self::Conversations(store) => store.conversations_of_everyone(after, limit).await,
            Self::Queued(later) => later.scopes_of_everyone(after, limit).await,
        }
    }

    /// The first `limit` owners. However many sessions one has, they are passed over with a look at one page of them.
    async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        let mut owners: Vec<Scope> = Vec::new();
        let mut after = after.map(|after| after.owner().last_within());
        while owners.len() < limit {
            let page = self.page(after.as_ref(), limit).await?;
            owners.extend(page.iter().map(Scope::owner));
            owners.dedup();
            if page.len() < limit {
                break;
            }
            after = owners.last().map(Scope::last_within);
        }
        owners.truncate(limit);
        Ok(owners)
    }
}
