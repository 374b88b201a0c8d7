use chrono::{DateTime, FixedOffset};

use super::{SearchContext, SearchMode, SearchRequest};
use crate::{Attributes, MemoryKind, TimeRange, dates, score::timeliness};

/// The times that a query names.
#[derive(Debug)]
pub(super) struct Times(Vec<TimeRange>);

impl Times {
    /// Those of the query, seen from when it is asked; none where they would not count.
    pub(super) fn named(context: &SearchContext<'_>, request: &SearchRequest) -> Self {
        if request.mode != SearchMode::Hybrid || context.weights.time <= 0.0 {
            return Self(Vec::new());
        }
        let asked: DateTime<FixedOffset> = request.asked_at.unwrap_or_else(|| context.now.into());
        Self(dates::find(&request.query, asked).into_iter().map(|found| found.range).collect())
    }

    pub(super) fn ranges(&self) -> &[TimeRange] {
        &self.0
    }

    /// How near a memory is to the nearest of them, 0 to 1; `None` if the query names none.
    pub(super) fn nearness(&self, memory: &Attributes) -> Option<f32> {
        let said = |range: &TimeRange| timeliness::of_instant(memory.observed_at, *range);
        let near = |range: &TimeRange| match memory.kind {
            MemoryKind::Episode => said(range),
            _ => timeliness::of_state(memory.valid_at, memory.invalid_at, *range).max(said(range)),
        };
        self.0.iter().map(near).reduce(f32::max)
    }
}
