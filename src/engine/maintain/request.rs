use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Cursor, Error, MemoryId, Result, Usage};

/// What [`maintain`](crate::MemoryEngine::maintain) does, how much of it, and from where on.
///
/// ```
/// use std::time::Duration;
/// use ingrain::Maintenance;
/// let nightly = Maintenance::new().summarize_sessions(Duration::from_secs(24 * 3600)).observe(3).limit(5_000);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Maintenance {
    pub(super) expire: bool,
    pub(super) forget_below: Option<f32>,
    pub(super) forget_what_holds: bool,
    pub(super) erase_history: bool,
    pub(super) merge: bool,
    pub(super) quiet: Option<Duration>,
    pub(super) observe: Option<usize>,
    pub(super) review: bool,
    pub(super) limit: usize,
    pub(super) dry_run: bool,
    pub(super) place: MaintenancePlace,
}

impl Default for Maintenance {
    fn default() -> Self {
        Self::new()
    }
}

impl Maintenance {
    /// Removes what has expired, merges near duplicates, and reviews what rests on memories that have ended. Forgets
    /// nothing for its age and writes no summaries.
    pub const fn new() -> Self {
        Self {
            expire: true,
            forget_below: None,
            forget_what_holds: false,
            erase_history: false,
            merge: true,
            quiet: None,
            observe: None,
            review: true,
            limit: 1_000,
            dry_run: false,
            place: MaintenancePlace::BEGINNING,
        }
    }

    /// Whether memories whose [`expires_at`](crate::Memory::expires_at) has passed are removed. Default: yes.
    pub const fn expire(mut self, expire: bool) -> Self {
        self.expire = expire;
        self
    }

    /// Removes turns, and facts that have ended, that have faded below this effective importance, 0 to 1: see
    /// [`DecayPolicy::effective_importance`](crate::score::decay::DecayPolicy::effective_importance). Pinned memories and
    /// blocks never fade, and observations go with what they rest on. What still holds stays, however old: see
    /// [`forget_what_holds`](Self::forget_what_holds). Where [summaries](Self::summarize_sessions) are written, a turn of a
    /// session goes only when the summary tells of it; the summary outlives it, and goes itself when it has faded, counted
    /// from when it was written, and all its turns are gone.
    ///
    /// Nothing falls below importance · floor: with the default policy a turn of the default importance, 0.5, comes down to
    /// 0.05 and no further, so 0.06 lets it go after some months and 0.05 never. A [dry run](Self::dry_run) tells what would
    /// go. Default: nothing is forgotten.
    pub const fn forget_below(mut self, importance: f32) -> Self {
        self.forget_below = Some(importance);
        self
    }

    /// Whether what has faded is [forgotten](Self::forget_below) though it still holds: facts, preferences and procedures,
    /// an allergy that was told once as much as a whim. Default: not.
    pub const fn forget_what_holds(mut self, forget: bool) -> Self {
        self.forget_what_holds = forget;
        self
    }

    /// Whether the history of what is removed, since it expired or faded, goes with it. If it stays it says what was there
    /// and why it went, and the store goes on growing by the texts of all that is forgotten. Default: it stays.
    pub const fn erase_history(mut self, erase: bool) -> Self {
        self.erase_history = erase;
        self
    }

    /// Whether of memories that [say the same](crate::score::sameness::repeats) the older takes the newer in. Default: yes.
    pub const fn merge(mut self, merge: bool) -> Self {
        self.merge = merge;
        self
    }

    /// Writes a [`Summary`](crate::MemoryKind::Summary) of each session in which nothing was said for this long, and
    /// extends it when something is said there again. Default: none are written.
    pub const fn summarize_sessions(mut self, quiet: Duration) -> Self {
        self.quiet = Some(quiet);
        self
    }

    /// Writes an [`Observation`](crate::MemoryKind::Observation) where this many facts (2 to 20) are on one matter. A model
    /// words it, if there is one; where its words lose a condition ("only before noon"), a number or a "not" of a fact or
    /// are of no use, and without a model, the facts are told word for word.
    ///
    /// One that is [deleted](crate::MemoryEngine::delete), ended or has expired does not come back: what it told, which is
    /// marked in its metadata as `untold` when it goes, is not told again. Where new facts enough come on that matter, they
    /// make a new one of themselves. The same holds of summaries and the turns they told. Of one that is
    /// [purged](crate::MemoryEngine::purge) nothing is known any more, so it is written again as long as its facts are there.
    /// Default: none are written.
    pub const fn observe(mut self, facts: usize) -> Self {
        self.observe = Some(facts);
        self
    }

