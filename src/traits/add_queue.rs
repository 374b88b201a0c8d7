use std::{fmt::Debug, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{CallId, Error, ErrorKind, MemoryId, Result, Scope, Timestamp};

/// The longest time for which an add may be left to whoever carries it out. One that is left for longer was claimed by a
/// clock that ran ahead, and is not left to anybody.
pub const LONGEST_LEASE: Duration = Duration::from_secs(600);

/// The longest time for which an add may wait to be tried again. One that waits for longer failed by a clock that ran ahead,
/// and waits no more.
pub const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// What becomes of a queued add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QueuedState {
    /// It waits for its turn, or to be tried again.
    Waiting,
    /// Somebody is carrying it out, or was when the process ended.
    Running,
    /// It was given up and lies there until it is retried or discarded.
    Failed,
}

impl QueuedState {
    /// The state in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Failed => "failed",
        }
    }
}

/// Why a queued add failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AddFailure {
    /// What can be done about it.
    pub kind: ErrorKind,
    /// The error's own line, without its causes.
    pub message: String,
    /// When it failed.
    pub at: Timestamp,
}

impl AddFailure {
    /// What an error tells.
    #[must_use]
    pub fn new(error: &Error, at: Timestamp) -> Self {
        Self { kind: error.kind(), message: error.to_string(), at }
    }

    /// As [`new`](Self::new), from what was stored of it.
    #[must_use]
    pub fn from_parts(kind: ErrorKind, message: impl Into<String>, at: Timestamp) -> Self {
        Self { kind, message: message.into(), at }
    }
}

/// An add that is carried out later, and how far it has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueuedAdd {
    /// Names it in the queue, and afterwards in the history of what it wrote ([`Stamp::call`](crate::Stamp::call)).
    pub id: CallId,
    /// The scope it adds to.
    pub scope: Scope,
    /// What is to be added, as JSON. Stores keep it byte for byte and do not look into it.
    pub request: String,
    /// When it was queued.
    pub queued_at: Timestamp,
    /// What becomes of it.
    pub state: QueuedState,
    /// When it may be carried out at the earliest; for one that has not failed that is always, whatever becomes of the clock.
    pub due_at: Timestamp,
    /// While it is running: until when it is left to whoever carries it out.
    pub leased_until: Option<Timestamp>,
    /// The id of the first memory it writes, given when it was first claimed: by it, it is known whether it was carried
    /// out.
    pub memory: Option<MemoryId>,
    /// How often it was claimed. Never set back.
    pub attempts: u32,
    /// How often it failed, since it was queued or retried.
    pub failures: u32,
    /// How often its lease ran out, since it was queued or retried: whoever carried it out is gone.
    pub interruptions: u32,
    /// The last failure, also while it waits to be tried again.
    pub failure: Option<AddFailure>,
}

impl QueuedAdd {
    /// A new one, due at once.
    #[must_use]
    pub fn new(id: CallId, scope: Scope, request: impl Into<String>, now: Timestamp) -> Self {
        Self {
            id,
            scope,
            request: request.into(),
            queued_at: now,
            state: QueuedState::Waiting,
            due_at: Timestamp::UNIX_EPOCH,
            leased_until: None,
            memory: None,
            attempts: 0,
            failures: 0,
            interruptions: 0,
            failure: None,
        }
    }

    /// The scope whose adds are carried out one after the other: that of facts, sessions aside.
    #[must_use]
    pub fn lane(&self) -> Scope {
        self.scope.across_sessions()
    }

    /// From when on it may be claimed once its turn has come: when it is due or, while it is running, when its lease ends;
    /// at once, if that lies further ahead than it [may](LONGEST_LEASE) be [put off](LONGEST_WAIT), since then a clock was
    /// wrong.
    #[must_use]
    pub fn due_from(&self, now: Timestamp) -> Timestamp {
        due_from(self.leased_until, self.due_at, now)
    }
}

