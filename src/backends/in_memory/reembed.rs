//! Changing the embedder: vectors by the new one wait beside each memory's keys until all of them can take their places.

use std::collections::VecDeque;

use super::state::{State, Stored};
use crate::{
    EmbedderIdentity, KeyPlace, MemoryId, MemoryKind, Reembedding, Result, StagedVector, StoredKey, is_under_way,
};

impl Stored {
    /// The key of this number, if it has one, and what is staged for it.
    fn text(&self, number: u32) -> Option<&str> {
        self.texts.get(number as usize).map(|text| &**text)
    }

    fn is_staged(&self, number: usize) -> bool {
        self.staged.get(number).is_some_and(Option::is_some)
    }

    /// The first key from `number` on that has nothing staged.
    fn unstaged(&self, number: usize) -> Option<usize> {
        (number..self.texts.len()).find(|number| !self.is_staged(*number))
    }
}

impl State {
    pub(super) fn begin_reembedding(&mut self, target: &EmbedderIdentity) -> Reembedding {
        if self.staged_for.as_ref() != Some(target) {
            self.memories.values_mut().for_each(|stored| stored.staged = Box::default());
        }
        self.staged_for = (self.embedder.as_ref() != Some(target)).then(|| target.clone());
        let all = self.memories.values();
        let (mut staged, mut keys) = (0, 0);
        for stored in all {
            keys += stored.texts.len();
            staged += stored.staged.iter().flatten().count();
        }
        Reembedding::new(self.embedder.clone(), staged as u64, keys as u64)
    }

    fn stages_for(&self, target: &EmbedderIdentity) -> Result<bool> {
        is_under_way(self.embedder.as_ref(), self.staged_for.as_ref(), target)
    }

    pub(super) fn unstaged_keys(
        &self,
        target: &EmbedderIdentity,
        after: Option<KeyPlace>,
        limit: usize,
    ) -> Result<Vec<StoredKey>> {
        if limit == 0 || !self.stages_for(target)? {
            return Ok(Vec::new());
        }
        let from = |id: MemoryId| match after {
            Some(place) if place.memory == id => place.number as usize + 1,
            _ => 0,
        };
        let first = after.map(|place| place.memory);
        let due =
            self.memories.iter().filter(|(id, stored)| Some(**id) >= first && stored.unstaged(from(**id)).is_some());
        let mut due: Vec<(MemoryId, &Stored)> = due.map(|(id, stored)| (*id, stored)).collect();
        // Each has a key at least, so the first `limit` of them are enough; only these are sorted.
        if due.len() > limit {
            due.select_nth_unstable_by_key(limit - 1, |(id, _)| *id);
            due.truncate(limit);
        }
        due.sort_unstable_by_key(|(id, _)| *id);
        let keys = due.into_iter().flat_map(|(id, stored)| {
            let numbers = (from(id)..stored.texts.len()).filter(|number| !stored.is_staged(*number));
            numbers.filter_map(move |number| {
                let number = u32::try_from(number).ok()?;
                let text = stored.text(number)?.to_owned();
                let is_block = stored.memory.kind == MemoryKind::Block;
                Some(StoredKey { place: KeyPlace { memory: id, number }, text, is_block })
            })
        });
        Ok(keys.take(limit).collect())
    }

    pub(super) fn stage(&mut self, target: &EmbedderIdentity, vectors: Vec<StagedVector>) -> Result<u64> {
        vectors.iter().try_for_each(|vector| vector.validate(target))?;
        if !self.stages_for(target)? {
            return Ok(0);
        }
        let mut count = 0;
        for StagedVector { key: StoredKey { place, text, .. }, vector } in vectors {
            let Some(stored) = self.memories.get_mut(&place.memory) else { continue };
            if stored.text(place.number) != Some(&text) {
                continue;
            }
            if stored.staged.len() < stored.texts.len() {
                stored.staged = vec![None; stored.texts.len()].into();
            }
            if let Some(room) = stored.staged.get_mut(place.number as usize)
                && room.is_none()
            {
                *room = Some(vector);
                count += 1;
            }
        }
        Ok(count)
    }

    pub(super) fn swap_vectors(&mut self, target: &EmbedderIdentity) -> Result<bool> {
        if !self.stages_for(target)? {
            return Ok(true);
        }
        if self.memories.values().any(|stored| stored.unstaged(0).is_some()) {
            return Ok(false);
        }
        for stored in self.memories.values_mut() {
            let staged = std::mem::take(&mut stored.staged);
            let renewed = stored.keys.iter().zip(staged).map(|(key, vector)| {
                let mut key = key.clone();
                key.vector = vector.unwrap_or_default();
                key
            });
            stored.keys = renewed.collect();
        }
        self.embedder = Some(target.clone());
        self.staged_for = None;
        self.version.0 += 1;
        // What indexes have followed so far leads nowhere: they are built anew.
        self.log = VecDeque::new();
        self.forgotten = self.version;
        Ok(true)
    }
}
