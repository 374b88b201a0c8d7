//! Adds that are carried out in the background: in order, bounded, once, and seen when they fail.

mod failing;
mod faults;
mod order;
#[cfg(feature = "sqlite")]
mod surviving;

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use ingrain::{
    AddReport, BackgroundOptions, CallId, Clock, Error, ErrorKind, ExtractRequest, Extraction, Extractor, Filter,
    ListRequest, ManualClock, MemoryEngine, QueuedAdd, Result, Scope, Timestamp,
};
use tokio::sync::{Semaphore, watch};

use crate::worlds::World;

/// An extractor in a test's hand. What a text has in it decides: `held` waits to be let go, `poison` is refused for good,
/// `panic` panics; and while it is down it fails in a way that may pass.
#[derive(Debug, Clone)]
pub struct Told(Arc<State>);

#[derive(Debug)]
struct State {
    began: Mutex<Vec<String>>,
    /// Whose add is under way.
    under_way: Mutex<HashSet<String>>,
    held: Semaphore,
    failures: AtomicU32,
    retry_after: Mutex<Option<Duration>>,
    accepts_poison: AtomicU32,
}

impl Told {
    pub fn new() -> Self {
        Self(Arc::new(State {
            began: Mutex::default(),
            under_way: Mutex::default(),
            held: Semaphore::new(0),
            failures: AtomicU32::new(0),
            retry_after: Mutex::default(),
            accepts_poison: AtomicU32::new(0),
        }))
    }

    /// The texts of all calls so far.
    pub fn began(&self) -> Vec<String> {
        self.0.began.lock().unwrap().clone()
    }

    pub async fn has_begun(&self, text: &str) {
        until(async || self.began().iter().any(|began| began == text)).await;
    }

    /// Lets so many calls go that are held, now or later.
    pub fn let_go(&self, calls: usize) {
        self.0.held.add_permits(calls);
    }

    /// The next calls fail.
    pub fn fail_next(&self, calls: u32) {
        self.0.failures.store(calls, Ordering::SeqCst);
    }

    /// Failures ask for this wait.
    pub fn asks_to_wait(&self, wait: Duration) {
        *self.0.retry_after.lock().unwrap() = Some(wait);
    }

    pub fn accept_poison(&self) {
        self.0.accepts_poison.store(1, Ordering::SeqCst);
    }

    /// Whether somebody else has it, too.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

#[ingrain::async_trait]
impl Extractor for Told {
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        let text = request.messages[0].text.clone();
        let whose = text.split_whitespace().next().unwrap().to_owned();
        self.0.began.lock().unwrap().push(text.clone());
        // What is held may be discarded, and what is shared be taken over, and then the next may begin.
        let _under_way = (!text.contains("held") && !text.contains("shared")).then(|| UnderWay::new(&self.0, whose));
        let result = self.answer(&text).await;
        assert!(!text.contains("panic"), "told to");
        result
    }
}

struct UnderWay<'s>(&'s State, String);

impl<'s> UnderWay<'s> {
    fn new(state: &'s State, whose: String) -> Self {
        let is_first = state.under_way.lock().unwrap().insert(whose.clone());
        assert!(is_first, "two adds of {whose} at once");
        Self(state, whose)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.lock().unwrap().remove(&self.1);
    }
}

impl Told {
    async fn answer(&self, text: &str) -> Result<Extraction> {
        if text.contains("held") {
            self.0.held.acquire().await.unwrap().forget();
        }
        // Others get their turn, a different number of times for each.
        for _ in 0..text.bytes().map(usize::from).sum::<usize>() % 7 {
            tokio::task::yield_now().await;
        }
        if text.contains("poison") && self.0.accepts_poison.load(Ordering::SeqCst) == 0 {
            return Err(Error::new(ErrorKind::ProviderRefused, "told to refuse"));
        }
        let fails = |left: u32| left.checked_sub(1);
        if self.0.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails).is_ok() {
            let error = Error::new(ErrorKind::ProviderUnreachable, "told to be down");
            return Err(match *self.0.retry_after.lock().unwrap() {
                Some(wait) => error.with_retry_after(wait),
                None => error,
            });
        }
        Ok(Extraction::default())
    }
}

/// A clock on which nobody's sleep ends until the test moves it.
#[derive(Debug, Clone)]
pub struct StandingClock(ManualClock, Arc<watch::Sender<()>>);

impl StandingClock {
    pub fn at(now: Timestamp) -> Self {
        Self(ManualClock::at(now), Arc::default())
    }

    pub fn advance(&self, step: Duration) {
        self.0.advance(step);
        self.1.send_replace(());
    }
}

#[ingrain::async_trait]
impl Clock for StandingClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    async fn sleep(&self, duration: Duration) {
        let until = self.now() + duration;
        let mut moved = self.1.subscribe();
        while self.now() < until {
            moved.changed().await.unwrap();
        }
    }
}

/// How adds ended, in the order it was told.
#[derive(Debug, Clone, Default)]
pub struct Outcomes(Arc<Mutex<Vec<Outcome>>>);

/// Which add, and why it was given up.
type Outcome = (CallId, Option<ErrorKind>);

impl Outcomes {
    pub fn observer(&self) -> impl Fn(&QueuedAdd, &Result<AddReport>) + Send + Sync + use<> {
        let outcomes = Arc::clone(&self.0);
        move |add, result| {
            if let Ok(report) = result {
                assert_eq!(report.call, add.id);
            }
            outcomes.lock().unwrap().push((add.id, result.as_ref().err().map(Error::kind)));
        }
    }

    pub fn all(&self) -> Vec<Outcome> {
        self.0.lock().unwrap().clone()
    }
}

/// Lets others run until it is so.
pub async fn until(is_so: impl AsyncFn() -> bool) {
    while !is_so().await {
        tokio::task::yield_now().await;
    }
}

/// The engine of a world with this extractor.
pub async fn engine(world: &World, told: &Told, options: BackgroundOptions) -> MemoryEngine {
    world.builder().extractor(told.clone()).background(options).build().await.unwrap()
}

/// An engine that queues and carries nothing out.
pub async fn queueing(world: &World) -> MemoryEngine {
    world.builder().background(BackgroundOptions::new().workers(0)).build().await.unwrap()
}

/// The turns of a scope, in the order of their places.
pub async fn turns(engine: &MemoryEngine, scope: &Scope) -> Vec<String> {
    let request = ListRequest::new().filter(Filter::eq("kind", "episode")).limit(10_000);
    let mut memories = engine.list(scope, request).await.unwrap().items;
    memories.sort_by_key(|memory| memory.ordinal);
    memories.into_iter().map(|memory| memory.text).collect()
}

/// Flushes until the queue answers.
pub async fn flushed(engine: &MemoryEngine) -> u64 {
    loop {
        match engine.flush().await {
            Ok(report) => {
                assert_eq!(report.failed, []);
                return report.done;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}"),
        }
    }
}
