//! Single-valued slots: of what fills one, the later said ends the earlier.
//!
//! Who said it later is asked of `observed_at`, and where it ends of `valid_at`: news of May told in July supersede what
//! was said in June, and an old chat that is imported today ends nothing, but is closed where the next value begins.

use std::collections::{BTreeMap, HashMap};

use crate::{Attributes, Memory, MemoryId, Timestamp};

/// A stored memory that fills a slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filled {
    pub(super) id: MemoryId,
    pub(super) observed_at: Timestamp,
    pub(super) valid_at: Timestamp,
    pub(super) current: bool,
}

impl Filled {
    pub(super) fn new(id: MemoryId, attributes: &Attributes, now: Timestamp) -> Self {
        Self {
            id,
            observed_at: attributes.observed_at,
            valid_at: attributes.valid_at,
            current: attributes.invalid_at.is_none_or(|end| end > now),
        }
    }
}

struct Link {
    filled: Filled,
    /// The number of the new memory, if it is one.
    fresh: Option<usize>,
}

/// Closes new memories that something else follows, and returns which current memories end, each with the number of
/// the new one that follows it.
pub(super) fn settle(
    fresh: &mut BTreeMap<usize, Memory>,
    stored: &HashMap<String, Vec<Filled>>,
    now: Timestamp,
) -> Vec<(MemoryId, usize)> {
    let mut ends = Vec::new();
    let mut slots: Vec<String> = fresh.values().filter_map(|memory| memory.slot.clone()).collect();
    slots.sort_unstable();
    slots.dedup();
    for slot in slots {
        let chain = chain(&slot, fresh, stored, now);
        for (place, link) in chain.iter().enumerate() {
            let later = chain.get(place + 1..).unwrap_or_default();
            match (link.fresh, later) {
                (Some(number), [next, ..]) => {
                    if let Some(memory) = fresh.get_mut(&number) {
                        memory.invalid_at = Some(next.filled.valid_at.max(memory.valid_at));
                        memory.superseded_by = Some(next.filled.id);
                    }
                }
                (None, later) if link.filled.current => {
                    ends.extend(later.iter().find_map(|next| next.fresh).map(|number| (link.filled.id, number)));
                }
                _ => {}
            }
        }
    }
    ends
}

/// All that fills the slot, in the order in which it was said; of one instant the stored first.
fn chain(
    slot: &str,
    fresh: &BTreeMap<usize, Memory>,
    stored: &HashMap<String, Vec<Filled>>,
    now: Timestamp,
) -> Vec<Link> {
    let known = stored.get(slot).into_iter().flatten();
    let mut chain: Vec<Link> = known.map(|filled| Link { filled: filled.clone(), fresh: None }).collect();
    for (number, memory) in fresh {
        // What is told of a time that is over ends nothing, and has an end of its own.
        let over = memory.invalid_at.is_some_and(|end| end <= now);
        if memory.slot.as_deref() == Some(slot) && !over {
            let Memory { id, observed_at, valid_at, .. } = *memory;
            chain.push(Link { filled: Filled { id, observed_at, valid_at, current: true }, fresh: Some(*number) });
        }
    }
    chain.sort_by(|left, right| {
        (left.filled.observed_at, left.fresh, left.filled.id).cmp(&(
            right.filled.observed_at,
            right.fresh,
            right.filled.id,
        ))
    });
    chain
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a failing look-up is a failing test")]
mod tests {
    use super::*;
    use crate::Scope;

    fn day(number: i64) -> Timestamp {
        Timestamp::from_timestamp(number * 86_400, 0).unwrap_or_default()
    }

    fn home(said: i64, since: i64) -> Memory {
        let mut memory = Memory::new(MemoryId::new(day(said)), Scope::user("a"), "x", day(said));
        memory.slot = Some("user.home".into());
        memory.observed_at = day(said);
        memory.valid_at = day(since);
        memory
    }

    fn known(memories: &[(&Memory, bool)]) -> HashMap<String, Vec<Filled>> {
        let filled = memories.iter().map(|(memory, current)| Filled {
            id: memory.id,
            observed_at: memory.observed_at,
            valid_at: memory.valid_at,
            current: *current,
        });
        HashMap::from([("user.home".to_owned(), filled.collect())])
    }

    #[test]
    fn what_was_said_later_ends_what_was_said_before() {
        let old = home(10, 10);
        // Said on day 20 about day 5: the earlier beginning does not make it the older news.
        let mut fresh = BTreeMap::from([(0, home(20, 5))]);
        assert_eq!(settle(&mut fresh, &known(&[(&old, true)]), day(30)), [(old.id, 0)]);
        assert_eq!(fresh[&0].invalid_at, None);
    }

    #[test]
    fn an_import_is_a_chain_in_the_order_it_was_said() {
        let mut fresh = BTreeMap::from([(0, home(30, 30)), (1, home(10, 10)), (2, home(20, 20))]);
        assert_eq!(settle(&mut fresh, &HashMap::new(), day(90)), []);
        let ends: Vec<_> = [1, 2, 0].map(|number| fresh[&number].invalid_at).into();
        assert_eq!(ends, [Some(day(20)), Some(day(30)), None]);
        assert_eq!(fresh[&1].superseded_by, Some(fresh[&2].id));
    }

    #[test]
    fn what_comes_late_is_closed_where_the_next_began() {
        let (berlin, madrid) = (home(20, 20), home(40, 40));
        let mut fresh = BTreeMap::from([(0, home(10, 10))]);
        let stored = known(&[(&berlin, false), (&madrid, true)]);
        assert_eq!(settle(&mut fresh, &stored, day(90)), []);
        assert_eq!((fresh[&0].invalid_at, fresh[&0].superseded_by), (Some(day(20)), Some(berlin.id)));
    }

    #[test]
    fn a_time_that_is_over_ends_nothing() {
        let now = home(10, 10);
        let mut past = home(20, 2);
        past.invalid_at = Some(day(4));
        let mut fresh = BTreeMap::from([(0, past)]);
        assert_eq!(settle(&mut fresh, &known(&[(&now, true)]), day(30)), []);
        assert_eq!(fresh[&0].invalid_at, Some(day(4)));
    }
}