    /// Whether summaries and observations are made anew, or end, when what they rest on has changed or ended. Default: yes.
    pub const fn review(mut self, review: bool) -> Self {
        self.review = review;
        self
    }

    /// How many memories one call looks at, 1 or more; it merges hardly more than as many. Default 1,000.
    pub const fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Tells what would be done, and does nothing. No model is asked. Default: not.
    pub const fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Goes on where an earlier call stopped. Default: from the beginning.
    pub fn resume(mut self, place: MaintenancePlace) -> Self {
        self.place = place;
        self
    }

    pub(super) fn validate(&self) -> Result<()> {
        if self.forget_below.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
            return Err(Error::invalid("forget_below takes an importance from 0 to 1"));
        }
        if self.observe.is_some_and(|facts| !(2..=20).contains(&facts)) {
            return Err(Error::invalid("observe takes 2 to 20: so many facts at least make an observation"));
        }
        if self.limit == 0 {
            return Err(Error::invalid("the limit of a call must be at least 1"));
        }
        Ok(())
    }
}

/// The steps, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Expire,
    Merge,
    Summarize,
    Forget,
    Review,
    Observe,
}

impl Step {
    /// Whether what a walk changes may be met by what it has passed: of two memories that were no neighbours another's end,
    /// or a new text, may make some.
    pub(super) const fn leaves_work_to_itself(self) -> bool {
        matches!(self, Self::Merge | Self::Observe)
    }

    pub(super) const fn next(self) -> Option<Self> {
        match self {
            Self::Expire => Some(Self::Merge),
            Self::Merge => Some(Self::Summarize),
            Self::Summarize => Some(Self::Forget),
            Self::Forget => Some(Self::Review),
            Self::Review => Some(Self::Observe),
            Self::Observe => None,
        }
    }
}

/// Where maintenance stopped. Opaque; it may be kept as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenancePlace {
    pub(super) step: Step,
    pub(super) after: Option<Cursor>,
    /// Whether the walk of this step has changed anything so far.
    pub(super) changed: bool,
}

impl MaintenancePlace {
    pub(super) const BEGINNING: Self = Self { step: Step::Expire, after: None, changed: false };
}

/// A memory that another took in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The one that stays.
    pub kept: MemoryId,
    /// The one that was taken in: it has ended, and [`undo_merge`](crate::MemoryEngine::undo_merge) lets it hold again.
    pub merged: MemoryId,
}

/// What one call of [`maintain`](crate::MemoryEngine::maintain) did, or would do.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct MaintenanceReport {
    /// How many memories were looked at. One may be looked at in several steps.
    pub looked_at: u64,
    /// Removed, since they had expired.
    pub expired: Vec<MemoryId>,
    /// Removed, since they had faded.
    pub forgotten: Vec<MemoryId>,
    /// Near duplicates.
    pub merged: Vec<Merged>,
    /// Summaries of sessions that were written or extended; of a dry run, the first turns of these sessions.
    pub summarized: Vec<MemoryId>,
    /// Observations that were written; of a dry run, the first facts they would rest on.
    pub observed: Vec<MemoryId>,
    /// Summaries and observations that were made anew.
    pub renewed: Vec<MemoryId>,
    /// Summaries and observations that ended or went, since nothing is left that they rest on.
    pub withdrawn: Vec<MemoryId>,
    /// Other memories that rest on what has ended. What becomes of them is for the application to say.
    pub to_review: Vec<MemoryId>,
    /// What another changed meanwhile: it was left for the next call.
    pub busy: Vec<MemoryId>,
    /// The first turns of sessions of which a model made no summary that is of use: they are left as they are, and tried
    /// again by the next run.
    pub not_summarized: Vec<MemoryId>,
    /// Calls of a model.
    pub model_calls: u32,
    /// What these cost.
    pub usage: Usage,
    /// Where the next call [goes on](Maintenance::resume); `None` when everything was looked at.
    pub next: Option<MaintenancePlace>,
}

impl MaintenanceReport {
    /// How many memories were changed, written or removed.
    #[must_use]
    pub fn changes(&self) -> usize {
        let Self { expired, forgotten, merged, summarized, observed, renewed, withdrawn, .. } = self;
        let lists = [expired, forgotten, summarized, observed, renewed, withdrawn];
        lists.iter().map(|list| list.len()).sum::<usize>() + merged.len()
    }
}
