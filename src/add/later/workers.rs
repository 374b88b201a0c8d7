//! The tasks that carry queued adds out.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::{Duration, Instant},
};

use super::{Later, Once, Shared, in_queue, lock, options::chance, wait};
use crate::{
    AddFailure, CallId, Claim, Claimed, Error, ErrorKind, LONGEST_WAIT, MemoryId, QueuedAdd, QueuedState, Result,
    Scope, Stage, Timestamp,
    add::{self, AddContext, AddReport},
};

/// How often an idle worker looks for what another process has left.
const IDLE: Duration = Duration::from_secs(60);
/// Most attempts to tell the queue how an add ended; after that its lease runs out, and it is looked at again.
const TOLD: u32 = 4;
/// The wait while the queue does not answer: the first, and the longest.
const OUTAGE: (Duration, Duration) = (Duration::from_millis(500), IDLE);

/// Who has the workers: hands out what an add runs on.
pub(crate) trait Host: Send + Sync + 'static {
    fn later(&self) -> Option<&Later>;
    fn adding(&self) -> AddContext<'_>;
    /// Is told that an add was carried out, or was not.
    fn carried_out(&self, scope: &Scope, elapsed: Duration, result: &Result<AddReport>);
}

/// Starts the workers that are missing, on the runtime that calls.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration) outside a tokio runtime.
pub(crate) fn start<H: Host>(host: &Arc<H>) -> Result<()> {
    let Some(Later(shared)) = host.later() else { return Ok(()) };
    if shared.options.workers == 0 {
        return Ok(());
    }
    let runtime = tokio::runtime::Handle::try_current().map_err(|cause| {
        Error::new(ErrorKind::Configuration, "adds are carried out by tasks of a tokio runtime, and there is none")
            .with_stage(Stage::Queue)
            .with_source(cause)
    })?;
    let one_more = |alive: usize| (alive < shared.options.workers).then_some(alive + 1);
    while shared.workers.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_ok() {
        let alive = Alive(Arc::clone(shared));
        runtime.spawn(work(Arc::downgrade(host), alive));
    }
    Ok(())
}

/// Counts a worker until it ends, also with its runtime.
struct Alive(Arc<Shared>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.workers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Counts an add as carried out by this engine.
struct Running<'s>(&'s Shared, CallId);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        lock(&self.0.running).remove(&self.1);
    }
}

async fn work<H: Host>(host: Weak<H>, alive: Alive) {
    let shared = &alive.0;
    let mut news = shared.news.subscribe();
    let mut outages = 0_u32;
    loop {
        news.mark_unchanged();
        let Some(engine) = host.upgrade() else { return };
        let step = wait::unless_panicked(step(&engine, shared)).await;
        drop(engine);
        let wait = match step {
            Some(Ok(Step::Worked)) => {
                outages = 0;
                Duration::ZERO
            }
            Some(Ok(Step::NotBefore(at))) => {
                outages = 0;
                let wait = (at - shared.clock.now()).to_std().unwrap_or_default();
                wait::first(wait::changed(&mut news), shared.clock.sleep(wait.min(IDLE))).await;
                Duration::ZERO
            }
            Some(Ok(Step::Idle)) => {
                outages = 0;
                IDLE
            }
            Some(Err(error)) => {
                *lock(&shared.trouble) = Some((error.kind(), error.to_string()));
                shared.tell_end();
                outage(&mut outages)
            }
            // A store or a clock of somebody else's.
            None => {
                *lock(&shared.trouble) = Some((ErrorKind::Internal, "the queue or the clock panicked".to_owned()));
                shared.tell_end();
                outage(&mut outages)
            }
        };
        if wait.is_zero() {
            // A clock may return at once, and a store too: others want to run.
            tokio::task::yield_now().await;
        } else {
            // Whether a store answers, or another process is there, is no matter of the clock that memories go by.
            wait::first(wait::changed(&mut news), tokio::time::sleep(wait)).await;
        }
    }
}

fn outage(outages: &mut u32) -> Duration {
    let wait = OUTAGE.0.saturating_mul(2_u32.saturating_pow(*outages)).min(OUTAGE.1);
    *outages = outages.saturating_add(1);
    wait
}

enum Step {
    Worked,
    NotBefore(Timestamp),
    Idle,
}

/// A store that was embedded anew leaves its queue to engines with the new embedder: what others claim would only fail.
async fn fits(context: &AddContext<'_>) -> Result<()> {
    match context.store.bind(&context.embedder.identity()).await {
        Err(error) if error.kind() == ErrorKind::EmbedderMismatch => Err(in_queue(error)),
        // An outage is the add's own to tell.
        _ => Ok(()),
    }
}

