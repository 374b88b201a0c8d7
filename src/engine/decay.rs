use std::collections::BTreeSet;

use super::{MemoryEngine, watch::Outcome};
use crate::{Memory, MemoryId, Result, Scope, Stage, types::truncate};

impl MemoryEngine {
    /// The importance of a memory, faded until now by the [policy](crate::MemoryEngineBuilder::decay): 0 to the importance
    /// it was given, which stays as it is. Computed from the memory alone, without a read or a write.
    #[must_use]
    pub fn effective_importance(&self, memory: &Memory) -> f32 {
        self.0.decay.effective_importance(memory, self.0.clock.now())
    }

    /// Counts one access to each of these memories, in one write: they were of use, and [fade](crate::score::decay) the
    /// slower for it. Those that the scope does not cover, or that are gone, are passed over.
    ///
    /// Nothing is counted unless this is called, or a search is asked to
    /// [count its hits](crate::SearchRequest::record_access): a search writes nothing. Whoever answers may count what went
    /// into the prompt ([`MemoryContext::memories`](crate::MemoryContext::memories)) after the reply is out. That is no
    /// change of the memories: their revision, update time and history stay, so it disturbs no other write. Calls are not
    /// tied to each other, and one that is lost with its process is no loss but a count.
    ///
    /// ```
    /// use ingrain::{HashingEmbedder, MemoryEngine, Scope, TokenBudget};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(256)).build().await?;
    /// let alice = Scope::user("alice");
    /// memory.add(&alice, "I'm allergic to shellfish.").await?;
    /// let block = memory.context(&alice, "plan dinner", TokenBudget::new(800)).await?;
    /// let counting = tokio::spawn({
    ///     let (memory, alice) = (memory.clone(), alice.clone());
    ///     async move { memory.touch(&alice, &block.memories).await }
    /// });
    /// # counting.await.expect("no panic")?;
    /// # assert_eq!(memory.search(&alice, "shellfish").await?[0].memory.access_count, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a bad scope; what the store reports.
    pub async fn touch(&self, scope: &Scope, ids: &[MemoryId]) -> Result<()> {
        scope.validate()?;
        let ids: Vec<MemoryId> = ids.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        if ids.is_empty() {
            return Ok(());
        }
        let now = truncate(self.0.clock.now());
        let work = async {
            let counted = self.0.store.record_access(scope, &ids, now).await;
            counted.map_err(|error| error.with_stage(Stage::Store))
        };
        self.watched("touch", scope, work, |()| Outcome::of(ids.len())).await
    }
}
