//! Looking through a store as a whole: first the store itself, then what only the engine can tell of it.

#[cfg(feature = "sqlite")]
mod keys;
mod queue;
mod relations;

use super::MemoryEngine;
use crate::{Result, Stage, Verify, VerifyReport};

impl MemoryEngine {
    /// Looks through everything that is stored, of **all users, agents and sessions**, for what does not fit together:
    /// memories that cannot be read or found, indexes that lead elsewhere, histories that tell another text, relations that
    /// rest on what is gone. It is for the operator of the store and no answer to any of its users; the report has kinds,
    /// counts and ids, and never a text, nor whose it is.
    ///
    /// By itself it reads only. With [`Verify::rebuild`] what is [derived](crate::ProblemKind::is_derived) and wrong is made
    /// anew from what it derives from, and the report says what was mended and what is left: the truth itself, such as a
    /// memory that cannot be read, is not guessed at. What lies in damaged pages is lost unless a backup has it. Keys and
    /// vectors that were lost are made anew by the engine's embedder, which may be a service that is paid for.
    ///
    /// Others may read and write meanwhile. What is mended is mended in short transactions (but for an index of a file, which
    /// is made anew as a whole), so a call may end at any point. It takes as long as analysing every text anew, and little
    /// room. What was told in the last hour is passed over in a
    /// graph that is kept apart from the memories, since they may be on their way.
    ///
    /// ```
    /// # use ingrain::{HashingEmbedder, MemoryEngine, Scope, Verify};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// # let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await?;
    /// memory.add_raw(&Scope::user("alice"), ["Owns a kayak"]).await?;
    /// let report = memory.verify(Verify::new()).await?; // reads only
    /// for problem in &report.problems {
    ///     eprintln!("{problem}");
    /// }
    /// assert!(report.is_sound() && report.checked.memories == 1);
    /// let report = memory.verify(Verify::new().rebuild(true)).await?; // and mends
    /// assert!(report.mended.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the stores report when they are out of reach, and the embedder when a rebuild asks it; what was mended before
    /// stays mended. Damage is told in the report and is no error.
    pub async fn verify(&self, request: Verify) -> Result<VerifyReport> {
        let in_stage = |error: crate::Error| error.with_stage(Stage::Maintain);
        #[cfg(feature = "sqlite")]
        let request = request.with_restorer(keys::Restorer(self.clone()));
        let mut report = self.0.store.verify(&request).await.map_err(in_stage)?;
        queue::verify(self, &request, &mut report).await.map_err(in_stage)?;
        relations::verify(self, &request, &mut report).await.map_err(in_stage)?;
        Ok(report)
    }
}
