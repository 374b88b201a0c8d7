//! Periods of relations, and how new ones stand to those that are known.
//!
//! All that is known of a subject and a predicate is told in periods of world time, in any order. What was told of one
//! object in periods that overlap is one period. Of a predicate that has but one object at a time, a period is cut where
//! the next object's begins, whichever of the two was told first; and what is told of a stretch of time takes just that
//! stretch from the others.

use crate::{Memory, Relation, RelationId, Timestamp};

/// From when until when, the end not included; `None` for an unknown beginning and for no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) from: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
}

impl Period {
    pub(crate) fn of(relation: &Relation) -> Self {
        Self { from: relation.valid_at, until: relation.invalid_at }
    }

    pub(crate) fn of_memory(memory: &Memory) -> Self {
        Self { from: Some(memory.valid_at), until: memory.invalid_at }
    }

    /// From the first beginning to the last end of those that have anything in them, or of all if there is none such.
    pub(super) fn hull(periods: &[Self]) -> Option<Self> {
        let join = |one: Self, other: Self| Self {
            from: one.from.zip(other.from).map(|(one, other)| one.min(other)),
            until: one.until.zip(other.until).map(|(one, other)| one.max(other)),
        };
        let full = periods.iter().copied().filter(|period| !period.is_empty()).reduce(join);
        full.or_else(|| periods.iter().copied().reduce(join))
    }

    /// The period of a relation that was believed for this one, now that the memories it rests on hold for `after`, and did
    /// for `before`: a bound that was theirs still is, and it ends with the last of them.
    pub(super) fn following(self, before: Option<Self>, after: Self) -> Self {
        let had_ended = before.is_some_and(|before| !ends_before(self.until, before.until));
        let until = if had_ended || ends_before(after.until, self.until) { after.until } else { self.until };
        let from = if before.is_some_and(|before| before.from == self.from) { after.from } else { self.from };
        Self { from, until }
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(self) -> bool {
        self.from.zip(self.until).is_some_and(|(from, until)| from >= until)
    }

    fn begins_before(self, end: Option<Timestamp>) -> bool {
        end.is_none_or(|end| self.from.is_none_or(|from| from < end))
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.begins_before(other.until) && other.begins_before(self.until)
    }

    fn contains(self, at: Option<Timestamp>) -> bool {
        match (self.from, at) {
            (Some(from), Some(at)) => from <= at && self.until.is_none_or(|until| at < until),
            (from, at) => from.is_none() && (at.is_none() || self.until.zip(at).is_none_or(|(until, at)| at < until)),
        }
    }

    /// What is left of it without another: nothing, one part or two.
    fn without(self, other: Self) -> Vec<Self> {
        let before = Self { from: self.from, until: other.from };
        let after = Self { from: other.until, until: self.until };
        let before = other.from.is_some().then_some(before);
        let after = other.until.is_some().then_some(after);
        before.into_iter().chain(after).filter(|part| !part.is_empty()).collect()
    }
}

/// What a new relation does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settled {
    /// Its period, as far as it is news; `None` if it is none.
    pub(crate) period: Option<Period>,
    /// The known relation that says it, if it is no news.
    pub(crate) repeats: Option<RelationId>,
    /// The known relations of the same two that become part of it.
    pub(crate) joined: Vec<RelationId>,
    /// The known relations that are no longer believed as they stand, each with what is left of it.
    pub(crate) cut: Vec<(RelationId, Vec<Period>)>,
}

/// Holds a new period of a relation against what is believed: `same` is of the same subject, predicate and object,
/// `others` of the same subject and predicate and another object, if there is but one at a time, else empty.
pub(crate) fn settle(told: Period, same: &[&Relation], others: &[&Relation]) -> Settled {
    let mut period = told;
    // What was said of another later on shows that this one had ended by then.
    let later = |at: &Timestamp| told.from.is_some_and(|from| *at > from);
    if let Some(next) = others.iter().flat_map(|other| instants(other)).filter(later).min() {
        period.until = Some(period.until.map_or(next, |until| until.min(next)));
    }
    let (whole, joined) = join(told, period, same, others);
    let cut = others.iter().filter(|other| Period::of(other).overlaps(whole));
    let mut cut: Vec<_> = cut.map(|other| (other.id, Period::of(other).without(whole))).collect();
    if let [known] = joined.as_slice()
        && Period::of(known) == whole
    {
        return Settled { period: None, repeats: Some(known.id), joined: Vec::new(), cut };
    }
    // It was said again after the end that is told now: that is another period.
    for known in &joined {
        let again = instants(known).filter(|at| whole.until.is_some_and(|until| *at >= until)).min();
        if let Some(again) = again {
            cut.push((known.id, vec![Period { from: Some(again), until: known.invalid_at }]));
        }
    }
    Settled { period: Some(whole), repeats: None, joined: joined.iter().map(|known| known.id).collect(), cut }
}

