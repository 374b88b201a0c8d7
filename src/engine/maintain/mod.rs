//! Keeping a store small and current: expire → merge → summarize → forget → review → observe. Each step walks the
//! memories by id, and each change is one write that takes its own cause away; so a call may end at any point, and the next
//! finds what is left.
//!
//! No step leaves work to an earlier one, and one that may leave some to itself is walked again until it changes nothing:
//! so a whole run leaves nothing to do to one that follows at the same instant.

mod derive;
mod ended;
mod forget;
mod merge;
mod observe;
mod request;
mod review;
mod schedule;
mod summarize;

pub(super) use derive::was_derived;
pub(super) use ended::{on_change, on_removal};
pub(super) use merge::merged_with;
use request::Step;
pub use request::{Maintenance, MaintenancePlace, MaintenanceReport, Merged};
pub use schedule::{MaintenanceSchedule, ScheduledMaintenance};
pub(super) use summarize::wide;

use super::{MemoryEngine, watch::Outcome};
use crate::{
    Actor, Error, ErrorKind, Filter, ListQuery, Memory, MemoryId, Page, Result, Scope, Stage, Stamp, Timestamp,
    Validity,
};

impl MemoryEngine {
    /// Keeps what the scope covers small and current: removes what has expired; lets of
    /// [near duplicates](Maintenance::merge) the older take the newer in; if asked, writes
    /// [summaries of sessions](Maintenance::summarize_sessions) and [observations](Maintenance::observe), and forgets what
    /// has [faded](Maintenance::forget_below); and makes summaries and observations anew, or ends them, when what they rest
    /// on has changed or ended.
    ///
    /// For a chatbot that runs for years: every night, for each user,
    /// `Maintenance::new().summarize_sessions(day).forget_below(0.06).erase_history(true)`. What is known then stays for as
    /// long as it holds, turns go after some months, their summaries after longer. What ten years of chats make of such a
    /// store, and of one that is not kept up, the example `ten_years` measures.
    ///
    /// One call looks at [so many](Maintenance::limit) memories at most, and says where the next goes on. Every change is
    /// one write that takes its own cause away, with an event by [`Actor::Maintenance`] that says why. So a call may fail,
    /// be dropped or end with the process at any point, and two may run at once: what is done is done, and the next call
    /// finds the rest. A run that follows another at the same instant changes nothing, unless others changed something between
    /// them. A clock that was wrong and was put right does no harm but that what it dated ahead fades later.
    ///
    /// ```
    /// # use ingrain::{HashingEmbedder, Maintenance, MemoryEngine, Scope};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> ingrain::Result<()> {
    /// # let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await?;
    /// let alice = Scope::user("alice");
    /// memory.add_raw(&alice, ["Likes hiking", "likes hiking."]).await?;
    /// let mut request = Maintenance::new();
    /// loop {
    ///     let report = memory.maintain(&alice, &request).await?;
    ///     println!("{} changes", report.changes()); // 1: one of the two took the other in
    ///     let Some(place) = report.next else { break };
    ///     request = request.resume(place);
    /// }
    /// assert_eq!(memory.count(&alice, None).await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope or request; what the summarizer, the embedder or the
    /// store report, but that a model's answer is of no use
    /// ([`not_summarized`](MaintenanceReport::not_summarized)). What was done before stays done.
    pub async fn maintain(&self, scope: &Scope, request: &Maintenance) -> Result<MaintenanceReport> {
        let outcome =
            |report: &MaintenanceReport| Outcome::of(report.changes()).costing(report.model_calls, report.usage);
        self.watched("maintain", scope, maintain(self, scope, request), outcome).await
    }

    /// Parts two memories that [`maintain`](Self::maintain) had merged: the one that was taken in holds again, as it was,
    /// and they stay apart. Returns it as it is now. The other keeps what it had taken over, such as sources and categories.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound); [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope;
    /// [`Conflict`](ErrorKind::Conflict) if no other memory has taken it in, or others kept changing it; what the store
    /// reports.
    pub async fn undo_merge(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.watched("undo_merge", scope, merge::undo_merge(self, scope, id), |_| Outcome::of(1)).await
    }
}

/// One call.
struct Run<'e> {
    engine: &'e MemoryEngine,
    scope: &'e Scope,
    request: &'e Maintenance,
    now: Timestamp,
    stamp: Stamp,
    report: MaintenanceReport,
    /// How many memories may still be looked at.
    left: usize,
    /// Changes that were made; the report tells each memory once.
    made: u64,
}

async fn maintain(engine: &MemoryEngine, scope: &Scope, request: &Maintenance) -> Result<MaintenanceReport> {
    scope.validate()?;
    request.validate()?;
    let stamp = engine.stamp(Actor::Maintenance);
    let (now, report) = (stamp.at, MaintenanceReport::default());
    let mut run = Run { engine, scope, request, now, stamp, report, left: request.limit, made: 0 };
    let MaintenancePlace { mut step, mut after, mut changed } = request.place.clone();
    loop {
        let before = run.made;
        after = match step {
            Step::Expire if request.expire => run.expire(after).await,
            Step::Forget if request.forget_below.is_some() => run.forget(after).await,
            Step::Merge if request.merge => run.merge(after).await,
            Step::Summarize if request.quiet.is_some() => run.summarize(after).await,
            Step::Observe if request.observe.is_some() => run.observe(after).await,
            Step::Review if request.review => run.review(after).await,
            _ => Ok(None),
        }
        .map_err(|error| {
            let (calls, mut usage) = error.spent();
            usage += run.report.usage;
            error.with_stage(Stage::Maintain).with_spent(calls + run.report.model_calls, usage)
        })?;
        changed |= run.made > before;
        if after.is_none() {
            let is_to_come_again = changed && step.leaves_work_to_itself() && !request.dry_run;
            match step.next() {
                _ if is_to_come_again => {}
                Some(next) => step = next,
                None => return Ok(run.report),
            }
            changed = false;
        }
        if run.left == 0 {
            run.report.next = Some(MaintenancePlace { step, after, changed });
            return Ok(run.report);
        }
    }
}

impl Run<'_> {
    /// The next memories of a walk, as many as may still be looked at.
    async fn page(
        &mut self,
        after: Option<crate::Cursor>,
        filter: Option<Filter>,
        validity: Validity,
    ) -> Result<Page<Memory>> {
        let mut query = ListQuery::new(self.scope.clone(), validity);
        (query.after, query.filter, query.limit) = (after, filter, self.left.min(500));
        let page = self.engine.0.store.list(&query).await?;
        self.left = self.left.saturating_sub(page.items.len());
        self.report.looked_at += page.items.len() as u64;
        Ok(page)
    }

    fn because(&self, reason: impl Into<String>) -> Stamp {
        self.stamp.clone().because(reason)
    }

    /// Whether the change was made; one that another was faster with is left for the next call.
    fn made(&mut self, id: MemoryId, result: Result<()>) -> Result<bool> {
        match result {
            Ok(()) => {
                self.made += 1;
                Ok(true)
            }
            Err(error) if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::NotFound) => {
                self.report.busy.push(id);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Facts and the like, by kind.
fn semantic() -> Filter {
    Filter::any_of("kind", ["fact", "preference", "procedure", "observation"])
}

fn conflict(what: &str) -> Error {
    Error::new(ErrorKind::Conflict, what)
}
