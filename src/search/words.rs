use std::collections::HashSet;

use super::Hit;
use crate::index::content_terms;

/// The words of hits, each analysed when it is first asked for.
pub(super) struct Words(Vec<Option<HashSet<String>>>);

impl Words {
    pub(super) fn new(hits: usize) -> Self {
        Self(vec![None; hits])
    }

    /// The share of words, of the hit that has fewer, that two hits have in common: 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "numbers of words")]
    pub(super) fn in_common(&mut self, hits: &[Hit], one: usize, other: usize) -> f32 {
        for place in [one, other] {
            if let (Some(words @ None), Some(hit)) = (self.0.get_mut(place), hits.get(place)) {
                *words = Some(content_terms(&hit.memory.text));
            }
        }
        let (Some(Some(one)), Some(Some(other))) = (self.0.get(one), self.0.get(other)) else { return 0.0 };
        let fewer = one.len().min(other.len());
        if fewer == 0 { 0.0 } else { one.intersection(other).count() as f32 / fewer as f32 }
    }

    /// Follows a hit that was moved up.
    pub(super) fn moved(&mut self, from: usize, to: usize) {
        if let Some(moved) = self.0.get_mut(to..=from) {
            moved.rotate_right(1);
        }
    }
}