/// When a relation was said to hold.
pub(super) fn instants(relation: &Relation) -> impl Iterator<Item = Timestamp> {
    relation.valid_at.iter().chain(&relation.seen_at).copied()
}

/// Whether one end is before the other; `None` is no end.
pub(super) fn ends_before(one: Option<Timestamp>, other: Option<Timestamp>) -> bool {
    one.is_some_and(|one| other.is_none_or(|other| one < other))
}

/// The period that is wanted for a relation in the place of the known one, as far as the others hold at no time of what is
/// new in it, of which there is but one at a time.
pub(super) fn beside(known: Period, wanted: Period, others: &[&Relation]) -> Period {
    let mut period = wanted;
    if let Some(end) = known.until.filter(|_| ends_before(known.until, wanted.until)) {
        let new = Period { from: Some(end), until: wanted.until };
        let begins = others.iter().filter(|other| Period::of(other).overlaps(new));
        let begins = begins.map(|other| other.valid_at.map_or(end, |from| from.max(end)));
        let said = others.iter().flat_map(|other| instants(other)).filter(|at| new.contains(Some(*at)));
        if let Some(first) = begins.chain(said).min() {
            period.until = Some(first);
        }
    }
    if let Some(begin) = known.from.filter(|begin| wanted.from.is_none_or(|from| from < *begin)) {
        let new = Period { from: wanted.from, until: Some(begin) };
        let ends = others.iter().filter(|other| Period::of(other).overlaps(new));
        if let Some(last) = ends.map(|other| other.invalid_at.map_or(begin, |until| until.min(begin))).max() {
            period.from = Some(last);
        }
    }
    period
}

/// Notes that a relation was said to hold at an instant after its beginning.
pub(crate) fn see(relation: &mut Relation, at: Timestamp) {
    let Period { from, until } = Period::of(relation);
    let inside = from.is_none_or(|from| from < at) && until.is_none_or(|until| at < until);
    if let (true, Err(place)) = (inside, relation.seen_at.binary_search(&at)) {
        relation.seen_at.insert(place, at);
        // News that come late are mostly of late: the oldest goes.
        if relation.seen_at.len() > Relation::SEEN {
            relation.seen_at.remove(0);
        }
    }
}

/// What was told together with what was known of the same two, and which of that it takes in. `period` is what others
/// leave of what was told.
fn join<'r>(told: Period, period: Period, same: &[&'r Relation], others: &[&Relation]) -> (Period, Vec<&'r Relation>) {
    let overlapping = same.iter().copied().filter(|known| Period::of(known).overlaps(period));
    if told.until.is_some() {
        let joined: Vec<&Relation> = overlapping.collect();
        let from =
            joined.iter().fold(period.from, |from, known| from.zip(known.valid_at).map(|(one, other)| one.min(other)));
        let until = joined.iter().filter_map(|known| end_besides(known, period, others)).chain(period.until).max();
        return (Period { from, until }, joined);
    }
    // Without an end it tells that something held since then, or still: the known end of that period stands.
    let first = overlapping.min_by_key(|known| (!Period::of(known).contains(told.from), known.valid_at));
    match first {
        None => (period, Vec::new()),
        Some(known) if Period::of(known).contains(told.from) => (Period::of(known), vec![known]),
        Some(known) => (Period { from: told.from, until: known.invalid_at }, vec![known]),
    }
}

