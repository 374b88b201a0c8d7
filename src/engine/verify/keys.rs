//! Keys that a store has lost, made anew.

use async_trait::async_trait;

use crate::{EmbedderIdentity, IndexKey, KeyRestorer, LeftKeys, Memory, MemoryEngine, Result, add::restored};

pub(super) struct Restorer(pub(super) MemoryEngine);

#[async_trait]
impl KeyRestorer for Restorer {
    fn embedder(&self) -> EmbedderIdentity {
        self.0.0.embedder.identity()
    }

    async fn restored(&self, memory: &Memory, left: LeftKeys) -> Result<Vec<IndexKey>> {
        restored(&*self.0.0.store, &*self.0.0.embedder, memory, left).await
    }
}
