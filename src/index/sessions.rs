//! The turns of each session in their order, and what stands around a turn.

use std::{collections::HashMap, sync::Arc};

use super::{
    dictionary::QuickState,
    lending::{self, BEST},
};
use crate::{MemoryId, Scope};

/// A turn's place in its session: by its number, turns of one number by their ids.
pub(super) type Position = (u64, MemoryId);

/// Stands for no turn and for no session.
const NONE: u32 = u32::MAX;

/// The turns next to one, by their places in the index. Links rather than positions: they are read for every turn in
/// every search, and a turn that comes in between changes two of them.
#[derive(Debug, Clone, Copy)]
struct Link {
    session: u32,
    before: u32,
    after: u32,
    /// The share of it that asks.
    asks: f32,
}

const APART: Link = Link { session: NONE, before: NONE, after: NONE, asks: 0.0 };

/// What a session needs to know of a turn.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turn {
    pub(super) asks: f32,
    pub(super) by_assistant: bool,
}

/// What the turns around one lend it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Lent {
    pub(super) neighbours: f32,
    pub(super) replies: f32,
}

#[derive(Debug, Default)]
pub(super) struct Sessions {
    numbers: HashMap<Arc<Scope>, u32, QuickState>,
    /// The places of the turns of each session, in order.
    turns: Vec<Vec<u32>>,
    /// How many of a session's turns are the assistant's.
    assistants: Vec<u32>,
    /// By place; up to the last turn.
    links: Vec<Link>,
    count: usize,
}

impl Sessions {
    /// Takes a turn in. `position` knows those of all turns.
    pub(super) fn put(&mut self, scope: &Arc<Scope>, place: u32, turn: Turn, position: impl Fn(u32) -> Position) {
        let next = u32::try_from(self.turns.len()).unwrap_or(NONE);
        let session = *self.numbers.entry(Arc::clone(scope)).or_insert(next);
        if session == next {
            self.turns.push(Vec::new());
            self.assistants.push(0);
        }
        let Some(turns) = self.turns.get_mut(session as usize) else { return };
        let own = position(place);
        // Most turns come last.
        let at = match turns.last() {
            Some(last) if position(*last) > own => turns.partition_point(|turn| position(*turn) < own),
            _ => turns.len(),
        };
        let near = |at: Option<usize>| at.and_then(|at| turns.get(at)).copied().unwrap_or(NONE);
        let link = Link { session, before: near(at.checked_sub(1)), after: near(Some(at)), asks: turn.asks };
        turns.insert(at, place);
        self.count += 1;
        self.count_assistant(session, turn, 1);
        if self.links.len() <= place as usize {
            self.links.resize(place as usize + 1, APART);
        }
        self.set(place, |own| *own = link);
        self.set(link.before, |before| before.after = place);
        self.set(link.after, |after| after.before = place);
    }

    pub(super) fn remove(&mut self, place: u32, turn: Turn, position: impl Fn(u32) -> Position) {
        let link = self.link(place);
        let Some(turns) = self.turns.get_mut(link.session as usize) else { return };
        let own = position(place);
        let at = turns.partition_point(|turn| position(*turn) < own);
        if turns.get(at) != Some(&place) {
            return;
        }
        turns.remove(at);
        self.count -= 1;
        self.count_assistant(link.session, turn, -1);
        self.set(place, |own| *own = APART);
        self.set(link.before, |before| before.after = link.after);
        self.set(link.after, |after| after.before = link.before);
    }

    /// The session of a turn.
    pub(super) fn of_turn(&self, place: u32) -> Option<u32> {
        Some(self.link(place).session).filter(|session| *session != NONE)
    }

    /// The session whose turns are stored in just this scope, if there are any.
    pub(super) fn of_scope(&self, scope: &Arc<Scope>) -> Option<u32> {
        self.numbers.get(scope).copied().filter(|session| !self.turns(*session).is_empty())
    }