/// The end of what is known, where it stands beside the one that is told now: it was told, and not just concluded from
/// what began then, nor is it that of a later time at which the same was said again.
fn end_besides(known: &Relation, told: Period, others: &[&Relation]) -> Option<Timestamp> {
    let end = known.invalid_at?;
    let concluded = others.iter().any(|other| instants(other).any(|at| at == end));
    let again = told.until.is_some_and(|until| instants(known).any(|at| at >= until));
    (!concluded && !again).then_some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{EntityId, Scope};

    fn day(number: i64) -> Timestamp {
        Timestamp::from_timestamp(number * 86_400, 0).unwrap_or_default()
    }

    fn period(from: i64, until: Option<i64>) -> Period {
        Period { from: Some(day(from)), until: until.map(day) }
    }

    /// What is believed of one subject and predicate: object, relation.
    #[derive(Default)]
    struct Believed {
        told: u128,
        relations: Vec<(u8, Relation)>,
    }

    impl Believed {
        fn tell(&mut self, object: u8, period: Period, single: bool) {
            let of = |wanted: bool| {
                let kept = self.relations.iter().filter(move |(known, _)| (*known == object) == wanted);
                kept.map(|(_, relation)| relation).collect::<Vec<_>>()
            };
            let settled = settle(period, &of(true), &if single { of(false) } else { Vec::new() });
            let mut parts: Vec<(u8, Period)> = Vec::new();
            let mut seen: Vec<(u8, Timestamp)> = period.from.iter().map(|from| (object, *from)).collect();
            let gone = |id: &RelationId| settled.joined.contains(id) || settled.cut.iter().any(|(cut, _)| cut == id);
            for (object, known) in self.relations.iter().filter(|(_, known)| gone(&known.id)) {
                seen.extend(instants(known).map(|at| (*object, at)));
                let left = settled.cut.iter().filter(|(id, _)| *id == known.id).flat_map(|(_, parts)| parts);
                parts.extend(left.map(|part| (*object, *part)));
            }
            if let Some((_, known)) = self.relations.iter_mut().find(|(_, known)| Some(known.id) == settled.repeats) {
                period.from.into_iter().for_each(|from| see(known, from));
            }
            self.relations.retain(|(_, known)| !gone(&known.id));
            parts.extend(settled.period.map(|period| (object, period)));
            for (object, Period { from, until }) in parts {
                self.told += 1;
                let id = RelationId::from_bytes(self.told.to_be_bytes());
                let end = EntityId::from_bytes([0; 16]);
                let mut relation = Relation::new(id, Scope::user("a"), (end, "p", end), "f", day(0));
                (relation.valid_at, relation.invalid_at) = (from, until);
                seen.iter().filter(|(seen, _)| *seen == object).for_each(|(_, at)| see(&mut relation, *at));
                self.relations.push((object, relation));
            }
        }

        fn at(&self, at: i64) -> Vec<u8> {
            let holds = |relation: &Relation| {
                relation.valid_at.is_none_or(|from| from <= day(at))
                    && relation.invalid_at.is_none_or(|until| day(at) < until)
            };
            self.relations.iter().filter(|(_, relation)| holds(relation)).map(|(object, _)| *object).collect()
        }

        fn periods(&self) -> Vec<(u8, Period)> {
            self.relations.iter().map(|(object, relation)| (*object, Period::of(relation))).collect()
        }
    }

    fn told(stories: &[(u8, Period)], single: bool) -> Vec<(u8, Period)> {
        let mut believed = Believed::default();
        stories.iter().for_each(|(object, period)| believed.tell(*object, *period, single));
        let mut periods = believed.periods();
        periods.sort_by_key(|(object, period)| (period.from, *object));
        periods
    }

    #[test]
    fn a_newer_one_closes_the_older_at_its_own_beginning() {
        let expected = [(1, period(10, Some(20))), (2, period(20, None))];
        assert_eq!(told(&[(1, period(10, None)), (2, period(20, None))], true), expected);
        assert_eq!(told(&[(2, period(20, None)), (1, period(10, None))], true), expected, "older news are born closed");
    }

    #[test]
    fn several_at_a_time_leave_each_other_alone() {
        let expected = [(1, period(10, None)), (2, period(20, None))];
        assert_eq!(told(&expected, false), expected);
    }

    #[test]
    fn two_periods_stay_two_and_repetitions_are_one() {
        let expected = [(1, period(10, Some(20))), (2, period(20, Some(30))), (1, period(30, None))];
        let stories = [
            (1, period(10, None)),
            (2, period(20, None)),
            (1, period(30, None)),
            (1, period(35, None)),
            (1, period(12, None)),
        ];
        assert_eq!(told(&stories, true), expected);
        assert_eq!(
            told(&[(1, period(10, None)), (1, period(15, None)), (1, period(5, None))], false),
            [(1, period(5, None))]
        );
        assert_eq!(
            told(&[(1, period(1, Some(3))), (1, period(5, Some(7))), (1, period(2, Some(6)))], false),
            [(1, period(1, Some(7)))]
        );
        let expected = [(1, period(1, Some(3))), (1, period(5, None))];
        assert_eq!(told(&[expected[0], expected[1], (1, period(2, None))], false), expected);
    }

    #[test]
    fn an_end_that_is_told_later_counts() {
        assert_eq!(told(&[(1, period(10, None)), (1, period(10, Some(20)))], false), [(1, period(10, Some(20)))]);
    }

    #[test]
    fn an_end_that_is_told_counts_against_one_that_was_concluded() {
        // Between the two nothing is known to hold.
        let expected = [(1, period(10, Some(15))), (2, period(20, None))];
        let stories = [(1, period(10, None)), (2, period(20, None)), (1, period(10, Some(15)))];
        assert_eq!(told(&stories, true), expected);
        // Nor does the end of a later stretch belong to the first.
        let expected = [(1, period(10, Some(15))), (1, period(20, Some(30)))];
        let stories = [(1, period(20, Some(30))), (1, period(10, None)), (1, period(10, Some(15)))];
        assert_eq!(told(&stories, true), expected);
    }

    #[test]
    fn what_is_told_of_a_stretch_takes_no_more() {
        let expected = [(1, period(10, Some(20))), (2, period(20, Some(30))), (1, period(30, None))];
        assert_eq!(told(&[(1, period(10, None)), (2, period(20, Some(30)))], true), expected);
    }

    #[test]
    fn what_was_said_again_outlives_late_news() {
        let expected = [(1, period(10, Some(20))), (2, period(20, Some(30))), (1, period(30, None))];
        let stories = [(1, period(10, None)), (1, period(30, None)), (2, period(20, None))];
        assert_eq!(told(&stories, true), expected);
        let expected = [(1, period(10, Some(20))), (1, period(30, None))];
        assert_eq!(told(&[stories[0], stories[1], (1, period(10, Some(20)))], true), expected);
    }

    #[test]
    fn of_one_instant_the_later_told_holds() {
        assert_eq!(told(&[(1, period(10, None)), (2, period(10, None))], true), [(2, period(10, None))]);
    }

    proptest! {
        /// Beginnings at different times, told in any order, give what they give in order.
        #[test]
        fn the_order_of_telling_does_not_count(objects in prop::collection::vec(0_u8..4, 1..12), seed in any::<u64>()) {
            let stories: Vec<(u8, Period)> = (0..).zip(&objects).map(|(at, object)| (*object, period(at * 10, None))).collect();
            let mut shuffled = stories.clone();
            let mut state = seed | 1;
            for place in (1..shuffled.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                shuffled.swap(place, (state >> 33) as usize % (place + 1));
            }
            let mut believed = Believed::default();
            shuffled.iter().for_each(|(object, period)| believed.tell(*object, *period, true));
            for (at, object) in (0..).zip(&objects) {
                prop_assert_eq!(believed.at(at * 10 + 5), vec![*object], "{:?}", believed.periods());
            }
            prop_assert!(believed.at(-1).is_empty());
        }

        /// Whatever is told, one object holds at a time, and the last told holds for all that was told of it, until the
        /// next begins.
        #[test]
        fn one_at_a_time(stories in prop::collection::vec((0_u8..3, 0_i64..12, prop::option::of(1_i64..6)), 1..10)) {
            let mut believed = Believed::default();
            for (object, from, length) in stories {
                let told = period(from, length.map(|length| from + length));
                believed.tell(object, told, true);
                prop_assert_eq!(believed.at(from), vec![object], "{:?}", believed.periods());
                for at in -1..20 {
                    prop_assert!(believed.at(at).len() <= 1, "{} of {:?}", at, believed.periods());
                }
            }
        }
    }
}
