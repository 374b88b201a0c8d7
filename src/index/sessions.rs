//! The turns of each session in their order, and what stands around a turn.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{Attributes, MemoryId, MemoryKind, Scope, Surroundings};

/// How many of a session's best turns speak for it.
const BEST: usize = 3;

/// A turn's place in its session: by its number, turns of one number by their ids.
type Position = (u64, MemoryId);

#[derive(Debug, Default)]
pub(super) struct Sessions {
    turns: HashMap<Arc<Scope>, BTreeMap<Position, u32>>,
    count: usize,
}

fn position(attributes: &Attributes, id: MemoryId) -> Option<Position> {
    (attributes.kind == MemoryKind::Episode).then(|| (attributes.ordinal.unwrap_or(u64::MAX), id))
}

impl Sessions {
    pub(super) fn put(&mut self, attributes: &Attributes, id: MemoryId, place: u32) {
        if let Some(position) = position(attributes, id) {
            self.turns.entry(Arc::clone(&attributes.scope)).or_default().insert(position, place);
            self.count += 1;
        }
    }

    pub(super) fn remove(&mut self, attributes: &Attributes, id: MemoryId) {
        let Some(position) = position(attributes, id) else { return };
        let Some(turns) = self.turns.get_mut(&attributes.scope) else { return };
        self.count -= usize::from(turns.remove(&position).is_some());
        if turns.is_empty() {
            self.turns.remove(&attributes.scope);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        // An entry of a tree and its share of the nodes.
        self.count * (size_of::<(Position, u32)>() + 16) + self.turns.len() * 120
    }

    /// What stands around each entry, given the similarities of all.
    pub(super) fn surroundings(&self, cosines: &[f32], keywords: &[f32]) -> Around {
        let mut around = vec![Surroundings::default(); keywords.len()];
        let mut sessions = HashMap::with_capacity(self.turns.len());
        let mut own: Vec<f32> = Vec::new();
        for (scope, turns) in &self.turns {
            own.clear();
            let (mut best_keywords, mut best_cosines) = ([0.0; BEST], [0.0; BEST]);
            for place in turns.values() {
                let keyword = keywords.get(*place as usize).copied().unwrap_or(0.0).max(0.0);
                own.push(keyword);
                keep_best(&mut best_keywords, keyword);
                keep_best(&mut best_cosines, cosines.get(*place as usize).copied().unwrap_or(0.0));
            }
            #[expect(clippy::cast_precision_loss, reason = "a count of three")]
            let session = best_keywords.iter().chain(&best_cosines).sum::<f32>() / (2 * BEST) as f32;
            sessions.insert(Arc::clone(scope), session);
            for (turn, place) in turns.values().enumerate() {
                let at = |turn: Option<usize>| turn.and_then(|turn| own.get(turn)).copied().unwrap_or(0.0);
                let near = at(turn.checked_sub(1)) + at(turn.checked_add(1));
                let far = at(turn.checked_sub(2)) + at(turn.checked_add(2));
                if let Some(around) = around.get_mut(*place as usize) {
                    *around = Surroundings::new((2.0 * near + far) / 6.0, session);
                }
            }
        }
        Around { turns: around, sessions }
    }
}

/// The surroundings of all entries.
#[derive(Debug, Default)]
pub(super) struct Around {
    /// By the entry's place; nothing around what is no turn.
    pub(super) turns: Vec<Surroundings>,
    sessions: HashMap<Arc<Scope>, f32>,
}

impl Around {
    /// Of an entry: a turn has neighbours and a session, what else was learned in a session has that.
    pub(super) fn of(&self, attributes: &Attributes, place: usize) -> Option<Surroundings> {
        if attributes.kind == MemoryKind::Episode {
            return self.turns.get(place).copied();
        }
        self.sessions.get(&attributes.scope).map(|session| Surroundings::new(0.0, *session))
    }
}

/// Keeps the largest numbers, the largest first.
fn keep_best(best: &mut [f32; BEST], mut number: f32) {
    for kept in best {
        if number > *kept {
            std::mem::swap(kept, &mut number);
        }
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a failing look-up is a failing test")]
mod tests {
    use super::*;
    use crate::{Memory, Timestamp};

    #[test]
    fn neighbours_and_sessions_lend_by_the_published_formula() {
        let at = Timestamp::default();
        let mut sessions = Sessions::default();
        let turn = |session: &str, ordinal: u64| {
            let scope = Scope::user("a").with_session(session);
            let mut memory = Memory::new(MemoryId::new(at), scope, "x", at);
            memory.kind = MemoryKind::Episode;
            memory.ordinal = Some(ordinal);
            memory
        };
        // The order is that of the ordinals, whatever the order of arrival; the last is of another session.
        let memories = [turn("1", 2), turn("1", 0), turn("1", 1), turn("2", 3)];
        for (memory, place) in memories.iter().zip(0..) {
            sessions.put(&Attributes::from(memory), memory.id, place);
        }
        let around = sessions.surroundings(&[0.3, 0.0, -0.5, 1.0], &[0.6, 0.0, 0.12, 0.9]).turns;
        let (first, middle, last) = (around[1], around[2], around[0]);
        assert!((first.neighbours - (2.0 * 0.12 + 0.6) / 6.0).abs() < 1e-6, "{first:?}");
        assert!((middle.neighbours - (2.0 * 0.6) / 6.0).abs() < 1e-6, "{middle:?}");
        assert!((last.neighbours - (2.0 * 0.12) / 6.0).abs() < 1e-6, "{last:?}");
        assert!((first.session - (0.6 + 0.12 + 0.3) / 6.0).abs() < 1e-6, "{first:?}");
        assert_eq!(around[3].neighbours, 0.0);
        sessions.remove(&Attributes::from(&memories[2]), memories[2].id);
        let around = sessions.surroundings(&[0.0; 4], &[0.6, 0.0, 0.12, 0.9]).turns;
        assert!((around[1].neighbours - (2.0 * 0.6) / 6.0).abs() < 1e-6);
    }
}
