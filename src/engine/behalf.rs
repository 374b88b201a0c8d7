//! What is done on behalf of somebody else than the application, such as a model that calls tools.

use super::{MemoryEngine, MemoryUpdate, delete, update, watch::Outcome};
use crate::{
    Actor, AddReport, Fact, Memory, MemoryId, Result, Scope, Timestamp, VectorStore, add, rules::read_statement,
};

impl MemoryEngine {
    /// Holds ready-made facts against what is known and writes what comes of it: an [`add`](Self::add) without messages.
    /// Where no model decides over them, the rules look for what slots they fill.
    pub(crate) async fn add_facts(&self, scope: &Scope, mut facts: Vec<Fact>, by: Actor) -> Result<AddReport> {
        let context = self.0.adding();
        for fact in &mut facts {
            if let Some(read) = read_statement(&fact.text, context.now) {
                fact.slot = fact.slot.take().or(read.slot);
                fact.valid_at = fact.valid_at.or(read.valid_at);
                fact.invalid_at = fact.invalid_at.or(read.invalid_at);
                if fact.categories.is_empty() {
                    fact.categories = read.categories;
                }
                if fact.relations.is_empty() {
                    fact.relations = read.relations;
                }
            }
        }
        let start = std::time::Instant::now();
        let work = add::add_facts(&context, scope, facts, by);
        let mut report = self.watched("add", scope, work, |report| report.into()).await?;
        report.elapsed = start.elapsed();
        Ok(report)
    }

    /// As [`update`](Self::update), on behalf of somebody else.
    pub(crate) async fn update_by(
        &self,
        scope: &Scope,
        id: MemoryId,
        update: MemoryUpdate,
        by: Actor,
    ) -> Result<Memory> {
        self.watched("update", scope, update::update(self, scope, id, update, by), |_| Outcome::of(1)).await
    }

    /// As [`delete`](Self::delete), on behalf of somebody else.
    pub(crate) async fn delete_by(&self, scope: &Scope, id: MemoryId, by: Actor) -> Result<()> {
        self.watched("delete", scope, delete::delete(self, scope, id, by), |()| Outcome::of(1)).await
    }

    pub(crate) fn store(&self) -> &dyn VectorStore {
        &*self.0.store
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.clock.now()
    }
}
