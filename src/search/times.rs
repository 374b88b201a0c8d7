use chrono::{DateTime, FixedOffset};

use super::{SearchContext, SearchMode, SearchRequest};
use crate::{Attributes, MemoryKind, TimeRange, dates, score::timeliness};

/// The times that a query names.
#[derive(Debug, Default)]
pub(super) struct Times {
    ranges: Vec<TimeRange>,
    /// The query without the words that tell how far off they are; `None` if there are none, or nothing else.
    rest: Option<String>,
}

impl Times {
    /// Those of the query, seen from when it is asked; none where they would not count.
    pub(super) fn named(context: &SearchContext<'_>, request: &SearchRequest) -> Self {
        if request.mode != SearchMode::Hybrid || context.weights.time <= 0.0 {
            return Self::default();
        }
        let asked: DateTime<FixedOffset> = request.asked_at.unwrap_or_else(|| context.now.into());
        let found = dates::find(&request.query, asked);
        let (mut rest, mut end) = (String::new(), 0);
        for span in found.iter().filter(|found| found.relative).map(|found| &found.span) {
            rest.push_str(request.query.get(end..span.start).unwrap_or_default());
            rest.push(' ');
            end = end.max(span.end);
        }
        rest.push_str(request.query.get(end..).unwrap_or_default());
        let rest = (end > 0 && rest.chars().any(char::is_alphanumeric)).then_some(rest);
        Self { ranges: found.into_iter().map(|found| found.range).collect(), rest }
    }

    /// What the query asks for besides a time: "yesterday" is no word to look for, since what was said then does not say
    /// so, and what says so was said at other times.
    pub(super) fn rest<'q>(&'q self, query: &'q str) -> &'q str {
        self.rest.as_deref().unwrap_or(query)
    }

    pub(super) fn ranges(&self) -> &[TimeRange] {
        &self.ranges
    }

    /// How near a memory is to the nearest of them, 0 to 1; `None` if the query names none.
    pub(super) fn nearness(&self, memory: &Attributes) -> Option<f32> {
        let said = |range: &TimeRange| timeliness::of_instant(memory.observed_at, *range);
        let near = |range: &TimeRange| match memory.kind {
            MemoryKind::Episode => said(range),
            _ => timeliness::of_state(memory.valid_at, memory.invalid_at, *range).max(said(range)),
        };
        self.ranges.iter().map(near).reduce(f32::max)
    }
}
