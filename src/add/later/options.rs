use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

use crate::{Error, ErrorKind, LONGEST_LEASE, LONGEST_WAIT, Result};

/// How much slower each next attempt is.
const FACTOR: u32 = 4;

/// How adds are carried out in the background.
///
/// ```
/// use ingrain::BackgroundOptions;
/// let options = BackgroundOptions::new().capacity(500).workers(4).attempts(3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct BackgroundOptions {
    /// Most adds in the queue.
    pub capacity: usize,
    /// How many adds are carried out at once.
    pub workers: usize,
    /// How often an add is tried.
    pub attempts: u32,
    /// How often an add may be broken off.
    pub interruptions: u32,
    /// The wait before the second attempt.
    pub first_wait: Duration,
    /// The longest wait between two attempts.
    pub longest_wait: Duration,
    /// How long a running add is left alone after its process has ended.
    pub lease: Duration,
}

impl BackgroundOptions {
    /// 10,000 adds, two at once, each tried five times.
    pub fn new() -> Self {
        Self {
            capacity: 10_000,
            workers: 2,
            attempts: 5,
            interruptions: 16,
            first_wait: Duration::from_secs(2),
            longest_wait: Duration::from_secs(900),
            lease: Duration::from_secs(30),
        }
    }

    /// Most adds in the queue, those of all scopes and processes and those that have failed; 1 or more. Beyond it,
    /// [`add_later`](crate::MemoryEngine::add_later) is refused with [`QueueFull`](ErrorKind::QueueFull). Default 10,000.
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// How many adds this engine carries out at once. Those of one user and agent go one after the other in any case. With
    /// 0 it carries out none, its own neither: for programs that only look at a file whose adds another carries out.
    /// Default 2.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// How often an add is tried while its failures are [such that may pass](crate::Error::is_retryable); 1 or more. Then
    /// it has failed, and lies in the queue until it is retried or discarded; other failures end it at once. Default 5.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// How often an add may be broken off, because its process or its runtime ended, before it counts as failed: one that
    /// ends its process must not do so at every start. Default 16.
    pub fn interruptions(mut self, interruptions: u32) -> Self {
        self.interruptions = interruptions;
        self
    }

    /// The wait before the second attempt, and the longest: each is four times as long as the one before, times a number
    /// from ½ to 1, and as long as the provider asked for if that is longer. Meanwhile what was queued behind it for the
    /// same user and agent waits, too. A [day](crate::LONGEST_WAIT) at most. Default 2 seconds and 15 minutes: with five
    /// attempts, an outage of a minute and a half is outlasted for certain.
    pub fn waits(mut self, first: Duration, longest: Duration) -> Self {
        (self.first_wait, self.longest_wait) = (first, longest);
        self
    }

    /// For how long a running add is left to its worker, which renews that three times meanwhile: so long at most it waits
    /// when the process has ended amid it. One second to [ten minutes](crate::LONGEST_LEASE). Default 30 seconds.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    pub(crate) fn validate(&self) -> Result<()> {
        let wrong = [
            (self.capacity == 0, "the queue of adds has no room"),
            (self.attempts == 0, "a queued add is never tried"),
            (self.lease < Duration::from_secs(1), "the lease of a queued add is shorter than a second"),
            (self.lease > LONGEST_LEASE, "the lease of a queued add is longer than ten minutes"),
        ];
        let wrong: Vec<&str> = wrong.into_iter().filter_map(|(is_so, what)| is_so.then_some(what)).collect();
        if wrong.is_empty() { Ok(()) } else { Err(Error::new(ErrorKind::Configuration, wrong.join("; "))) }
    }

    /// The wait after so many failures: `first_wait · 4^(failures − 1)`, at most `longest_wait`, times a number from ½ to
    /// 1.
    ///
    /// # Source
    /// "Equal jitter": Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    pub(super) fn wait(&self, failures: u32, chance: f64) -> Duration {
        let grown = self.first_wait.saturating_mul(FACTOR.saturating_pow(failures.saturating_sub(1)));
        grown.min(self.longest_wait).min(LONGEST_WAIT).mul_f64(0.5 + 0.5 * chance.clamp(0.0, 1.0))
    }
}

impl Default for BackgroundOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A number from 0 to 1 that nobody can foresee; the standard library seeds its hashers from the system.
pub(super) fn chance() -> f64 {
    let bits = RandomState::new().build_hasher().finish() >> 11;
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what the type holds")]
    let chance = bits as f64 / (1_u64 << 53) as f64;
    chance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_within_their_bounds() {
        let options = BackgroundOptions::new();
        let seconds = [2, 8, 32, 128, 512, 900, 900].map(Duration::from_secs);
        for (failures, longest) in (1..).zip(seconds) {
            assert_eq!(options.wait(failures, 1.0), longest);
            assert_eq!(options.wait(failures, 0.0), longest / 2);
        }
        assert_eq!(options.wait(u32::MAX, 1.0), Duration::from_secs(900));
    }

    #[test]
    fn all_that_is_wrong_is_told() {
        let wrong = BackgroundOptions::new().capacity(0).attempts(0).lease(Duration::ZERO);
        let told = wrong.validate().map_err(|error| (error.kind(), error.to_string().matches(';').count()));
        assert_eq!(told, Err((ErrorKind::Configuration, 2)));
        assert!(BackgroundOptions::new().workers(0).validate().is_ok());
    }
}
