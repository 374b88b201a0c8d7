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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{ApproximateTokens, conversation::turns::tests::turns};

    /// The segments that are due of these turns, which have the size 1 each.
    fn due_of(script: &str, options: &ConversationOptions) -> Vec<Range<u64>> {
        let turns = turns(script);
        let limits = Limits::of(options, Arc::new(ApproximateTokens));
        limits.map_or_else(|_| Vec::new(), |limits| due(&turns.iter().collect::<Vec<_>>(), 0, options, &limits))
    }

    fn parts(parts: &[(u64, u64)]) -> Vec<Range<u64>> {
        parts.iter().map(|(start, end)| *start..*end).collect()
    }

    #[test]
    fn segments_are_whole_exchanges_up_to_what_is_kept() {
        let talk = "u a u a u a u a u a u a u a";
        let options = ConversationOptions::new().max_exchanges(4).segment(2).keep_last(0);
        assert_eq!(due_of(talk, &options), [0..4, 4..8], "as many as are needed");
        assert_eq!(due_of(talk, &options.clone().keep_last(9)), [0..4, 4..5], "the ninth but last is kept");
        assert_eq!(due_of(talk, &options.clone().max_exchanges(1).parallel(1)), [0..4, 4..8], "one beside another");
        assert_eq!(due_of(talk, &options.clone().max_exchanges(7)), [], "nothing is beyond the limit");
        assert_eq!(due_of(talk, &options.clone().keep_last(99)), [], "and all is kept");
        let calls = "u a u c1+2 r2 r1 a u a";
        let options = options.max_exchanges(1);
        for keep in 3..=6 {
            assert_eq!(due_of(calls, &options.clone().keep_last(keep)), parts(&[(0, 3)]), "{keep}: the call stays");
        }
        assert_eq!(due_of(calls, &options.clone().keep_last(7)), parts(&[(0, 2)]));
        assert_eq!(due_of("u u u", &options), [], "a question without an answer is no exchange yet");
    }

    #[test]
    fn no_more_is_dropped_than_whole_exchanges_that_are_covered() {
        let turns = turns("u a u a u c1 r1 a u a");
        let turns: Vec<&Turn> = turns.iter().collect();
        let drop = |most: usize, before: u64| {
            let options = ConversationOptions::new().max_exchanges(most);
            Limits::of(&options, Arc::new(ApproximateTokens)).ok().and_then(|limits| droppable(&turns, &limits, before))
        };
        assert_eq!([drop(4, 99), drop(3, 99), drop(2, 99), drop(1, 99)], [None, Some(2), Some(4), Some(8)]);
        assert_eq!([drop(1, 0), drop(1, 1), drop(1, 3), drop(1, 7)], [None, None, Some(2), Some(4)]);
    }
}
