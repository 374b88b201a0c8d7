//! What is to be summarised, and what may be dropped. Pure.

use std::ops::Range;

use super::{
    ConversationOptions,
    measure::Limits,
    turns::{Turn, atoms, exchanges},
};

/// The segments to summarise next, as numbers of messages, oldest first; none if the conversation is within its limits, or
/// if nothing but what is to be kept is left.
///
/// `turns` are those that the summary, which has the size `summary`, does not cover.
pub(super) fn due(turns: &[&Turn], summary: usize, options: &ConversationOptions, limits: &Limits) -> Vec<Range<u64>> {
    let all: usize = turns.iter().map(|turn| turn.size).sum();
    let atoms = atoms(turns.iter().copied());
    let exchanges = exchanges(turns, &atoms);
    if summary.saturating_add(all) <= limits.size && exchanges.len() <= limits.exchanges {
        return Vec::new();
    }
    let size = |range: &Range<usize>| turns.get(range.clone()).unwrap_or_default().iter().map(|turn| turn.size).sum();
    let end = kept_from(turns.len(), &atoms, &exchanges, options, limits.beside(summary), size);
    let (mut left, mut segments) = (all, Vec::new());
    for range in segments_of(&exchanges, end, options.segment, limits.size, size) {
        if !segments.is_empty() {
            let beyond = exchanges.iter().filter(|exchange| exchange.end > range.start).count();
            if left <= limits.beside(summary) && beyond <= limits.exchanges {
                break;
            }
        }
        left -= size(&range);
        let first = turns.get(range.start).map(|turn| turn.sequence);
        let last = turns.get(range.end - 1).map(|turn| turn.sequence);
        segments.extend(first.zip(last).map(|(first, last)| first..last + 1));
        // One more than at once, for the last of them is summarised together with what the others gave.
        if segments.len() > options.parallel {
            break;
        }
    }
    segments
}

/// The place of the first turn that is kept: the newest atom, and before it the last messages and the last exchange as far
/// as they fit into `room`.
fn kept_from(
    turns: usize,
    atoms: &[Range<usize>],
    exchanges: &[Range<usize>],
    options: &ConversationOptions,
    room: usize,
    size: impl Fn(&Range<usize>) -> usize,
) -> usize {
    let exchange = exchanges.last().map_or(turns, |last| last.start);
    let wanted = exchange.min(turns.saturating_sub(options.keep_last));
    let (mut from, mut taken) = (turns, 0);
    for atom in atoms.iter().rev() {
        let with = taken + size(atom);
        let is_newest = from == turns;
        if !is_newest && (from <= wanted || with > room) {
            break;
        }
        (from, taken) = (atom.start, with);
    }
    from
}

/// The places before `end` in segments: so many exchanges each, but no more than have `most` size together.
fn segments_of(
    exchanges: &[Range<usize>],
    end: usize,
    most_exchanges: usize,
    most: usize,
    size: impl Fn(&Range<usize>) -> usize,
) -> Vec<Range<usize>> {
    let mut segments: Vec<(Range<usize>, usize)> = Vec::new();
    for exchange in exchanges {
        let part = exchange.start..exchange.end.min(end);
        if part.is_empty() {
            break;
        }
        match segments.last_mut() {
            Some((segment, count)) if *count < most_exchanges && size(&(segment.start..part.end)) <= most => {
                (segment.end, *count) = (part.end, *count + 1);
            }
            _ => segments.push((part, 1)),
        }
    }
    segments.into_iter().map(|(segment, _)| segment).collect()
}

/// Up to which message the oldest exchanges may be dropped so that no more than the limit are left, if any may: up to
/// `before` at most, and only whole ones.
pub(super) fn droppable(turns: &[&Turn], limits: &Limits, before: u64) -> Option<u64> {
    let atoms = atoms(turns.iter().copied());
    let exchanges = exchanges(turns, &atoms);
    let too_many = exchanges.len().checked_sub(limits.exchanges).filter(|many| *many > 0)?;
    let starts = exchanges.iter().take(too_many + 1).filter_map(|exchange| turns.get(exchange.start));
    let first = turns.first()?.sequence;
    starts.map(|turn| turn.sequence).take_while(|start| *start <= before).last().filter(|start| *start > first)
}