/// Carries out the next add, if there is one.
async fn step<H: Host>(host: &Arc<H>, shared: &Arc<Shared>) -> Result<Step> {
    let now = shared.clock.now();
    fits(&host.adding()).await?;
    let (claimed, running) = {
        let _one_by_one = shared.claiming.lock().await;
        let running: Vec<CallId> = lock(&shared.running).iter().copied().collect();
        let claim = Claim::new(now, shared.options.lease, host.adding().ids.next(now)).beside(running);
        let claimed = shared.queue.claim(&claim).await.map_err(in_queue)?;
        let running = match &claimed {
            Claimed::Add(add) => {
                lock(&shared.running).insert(add.id);
                Some(Running(shared, add.id))
            }
            Claimed::NotBefore(_) | Claimed::Nothing => None,
        };
        (claimed, running)
    };
    *lock(&shared.trouble) = None;
    match claimed {
        Claimed::Add(add) => {
            let memory = add.memory.unwrap_or(MemoryId::from_bytes(*add.id.as_bytes()));
            run(host, shared, *add, memory).await;
            // Before it is told, or a flush that hears of it would wait once more.
            drop(running);
            shared.tell_end();
            Ok(Step::Worked)
        }
        Claimed::NotBefore(at) => Ok(Step::NotBefore(at)),
        Claimed::Nothing => Ok(Step::Idle),
    }
}

/// Carries out one add and tells the queue how that ended.
async fn run<H: Host>(host: &Arc<H>, shared: &Arc<Shared>, add: QueuedAdd, memory: MemoryId) {
    let once = Once::new(Arc::clone(shared), add.clone(), memory);
    let renewing = async {
        loop {
            tokio::time::sleep(shared.options.lease / 3).await;
            // One that is not renewed goes on: before it writes it is asked again.
            let _renewed = once.renew().await;
        }
    };
    let start = Instant::now();
    let adding = wait::unless_panicked(carry_out(&**host, &add, &once));
    let result = wait::beside(adding, renewing).await.unwrap_or_else(|| {
        // The panic's own text may hold what is to be remembered.
        Err(Error::new(ErrorKind::Internal, "carrying out a queued add panicked"))
    });
    if once.is_lost() {
        return;
    }
    let (scope, elapsed) = (&add.scope, start.elapsed());
    // A panic of whoever counts changes nothing about the add.
    let _panicked = wait::unless_panicked(async { host.carried_out(scope, elapsed, &result) }).await.is_none();
    let (ended, add) = match &result {
        Ok(_) => (told(|| shared.queue.finish(add.id)).await.is_some(), add),
        Err(error) => failed(shared, add, error).await,
    };
    drop(once);
    if !ended {
        return;
    }
    if result.is_ok() {
        shared.done.fetch_add(1, Ordering::SeqCst);
    }
    if let Some(observer) = &shared.observer {
        // The add is over; a panic of whoever looks on changes nothing about it.
        let _panicked = wait::unless_panicked(async { (observer.0)(&add, &result) }).await.is_none();
    }
}

async fn carry_out<H: Host>(host: &H, add: &QueuedAdd, once: &Once) -> Result<AddReport> {
    let start = Instant::now();
    let mut context = host.adding();
    context.call = add.id;
    context.once = Some(once);
    if add.attempts > 1 {
        let in_store = |error: Error| error.with_stage(Stage::Store);
        if !context.store.history(&add.scope, once.memory()).await.map_err(in_store)?.is_empty() {
            return Ok(AddReport::new(add.id));
        }
        if add.interruptions > once.most_interruptions() {
            let message = format!("a queued add was broken off {} times", add.interruptions);
            return Err(Error::new(ErrorKind::Internal, message));
        }
    }
    let mut report = add::add(&context, &add.scope, &add.to_request()?).await?;
    report.elapsed = start.elapsed();
    Ok(report)
}

/// Notes a failure. Says whether that ends the add, and what it is now.
async fn failed(shared: &Shared, mut add: QueuedAdd, error: &Error) -> (bool, QueuedAdd) {
    let now = shared.clock.now();
    let failure = AddFailure::new(error, now);
    add.failures += 1;
    // The embedder was changed while it ran: another engine will do.
    let may_help = error.is_retryable() || error.kind() == ErrorKind::EmbedderMismatch;
    let again_at = (may_help && add.failures < shared.options.attempts).then(|| {
        let asked = error.retry_after().unwrap_or_default();
        let wait = shared.options.wait(add.failures, chance()).max(asked).min(LONGEST_WAIT);
        let wait = chrono::Duration::from_std(wait).unwrap_or(chrono::Duration::MAX);
        now.checked_add_signed(wait).unwrap_or(Timestamp::MAX_UTC)
    });
    let noted = told(|| shared.queue.fail(add.id, add.attempts, &failure, again_at)).await;
    add.state = if again_at.is_some() { QueuedState::Waiting } else { QueuedState::Failed };
    add.due_at = again_at.unwrap_or(add.due_at);
    add.leased_until = None;
    add.failure = Some(failure);
    (again_at.is_none() && noted == Some(true), add)
}

/// Tells the queue something, again if it does not answer.
async fn told<F: Future<Output = Result<bool>>>(tell: impl Fn() -> F) -> Option<bool> {
    let mut outages = 0;
    for _ in 1..TOLD {
        match tell().await {
            Ok(done) => return Some(done),
            Err(_) => tokio::time::sleep(outage(&mut outages)).await,
        }
    }
    tell().await.ok()
}
