use chrono::{DateTime, FixedOffset};

use super::{SearchContext, SearchMode, SearchRequest};
use crate::{Attributes, MemoryKind, TimeRange, Timestamp, cues::Wanted, dates, score::timeliness};

/// The times that a query names.
#[derive(Debug, Default)]
pub(super) struct Times {
    ranges: Vec<TimeRange>,
    /// Those for which what has ended since is asked for as well: that are over, or all of the past.
    over: Vec<TimeRange>,
    /// When it is asked, if it asks for what has ended and names no time.
    past: Option<Timestamp>,
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
        let ranges: Vec<TimeRange> = found.into_iter().map(|found| found.range).collect();
        let (now, past) = (asked.to_utc(), Wanted::by(&request.query).past);
        // Of a time that goes on, what holds now is asked for: "where do I work this year?"
        let mut over: Vec<TimeRange> = ranges.iter().filter(|range| past || range.end() <= now).copied().collect();
        let past = (past && ranges.is_empty()).then_some(now);
        over.extend(past.and_then(|now| TimeRange::new(Timestamp::MIN_UTC, now)));
        Self { ranges, over, past, rest }
    }

    /// What the query asks for besides a time: "yesterday" is no word to look for, since what was said then does not say
    /// so, and what says so was said at other times.
    pub(super) fn rest<'q>(&'q self, query: &'q str) -> &'q str {
        self.rest.as_deref().unwrap_or(query)
    }

    pub(super) fn ranges(&self) -> &[TimeRange] {
        &self.ranges
    }

    /// Whether it asks for what has ended, and names no time.
    pub(super) fn is_past(&self) -> bool {
        self.past.is_some()
    }

    /// From the first to the last of the times for which what has ended since is asked for as well.
    pub(super) fn past(&self) -> Option<TimeRange> {
        self.over.iter().copied().reduce(TimeRange::hull)
    }

    /// Whether what ended before `now` is asked for: it held in one of those times.
    pub(super) fn ask_for(&self, valid_at: Timestamp, invalid_at: Option<Timestamp>, now: Timestamp) -> bool {
        invalid_at.is_none_or(|end| end > now) || self.over.iter().any(|range| range.meets(valid_at, invalid_at))
    }

    /// How near a memory is to the nearest of them, 0 to 1; `None` if the query names none.
    pub(super) fn nearness(&self, memory: &Attributes) -> Option<f32> {
        if let Some(now) = self.past {
            // A turn has no end.
            return Some(if memory.invalid_at.is_some_and(|end| end <= now) { 1.0 } else { 0.0 });
        }
        let said = |range: &TimeRange| timeliness::of_instant(memory.observed_at, *range);
        let near = |range: &TimeRange| match memory.kind {
            MemoryKind::Episode => said(range),
            _ => timeliness::of_state(memory.valid_at, memory.invalid_at, *range).max(said(range)),
        };
        self.ranges.iter().map(near).reduce(f32::max)
    }
}
