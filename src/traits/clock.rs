use std::{
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;

use crate::Timestamp;

/// Where time comes from. Nothing but an implementation of this reads the system's clock.
///
/// An implementation may stand still or step back; it must not panic.
#[async_trait]
pub trait Clock: Debug + Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// Returns when `duration` has passed on this clock. Cancelling the future is safe.
    async fn sleep(&self, duration: Duration);
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Clock + ?Sized> Clock for Arc<T> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    async fn sleep(&self, duration: Duration) {
        (**self).sleep(duration).await;
    }
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        chrono::Utc::now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A clock that moves only when told to: for tests, simulations and replays. Clones share the time.
///
/// ```
/// use ingrain::{Clock, ManualClock};
/// let clock = ManualClock::at("2025-02-10T08:00:00Z".parse()?);
/// clock.advance(std::time::Duration::from_secs(3_600));
/// assert_eq!(clock.now().to_rfc3339(), "2025-02-10T09:00:00+00:00");
/// # Ok::<(), chrono::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<Mutex<Timestamp>>);

impl ManualClock {
    /// A clock that stands at `now`.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(now)))
    }

    /// Puts the clock to `now`, which may be earlier.
    pub fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Moves the clock on; at the end of the calendar it stops.
    pub fn advance(&self, duration: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let step = chrono::Duration::from_std(duration).unwrap_or(chrono::Duration::MAX);
        *now = now.checked_add_signed(step).unwrap_or(Timestamp::MAX_UTC);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the clock on and returns at once.
    async fn sleep(&self, duration: Duration) {
        self.advance(duration);
    }
}