/// As [`QueuedAdd::due_from`], of an add that is not read whole.
pub(crate) fn due_from(leased_until: Option<Timestamp>, due_at: Timestamp, now: Timestamp) -> Timestamp {
    let (from, longest) = leased_until.map_or((due_at, LONGEST_WAIT), |until| (until, LONGEST_LEASE));
    let ahead = (from - now).to_std().unwrap_or_default();
    if ahead > longest { now } else { from }
}

/// Who asks for the next add, and on what terms.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// The present instant.
    pub now: Timestamp,
    /// How long the add is left to the claimer, unless [renewed](AddQueue::renew); [`LONGEST_LEASE`] at most.
    pub lease: Duration,
    /// The add's [`memory`](QueuedAdd::memory), unless it has one already.
    pub memory: MemoryId,
    /// What the claimer is carrying out just now. These, and what waits behind them, are passed over as if they were not
    /// there, whatever their lease.
    pub running: Vec<CallId>,
}

impl Claim {
    /// A claim of one who carries nothing out yet.
    #[must_use]
    pub fn new(now: Timestamp, lease: Duration, memory: MemoryId) -> Self {
        Self { now, lease, memory, running: Vec::new() }
    }

    /// Sets what the claimer is carrying out. Default nothing.
    #[must_use]
    pub fn beside(mut self, running: impl IntoIterator<Item = CallId>) -> Self {
        self.running = running.into_iter().collect();
        self
    }

    /// When the lease ends; at the end of the calendar, then.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        chrono::Duration::from_std(self.lease.min(LONGEST_LEASE))
            .ok()
            .and_then(|lease| self.now.checked_add_signed(lease))
            .unwrap_or(Timestamp::MAX_UTC)
    }
}

/// What a claim gives.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Claimed {
    /// This add, as it is now: running, and counted as an attempt.
    Add(Box<QueuedAdd>),
    /// Nothing before this instant, unless the queue changes.
    NotBefore(Timestamp),
    /// Nothing: all there is has failed, or is run by the claimer itself.
    Nothing,
}

