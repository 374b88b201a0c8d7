use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crate::{ErrorKind, Scope, Usage};

/// One call of an engine that has ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Operation<'o> {
    /// What was called, by the name of the method: `add`, `add_raw`, `add_later`, `search`, `context`, `get`, `list`,
    /// `count`, `history`, `touch`, `update` (also for an approval), `delete` (also for a rejection or a block),
    /// `delete_all`, `purge`, `maintain`, `undo_merge`; `merge` and `split` of a graph; `edit_block` for every change of a
    /// block; or `respond` of an agent, whose searches and adds are told by themselves. And in the background `queued_add`
    /// for an add that was carried out, and `summarize` for the summary of a conversation. These names are stable. Other
    /// calls are not told of: they ask no model, and those that go on for long tell their progress themselves.
    pub verb: &'static str,
    /// The scope it was called with.
    pub scope: &'o Scope,
    /// How long it took; 0 for `summarize`.
    pub elapsed: Duration,
    /// What kind of error it ended with; `None` for a success.
    pub error: Option<ErrorKind>,
    /// How many memories it found, wrote or removed; 0 for an error.
    pub memories: u64,
    /// Calls of a model, also those before an [error](crate::Error::spent).
    pub model_calls: u32,
    /// What these cost.
    pub usage: Usage,
}

/// Is told of [calls](Operation::verb) of an engine when they have ended: for counters, histograms and bills.
///
/// Called on the task of the call, whose result waits for it: it should be quick. A call whose future is dropped is not
/// told of.
pub trait Meter: Debug + Send + Sync + 'static {
    /// Takes note of a call.
    fn record(&self, operation: &Operation<'_>);
}

#[deny(clippy::missing_trait_methods)]
impl<T: Meter + ?Sized> Meter for Arc<T> {
    fn record(&self, operation: &Operation<'_>) {
        (**self).record(operation);
    }
}

/// What calls of one verb came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Total {
    /// Calls.
    pub calls: u64,
    /// Those of them that ended with an error.
    pub errors: u64,
    /// Memories found, written or removed.
    pub memories: u64,
    /// Calls of a model.
    pub model_calls: u64,
    /// What these cost.
    pub usage: Usage,
    /// How long they took together.
    pub elapsed: Duration,
}

/// A [`Meter`] that adds up in memory, by verb and user (or agent, or session, where there is no user): what an
/// application shows, bills or tests.
///
/// ```
/// # use std::sync::Arc;
/// # use ingrain::{HashingEmbedder, MemoryEngine, Scope, Totals};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// let totals = Arc::new(Totals::default());
/// let engine = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).meter(Arc::clone(&totals)).build().await?;
/// engine.add(&Scope::user("alice"), "I live in Lisbon.").await?;
/// assert_eq!(totals.of("add", "alice").calls, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Totals(Mutex<BTreeMap<(String, &'static str), Total>>);

impl Totals {
    /// What calls of a verb came to for one user.
    #[must_use]
    pub fn of(&self, verb: &str, user: &str) -> Total {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|((whose, what), _)| whose == user && *what == verb);
        found.map(|(_, total)| *total).unwrap_or_default()
    }

    /// All there is: whose, which verb, and what it came to; in that order.
    #[must_use]
    pub fn all(&self) -> Vec<(String, &'static str, Total)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|((whose, verb), total)| (whose.clone(), *verb, *total)).collect()
    }
}

impl Meter for Totals {
    fn record(&self, operation: &Operation<'_>) {
        let Operation { verb, scope, elapsed, error, memories, model_calls, usage } = operation;
        let whose = scope.user_id().or(scope.agent_id()).or(scope.session_id()).unwrap_or_default();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let total = all.entry((whose.to_owned(), *verb)).or_default();
        total.calls += 1;
        total.errors += u64::from(error.is_some());
        total.memories = total.memories.saturating_add(*memories);
        total.model_calls = total.model_calls.saturating_add((*model_calls).into());
        total.usage += *usage;
        total.elapsed = total.elapsed.saturating_add(*elapsed);
    }
}
