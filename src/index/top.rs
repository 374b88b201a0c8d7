//! The best of many scores, looked at as few times as can be.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

use crate::MemoryId;

/// Scores are told off this many at a time.
const BLOCK: usize = 32;

/// Calls `visit` with the places of scores that are not below the threshold, the last place first: of equals the newer
/// are wanted, and those that came last are newer as a rule. `visit` gives the threshold for what is left.
pub(super) fn descend(scores: &[f32], mut threshold: f32, mut visit: impl FnMut(usize, f32) -> f32) {
    let mut end = scores.len();
    for block in scores.rchunks(BLOCK) {
        let start = end - block.len();
        // Without leaving early, so that it is a few vector instructions.
        if block.iter().fold(false, |any, score| any | (*score >= threshold)) {
            for (place, score) in block.iter().enumerate().rev() {
                if *score >= threshold {
                    threshold = visit(start + place, *score);
                }
            }
        }
        end = start;
    }
}

/// A threshold that at least `limit` of what counts are not below, so that whoever descends looks at few: the scores of
/// the best of each block, as many as there are. The lowest number there is where they are too few.
///
/// `least` gives the least that the score of a place counts as, `None` for one that does not count.
pub(super) fn floor(scores: &[f32], limit: usize, mut least: impl FnMut(usize, f32) -> Option<f32>) -> f32 {
    let mut best = Best::new(limit);
    let mut threshold = f32::NEG_INFINITY;
    for (number, block) in scores.chunks(BLOCK).enumerate() {
        let most = most(block);
        if most < threshold {
            continue;
        }
        let place = block.iter().position(|score| *score == most).map(|at| number * BLOCK + at);
        if let Some(least) = place.and_then(|place| least(place, most)) {
            best.offer(Score(least));
            threshold = best.worst().map_or(f32::NEG_INFINITY, |Score(worst)| *worst);
        }
    }
    threshold
}

fn most(block: &[f32]) -> f32 {
    // Lanes, since one number that is compared with all others waits for each of them.
    const LANES: usize = 8;
    let larger = |one: f32, other: f32| if other > one { other } else { one };
    let (chunks, rest) = block.as_chunks::<LANES>();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, score)| *lane = larger(*lane, *score));
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |most, score| larger(most, *score))
}

/// Keeps the best `limit` of what it is offered. The worst of the best is on top of the heap: most offers are told off
/// by one comparison.
#[derive(Debug)]
pub(super) struct Best<T: Ord> {
    limit: usize,
    heap: BinaryHeap<Reverse<T>>,
}

impl<T: Ord> Best<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    /// What an offer must be above, once there is no room without it.
    pub(super) fn worst(&self) -> Option<&T> {
        (self.heap.len() >= self.limit).then(|| self.heap.peek()).flatten().map(|Reverse(worst)| worst)
    }

    pub(super) fn offer(&mut self, item: T) {
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(item));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && worst.0 < item
        {
            *worst = Reverse(item);
        }
    }

    /// In no particular order.
    pub(super) fn into_iter(self) -> impl Iterator<Item = T> {
        self.heap.into_iter().map(|Reverse(item)| item)
    }
}

/// A place in the order of its score; equals by id, the newer above.
#[derive(Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) score: f32,
    pub(super) id: MemoryId,
    pub(super) place: usize,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| self.id.cmp(&other.id))
    }
}

/// A score on its own, in its order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score(pub(super) f32);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