/// Keeps adds until they are carried out, in order.
///
/// The contract, which the suite `add_queue_suite!` of the `testing` module checks:
///
/// - **Order.** An add may be claimed only if no earlier one of the same [lane](QueuedAdd::lane) is waiting or running,
///   be it one that waits to be tried again, and no later one of it is running, as may be after a retry; one that has
///   failed holds nobody up. Of those that may be claimed the one that was queued first is.
/// - **One at a time.** A claimed add is left to its claimer until the lease ends; of claimers at once, one gets it.
///   `attempts` tells a claim from later ones of the same add: with an old number nothing is renewed and nothing fails.
/// - **Clocks may be wrong.** A lease, or a wait, that ends further ahead than [any that is given](QueuedAdd::due_from) was
///   given by a clock that has been put right since: it holds nobody up.
/// - **Bounded.** Whatever is in the queue counts, also what has failed.
/// - Writes are atomic, and durable on a durable store when they return. Cancelling one leaves it done or not done.
/// - No clock: times come in as arguments.
#[async_trait]
pub trait AddQueue: Debug + Send + Sync + 'static {
    /// Names the backend, such as `sqlite`.
    fn name(&self) -> &str;

    /// Puts an add at the end. What it says of its state is kept as given.
    ///
    /// # Errors
    /// [`QueueFull`](ErrorKind::QueueFull) if `capacity` adds are there, failed ones included;
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope; [`Conflict`](ErrorKind::Conflict) for an id that
    /// is there; [`StoreUnavailable`](ErrorKind::StoreUnavailable). Nothing was queued then.
    async fn push(&self, add: &QueuedAdd, capacity: usize) -> Result<()>;

    /// Takes the next add. If the lease of the one before it had run out, that is counted as an interruption.
    ///
    /// # Errors
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn claim(&self, claim: &Claim) -> Result<Claimed>;

    /// Leaves a running add to its claimer until `until`. `false`, and nothing changed, if it is gone or this is not its
    /// last claim.
    ///
    /// # Errors
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn renew(&self, id: CallId, attempt: u32, until: Timestamp) -> Result<bool>;

    /// Removes an add that was carried out, whoever has claimed it since. `false` if it is gone.
    ///
    /// # Errors
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn finish(&self, id: CallId) -> Result<bool>;

    /// Notes a failure of a running add, which is tried again from `again_at` on, or given up if there is none. `false`,
    /// and nothing changed, if it is gone or this is not its last claim. Noting the same failure again is `true`, and
    /// changes nothing: a caller who was told of an outage does not know whether it was noted.
    ///
    /// # Errors
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn fail(&self, id: CallId, attempt: u32, failure: &AddFailure, again_at: Option<Timestamp>) -> Result<bool>;

    /// The adds of a reader's scope, in the order they were queued.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad scope;
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn list(&self, scope: &Scope) -> Result<Vec<QueuedAdd>>;

    /// The scopes that have adds in the queue, whatever their state, of everyone: each once, in order (by user, agent and
    /// session, byte for byte, what is not named first); those after `after`, which need not be one of them, at most `limit`.
    ///
    /// # Errors
    /// As [`list`](AddQueue::list).
    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>>;

    /// How many adds of all scopes are waiting or running.
    ///
    /// # Errors
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn unfinished_of_everyone(&self) -> Result<u64>;

    /// What has failed in all scopes, in the order it was queued.
    ///
    /// # Errors
    /// [`StoreUnavailable`](ErrorKind::StoreUnavailable).
    async fn failed_of_everyone(&self) -> Result<Vec<QueuedAdd>>;

    /// Lets a failed add of a reader's scope wait again, in its old place, due at `now`, with its failures and
    /// interruptions forgotten. `false` if the scope has no such add that has failed.
    ///
    /// # Errors
    /// As [`list`](AddQueue::list).
    async fn retry(&self, scope: &Scope, id: CallId, now: Timestamp) -> Result<bool>;

    /// Removes an add of a reader's scope, whatever its state. `false` if the scope has no such add.
    ///
    /// # Errors
    /// As [`list`](AddQueue::list).
    async fn discard(&self, scope: &Scope, id: CallId) -> Result<bool>;

    /// Removes every add that the scope covers, whatever its state, and says how many there were.
    ///
    /// # Errors
    /// As [`list`](AddQueue::list).
    async fn erase(&self, scope: &Scope) -> Result<u64>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: AddQueue + ?Sized> AddQueue for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn push(&self, add: &QueuedAdd, capacity: usize) -> Result<()> {
        (**self).push(add, capacity).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Claimed> {
        (**self).claim(claim).await
    }

    async fn renew(&self, id: CallId, attempt: u32, until: Timestamp) -> Result<bool> {
        (**self).renew(id, attempt, until).await
    }

    async fn finish(&self, id: CallId) -> Result<bool> {
        (**self).finish(id).await
    }

    async fn fail(&self, id: CallId, attempt: u32, failure: &AddFailure, again_at: Option<Timestamp>) -> Result<bool> {
        (**self).fail(id, attempt, failure, again_at).await
    }

    async fn list(&self, scope: &Scope) -> Result<Vec<QueuedAdd>> {
        (**self).list(scope).await
    }

    async fn scopes_of_everyone(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        (**self).scopes_of_everyone(after, limit).await
    }

    async fn unfinished_of_everyone(&self) -> Result<u64> {
        (**self).unfinished_of_everyone().await
    }

    async fn failed_of_everyone(&self) -> Result<Vec<QueuedAdd>> {
        (**self).failed_of_everyone().await
    }

    async fn retry(&self, scope: &Scope, id: CallId, now: Timestamp) -> Result<bool> {
        (**self).retry(scope, id, now).await
    }

    async fn discard(&self, scope: &Scope, id: CallId) -> Result<bool> {
        (**self).discard(scope, id).await
    }

    async fn erase(&self, scope: &Scope) -> Result<u64> {
        (**self).erase(scope).await
    }
}
