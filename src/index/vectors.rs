//! The vectors of one scope: one contiguous matrix, exact cosine.

use crate::score::similarity;

/// Rows of length 1 (or all zeros), one for each key.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    dimensions: usize,
    rows: Vec<f32>,
}

impl Vectors {
    pub(super) fn new(dimensions: usize) -> Self {
        Self { dimensions, rows: Vec::new() }
    }

    pub(super) fn push(&mut self, vector: &[f32]) {
        debug_assert_eq!(vector.len(), self.dimensions, "stores check the width at the door");
        let start = self.rows.len();
        self.rows.extend_from_slice(vector);
        if let Some(row) = self.rows.get_mut(start..) {
            similarity::normalize(row);
        }
    }

    /// The cosine of every row to `query`, in row order.
    pub(super) fn cosines(&self, query: &[f32]) -> impl Iterator<Item = f32> {
        let mut unit = query.to_vec();
        similarity::normalize(&mut unit);
        self.rows.chunks_exact(self.dimensions.max(1)).map(move |row| similarity::dot(row, &unit).clamp(-1.0, 1.0))
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<f32>()
    }
}