    /// The places of a session's turns.
    pub(super) fn turns(&self, session: u32) -> &[u32] {
        self.turns.get(session as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether none of a session's turns is the assistant's.
    pub(super) fn among_people(&self, session: u32) -> bool {
        self.assistants.get(session as usize) == Some(&0)
    }

    fn count_assistant(&mut self, session: u32, turn: Turn, change: i32) {
        if let Some(count) = self.assistants.get_mut(session as usize).filter(|_| turn.by_assistant) {
            *count = count.saturating_add_signed(change);
        }
    }

    /// What the turns around one lend it, given the keyword similarities of all; nothing to what is no turn.
    pub(super) fn lent(&self, place: u32, keywords: &[f32]) -> Lent {
        lent(self.link(place), &self.links, keywords)
    }

    /// By what each memory is proposed for what stands around it.
    pub(super) fn proposals(&self, keywords: &[f32], proposals: &mut Vec<f32>) {
        proposals.clear();
        let turns = keywords.iter().zip(&self.links);
        proposals.extend(turns.map(|(own, link)| {
            let Lent { neighbours, replies } = lent(*link, &self.links, keywords);
            lending::proposal(*own, neighbours, replies)
        }));
        // What came after the last turn borrows nothing.
        proposals.extend(keywords.iter().skip(self.links.len()).map(|own| lending::proposal(*own, 0.0, 0.0)));
    }

    /// What a session lends, from the similarities of its turns. `most` is the most that the cosine of each can be;
    /// `least` and `cosine` are asked only for those that may be among the best.
    pub(super) fn session(
        &self,
        session: u32,
        keywords: &[f32],
        most: &[f32],
        least: impl Fn(u32) -> f32,
        cosine: impl Fn(u32) -> f32,
    ) -> f32 {
        let (mut best_keywords, mut best_cosines, mut surely) = ([0.0; BEST], [0.0; BEST], [0.0_f32; BEST]);
        let mut perhaps: Vec<(f32, u32)> = Vec::new();
        for &turn in self.turns(session) {
            lending::keep_best(&mut best_keywords, at(keywords, turn));
            let most = at(most, turn);
            if surely.last().is_some_and(|last| most > *last) {
                lending::keep_best(&mut surely, least(turn));
                perhaps.push((most, turn));
            }
        }
        for (_, turn) in perhaps.into_iter().filter(|(most, _)| surely.last().is_some_and(|last| most >= last)) {
            lending::keep_best(&mut best_cosines, cosine(turn));
        }
        lending::session(&best_keywords, &best_cosines)
    }

    pub(super) fn shrink(&mut self) {
        self.links.shrink_to_fit();
        self.turns.iter_mut().for_each(Vec::shrink_to_fit);
        self.assistants.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        // A list that grows is at most half empty.
        self.links.capacity() * size_of::<Link>() + self.count * 8 + self.turns.len() * 84
    }

    fn link(&self, place: u32) -> Link {
        self.links.get(place as usize).copied().unwrap_or(APART)
    }

    fn set(&mut self, place: u32, change: impl FnOnce(&mut Link)) {
        if let Some(link) = self.links.get_mut(place as usize) {
            change(link);
        }
    }
}

#[inline]
fn lent(link: Link, links: &[Link], keywords: &[f32]) -> Lent {
    if link.session == NONE {
        return Lent::default();
    }
    let beyond = |place: u32| links.get(place as usize).copied().unwrap_or(APART);
    let before_it = beyond(link.before);
    let before = [at(keywords, link.before), at(keywords, before_it.before)];
    let after = [at(keywords, link.after), at(keywords, beyond(link.after).after)];
    Lent {
        neighbours: lending::neighbours(before, after),
        replies: lending::replies(at(keywords, link.before), before_it.asks),
    }
}

#[inline]
fn at(numbers: &[f32], place: u32) -> f32 {
    numbers.get(place as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a failing look-up is a failing test")]
mod tests {
    use super::*;

    #[test]
    fn neighbours_and_sessions_lend_by_the_published_formula() {
        let id = |number: u8| MemoryId::from_bytes([number; 16]);
        // The order is that of the ordinals, whatever the order of arrival; the last is of another session.
        let positions = [(2, id(0)), (0, id(1)), (1, id(2)), (3, id(3))];
        let position = |place: u32| positions[place as usize];
        let [first, other] = ["1", "2"].map(|session| Arc::new(Scope::user("a").with_session(session)));
        let mut sessions = Sessions::default();
        // The second by its ordinal is half a question; the other session has the assistant in it.
        let turn = |place: u32| Turn { asks: if place == 2 { 0.5 } else { 0.0 }, by_assistant: place == 3 };
        for (place, scope) in (0..).zip([&first, &first, &first, &other]) {
            sessions.put(scope, place, turn(place), position);
        }
        let people = [0, 3].map(|place| sessions.of_turn(place).map(|session| sessions.among_people(session)));
        assert_eq!(people, [Some(true), Some(false)]);
        let (cosines, keywords) = ([0.3, 0.0, -0.5, 1.0], [0.6, 0.0, 0.12, 0.9]);
        let replies = [0, 1, 2, 3].map(|place| sessions.lent(place, &keywords).replies);
        assert_eq!(replies, [0.12 * 0.5, 0.0, 0.0, 0.0]);
        let lent = [0, 1, 2, 3].map(|place| sessions.lent(place, &keywords).neighbours);
        let expected = [(2.0 * 0.12) / 6.0, (2.0 * 0.12 + 0.6) / 6.0, (2.0 * 0.6) / 6.0, 0.0];
        assert!(lent.iter().zip(expected).all(|(lent, expected)| (lent - expected).abs() < 1e-6), "{lent:?}");
        // Whatever the bounds are, the session counts the cosines themselves.
        let cosine = |place: u32| cosines[place as usize];
        for slack in [0.0, 0.1, 2.0] {
            let most = cosines.map(|cosine| cosine + slack);
            let session = sessions
                .of_turn(1)
                .map(|session| sessions.session(session, &keywords, &most, |place| cosine(place) - slack, cosine));
            assert!(
                (session.unwrap_or_default() - (0.65 * (0.6 + 0.12) + 0.35 * 0.3) / 3.0).abs() < 1e-6,
                "{session:?}"
            );
        }
        let mut proposals = Vec::new();
        sessions.proposals(&keywords, &mut proposals);
        assert!((proposals[1] - 1.5 * expected[1]).abs() < 1e-6 && (proposals[3] - 0.9).abs() < 1e-6);
        sessions.remove(2, turn(2), position);
        assert!((sessions.lent(1, &keywords).neighbours - (2.0 * 0.6) / 6.0).abs() < 1e-6);
        assert_eq!(
            (sessions.of_turn(2), sessions.of_scope(&first), sessions.of_scope(&other)),
            (None, Some(0), Some(1))
        );
        sessions.remove(3, turn(3), position);
        assert_eq!(sessions.of_scope(&other), None);
    }
}
