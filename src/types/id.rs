use std::sync::{Mutex, PoisonError};

use uuid::{NoContext, Timestamp as UuidTime, Uuid, timestamp::context::ContextV7};

use super::Timestamp;

/// A newtype over a UUID v7 with what all ids have.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(uuid::Uuid);

        impl $name {
            /// A new id for `at`; ids of one millisecond fall in no particular order.
            #[must_use]
            pub fn new(at: $crate::Timestamp) -> Self {
                Self($crate::types::id::new_v7(at))
            }

            /// The id with these 16 bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(uuid::Uuid::from_bytes(bytes))
            }

            /// The 16 bytes, big-endian: they sort as the ids do.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Error;

            /// # Errors
            /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when the text is no UUID.
            fn from_str(text: &str) -> $crate::Result<Self> {
                uuid::Uuid::try_parse(text)
                    .map(Self)
                    .map_err(|cause| $crate::Error::invalid(concat!($what, " must be a UUID")).with_source(cause))
            }
        }
    };
}

pub(super) use id;

id!(
    /// Names one memory for good: a UUID v7, so that ids sort by the time they were made.
    ///
    /// An id never changes and is never used again, but for that of a labelled [block](crate::Block), which its scope and
    /// label give (a UUID v5): a block that is made again has the same. Parsing accepts any UUID, since imported memories keep theirs.
    /// [`IdSource`] makes ids that also keep their order within a millisecond.
    MemoryId,
    "a memory id"
);

impl MemoryId {
    /// When it was made, to the millisecond, if it tells.
    pub(crate) fn made_at(self) -> Option<Timestamp> {
        let (seconds, nanos) = self.0.get_timestamp()?.to_unix();
        Timestamp::from_timestamp(i64::try_from(seconds).ok()?, nanos)
    }
}

/// Makes memory ids that sort in the order they were made, also within a millisecond and when the clock steps back.
#[derive(Debug, Default)]
pub struct IdSource(Mutex<ContextV7>);

impl IdSource {
    /// The next id, for `at`.
    #[must_use]
    pub fn next(&self, at: Timestamp) -> MemoryId {
        // The context is two counters: whatever a panicking thread left in it is still usable.
        let context = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (seconds, nanos) = unix(at);
        MemoryId(Uuid::new_v7(UuidTime::from_unix(&*context, seconds, nanos)))
    }
}

/// A random UUID v7 of the instant.
pub(super) fn new_v7(at: Timestamp) -> Uuid {
    let (seconds, nanos) = unix(at);
    Uuid::new_v7(UuidTime::from_unix(NoContext, seconds, nanos))
}

/// Times before 1970 count as 1970: the format has no sign.
fn unix(at: Timestamp) -> (u64, u32) {
    u64::try_from(at.timestamp()).map_or((0, 0), |seconds| (seconds, at.timestamp_subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_keeps_the_order_of_making() {
        let source = IdSource::default();
        let at = Timestamp::from_timestamp(1_739_174_400, 5_000_000).unwrap_or_default();
        let ids: Vec<_> = (0..5_000).map(|i| source.next(at - chrono::Duration::milliseconds(i % 3))).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn odd_text_is_no_id() {
        for bad in ["not-a-uuid", "", "💥", "'; --"] {
            assert!(bad.parse::<MemoryId>().is_err());
        }
    }
}
