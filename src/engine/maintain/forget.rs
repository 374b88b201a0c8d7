//! What has expired or faded is removed; its history stays and says why.

use super::Run;
use crate::{Cursor, Filter, Memory, MemoryKind, Result, Validity, engine::delete};

impl Run<'_> {
    pub(super) async fn expire(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let filter = Filter::lte("expires_at", self.now.to_rfc3339());
        let page = self.page(after, Some(filter), Validity::Any).await?;
        for memory in page.items {
            let now = self.now;
            let has_expired = move |memory: &Memory| memory.expires_at.is_some_and(|at| at <= now);
            if self.remove(&memory, "expired", has_expired).await? {
                self.report.expired.push(memory.id);
            }
        }
        Ok(page.next)
    }

    pub(super) async fn forget(&mut self, after: Option<Cursor>) -> Result<Option<Cursor>> {
        let Some(least) = self.request.forget_below else { return Ok(None) };
        let page = self.page(after, None, Validity::Any).await?;
        let (engine, now) = (self.engine, self.now);
        let has_faded = |memory: &Memory| {
            // What this writes itself would be written anew.
            let is_own = matches!(memory.kind, MemoryKind::Summary | MemoryKind::Observation);
            memory.kind != MemoryKind::Block
                && !is_own
                && !memory.pinned
                && engine.0.decay.effective_importance(memory, now) < least
        };
        for memory in page.items {
            if has_faded(&memory) && self.remove(&memory, "faded", has_faded).await? {
                self.report.forgotten.push(memory.id);
            }
        }
        Ok(page.next)
    }

    /// Removes a memory if `still` holds when it is written.
    pub(super) async fn remove(
        &mut self,
        memory: &Memory,
        why: &str,
        still: impl Fn(&Memory) -> bool + Send,
    ) -> Result<bool> {
        if self.request.dry_run {
            return Ok(true);
        }
        let removed = delete::delete_if(self.engine, &memory.scope, memory.id, &self.because(why), still).await;
        self.made(memory.id, removed)
    }
}
