use std::{
    fmt,
    ops::ControlFlow,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{sync::watch, task::JoinHandle};

use super::{Maintenance, MaintenanceReport};
use crate::{
    Error, ErrorKind, Result, Scope, Stage,
    engine::{Inner, MemoryEngine},
};

/// How long a round waits for the queue of adds to become empty before it is left out.
const PATIENCE: u32 = 60;
/// How many of everyone's scopes are held at a time.
const PAGE: usize = 100;

type Scopes = Box<dyn Fn() -> Vec<Scope> + Send + Sync>;
type Observe = Box<dyn Fn(Option<&Scope>, &Result<MaintenanceReport>) + Send + Sync>;

/// Runs [maintenance](MemoryEngine::maintain) every so often, on tokio: of everyone, unless it is told
/// [of whom](Self::scopes).
///
/// It waits by tokio's clock, whatever clock the engine has: a test moves it on with `tokio::time::advance`. When it last
/// ran is kept nowhere, so a service that is started anew every day sets when the [first](Self::first_after) round is.
///
/// ```
/// # use std::time::Duration;
/// # use ingrain::{HashingEmbedder, Maintenance, MaintenanceSchedule, MemoryEngine};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> ingrain::Result<()> {
/// # let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).build().await?;
/// let nightly = MaintenanceSchedule::new(Maintenance::new(), Duration::from_secs(24 * 3600))
///     .on_report(|scope, report| println!("{scope:?}: {report:?}"))
///     .start(&memory)?;
/// // … for as long as `nightly` lives
/// nightly.stop().await;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct MaintenanceSchedule {
    request: Maintenance,
    every: Duration,
    first: Duration,
    /// `None` for everyone's.
    scopes: Option<Scopes>,
    observe: Observe,
}

impl fmt::Debug for MaintenanceSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { request, every, first, scopes: _, observe: _ } = self;
        let mut shown = f.debug_struct("MaintenanceSchedule");
        shown.field("request", request).field("every", every).field("first", first).finish_non_exhaustive()
    }
}

impl MaintenanceSchedule {
    /// A round every so often after the end of the one before, the first after that time, too; of everyone.
    pub fn new(request: Maintenance, every: Duration) -> Self {
        Self { request, every, first: every, scopes: None, observe: Box::new(|_, _| {}) }
    }

    /// When the first round begins, counted from the start; at once with 0. A round that finds nothing to do writes
    /// nothing. Default: as long as between two rounds.
    pub fn first_after(mut self, wait: Duration) -> Self {
        self.first = wait;
        self
    }

    /// Which scopes a round is for, asked before each. Default: [everyone's](MemoryEngine::scopes_of_everyone), each user
    /// once, read as the round goes on.
    pub fn scopes(mut self, scopes: impl Fn() -> Vec<Scope> + Send + Sync + 'static) -> Self {
        self.scopes = Some(Box::new(scopes));
        self
    }

    /// Is told what each call came to; it should be quick. After an error the round goes on with the next scope. Without a
    /// scope it is told that the list of everyone's could not be read, and then the rest is left to the next round. Default:
    /// nobody is told.
    pub fn on_report(
        mut self,
        observe: impl Fn(Option<&Scope>, &Result<MaintenanceReport>) + Send + Sync + 'static,
    ) -> Self {
        self.observe = Box::new(observe);
        self
    }

    /// Starts. A round waits until the [queue of adds](MemoryEngine::add_later) is empty, up to a minute, and goes through
    /// each scope to its end, giving way to other work between calls. It does not keep the engine alive: with its last clone
    /// the rounds end.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a bad request or no time between rounds;
    /// [`Configuration`](ErrorKind::Configuration) outside a tokio runtime.
    pub fn start(self, engine: &MemoryEngine) -> Result<ScheduledMaintenance> {
        self.request.validate()?;
        if self.every.is_zero() {
            return Err(Error::invalid("there must be time between two rounds of maintenance"));
        }
        let runtime = tokio::runtime::Handle::try_current().map_err(|cause| {
            let message = "maintenance is scheduled outside a tokio runtime";
            Error::new(ErrorKind::Configuration, message).with_stage(Stage::Maintain).with_source(cause)
        })?;
        let weak = Arc::downgrade(&engine.0);
        let (stop, mut stopped) = watch::channel(());
        let task = runtime.spawn(async move {
            let mut wait = self.first;
            loop {
                // Whoever drops the handle, or stops it, ends the wait.
                if tokio::time::timeout(wait, stopped.changed()).await.is_ok() {
                    return;
                }
                wait = self.every;
                if self.round(&weak, &stopped).await.is_break() {
                    return;
                }
            }
        });
        Ok(ScheduledMaintenance { stop: Some(stop), task: Some(task) })
    }

    /// Once over all scopes, unless the engine goes or it is stopped before.
    async fn round(&self, weak: &Weak<Inner>, stopped: &watch::Receiver<()>) -> ControlFlow<()> {
        let mut last = None;
        loop {
            let scopes = match &self.scopes {
                Some(given) => given(),
                None => {
                    let Some(inner) = weak.upgrade() else { return ControlFlow::Break(()) };
                    match MemoryEngine(inner).scopes_of_everyone(last.as_ref(), PAGE).await {
                        Ok(page) => page,
                        Err(error) => {
                            (self.observe)(None, &Err(error.with_stage(Stage::Maintain)));
                            return ControlFlow::Continue(());
                        }
                    }
                }
            };
            last = scopes.last().cloned();
            for scope in scopes {
                let Some(inner) = weak.upgrade() else { return ControlFlow::Break(()) };
                self.scope(&MemoryEngine(inner), &scope).await;
                if stopped.has_changed().unwrap_or(true) {
                    return ControlFlow::Break(());
                }
            }
            if self.scopes.is_some() || last.is_none() {
                return ControlFlow::Continue(());
            }
        }
    }

    async fn scope(&self, engine: &MemoryEngine, scope: &Scope) {
        if let Some(later) = &engine.0.later {
            for _ in 0..PATIENCE {
                if !later.has_work().await.unwrap_or(false) {
                    break;
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        let mut request = self.request.clone();
        loop {
            let report = engine.maintain(scope, &request).await;
            let next = report.as_ref().ok().and_then(|report| report.next.clone());
            (self.observe)(Some(scope), &report);
            let Some(place) = next else { return };
            request = request.resume(place);
            tokio::task::yield_now().await;
        }
    }
}

/// Maintenance that is going on. Dropping it ends it after the call it is in.
#[derive(Debug)]
#[must_use = "dropping it ends the maintenance"]
pub struct ScheduledMaintenance {
    stop: Option<watch::Sender<()>>,
    task: Option<JoinHandle<()>>,
}

impl ScheduledMaintenance {
    /// Ends it, and waits for the call it is in.
    pub async fn stop(mut self) {
        self.stop.take();
        if let Some(task) = self.task.take() {
            // A panic of an observer ends the rounds as well.
            let _ = task.await;
        }
    }
}
