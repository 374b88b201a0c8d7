//! Making one score of several similarities.

/// How much each similarity counts in a hybrid score.
///
/// The score is the sum of weight × similarity. With weights that sum to 1 it stays in 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Weights {
    /// Of the cosine, where it is above 0.
    pub vector: f32,
    /// Of the keyword similarity.
    pub keyword: f32,
}

impl Weights {
    /// Weights in the proportion `vector : keyword`, scaled so that they sum to 1. Negative numbers count as 0; two
    /// zeros give equal weights.
    #[must_use]
    pub fn new(vector: f32, keyword: f32) -> Self {
        let (vector, keyword) = (vector.max(0.0), keyword.max(0.0));
        let sum = vector + keyword;
        if sum > 0.0 && sum.is_finite() {
            Self { vector: vector / sum, keyword: keyword / sum }
        } else {
            Self { vector: 0.5, keyword: 0.5 }
        }
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self::new(0.4, 0.6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one() {
        for (vector, keyword) in [(1.0, 3.0), (0.0, 0.0), (-1.0, 2.0), (f32::NAN, 1.0)] {
            let weights = Weights::new(vector, keyword);
            assert!((weights.vector + weights.keyword - 1.0).abs() < 1e-6, "{weights:?}");
        }
    }
}
