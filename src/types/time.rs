use chrono::{DateTime, SubsecRound, Utc};

/// An instant in UTC. Stores keep microseconds.
pub type Timestamp = DateTime<Utc>;

/// Microseconds are what every store can keep, so nothing finer is ever handed out.
pub(crate) fn truncate(at: Timestamp) -> Timestamp {
    // By way of the stored form, which has no leap seconds.
    Timestamp::from_timestamp_micros(at.timestamp_micros()).unwrap_or_else(|| at.trunc_subsecs(6))
}

/// Which memories a read sees, by world time (`valid_at` .. `invalid_at`) and expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validity {
    /// What holds at the instant, as seen from it: not invalidated and not expired. A memory that becomes valid only
    /// later is shown (a plan is worth remembering), unless it ends before it begins, and so never holds.
    Current(Timestamp),
    /// That, and what held for an instant at least within the range and has ended since: what somebody asks for who
    /// names a time that is over. Nothing that has expired by the instant.
    CurrentOrHeld(Timestamp, TimeRange),
    /// What held at the instant: `valid_at <= t < invalid_at`, expiry aside.
    At(Timestamp),
    /// Everything, also what was superseded or has expired.
    Any,
}

impl Validity {
    /// Whether a memory with these times is seen.
    #[must_use]
    pub fn admits(self, valid_at: Timestamp, invalid_at: Option<Timestamp>, expires_at: Option<Timestamp>) -> bool {
        let current = |now| invalid_at.is_none_or(|end| end > now && end > valid_at);
        let lasts = |now| expires_at.is_none_or(|end| end > now);
        match self {
            Self::Current(now) => current(now) && lasts(now),
            Self::CurrentOrHeld(now, range) => (current(now) || range.meets(valid_at, invalid_at)) && lasts(now),
            Self::At(then) => valid_at <= then && invalid_at.is_none_or(|end| end > then),
            Self::Any => true,
        }
    }
}

/// A stretch of time with a beginning and an end after it: `start <= t < end`. An open side is
/// [`Timestamp::MIN_UTC`] or [`Timestamp::MAX_UTC`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeRange {
    start: Timestamp,
    end: Timestamp,
}

impl TimeRange {
    /// The stretch from `start` to just before `end`; `None` unless it holds an instant.
    #[must_use]
    pub fn new(start: Timestamp, end: Timestamp) -> Option<Self> {
        (start < end).then_some(Self { start, end })
    }

    /// Its first instant.
    #[must_use]
    pub const fn start(self) -> Timestamp {
        self.start
    }

    /// The first instant after it.
    #[must_use]
    pub const fn end(self) -> Timestamp {
        self.end
    }

    /// Whether what began at `from`, and may have ended, held for an instant at least within it. What ended no later than
    /// it began held at no instant.
    #[must_use]
    pub fn meets(self, from: Timestamp, until: Option<Timestamp>) -> bool {
        from < self.end && until.is_none_or(|until| until > self.start && until > from)
    }

    /// From the beginning of the earlier to the end of the later.
    #[must_use]
    pub(crate) fn hull(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether the instant lies in it.
    #[must_use]
    pub fn contains(self, at: Timestamp) -> bool {
        self.start <= at && at < self.end
    }
}
