//! Okapi BM25, made absolute.
//!
//! # Source
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; the inverse document
//! frequency is the variant that is never negative, `ln(1 + (n − df + ½) / (df + ½))`, as in Lucene.
//!
//! A raw BM25 sum has no upper end that means anything, so it cannot be compared between queries. Here it is divided by
//! [`Bm25::bound`]: what a text would get that holds every term of the query as strongly as possible. The quotient is in
//! [0, 1) and the same text gets the same number whatever else was found; ranking by it is ranking by BM25, since the
//! divisor is one for the whole query.

/// The two constants of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bm25 {
    /// How fast repeating a term stops paying off; at least 0. Default 0.9.
    pub k1: f32,
    /// How much a long text is held back, 0 to 1. Default 0.4.
    pub b: f32,
}

impl Default for Bm25 {
    fn default() -> Self {
        Self { k1: 0.9, b: 0.4 }
    }
}

/// Inverse document frequency of a term that `df` of `n` texts hold: rare terms say more. Above 0 for `df <= n`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of texts; a ratio of them needs no more than f32's 24 bits")]
pub fn inverse_frequency(n: usize, df: usize) -> f32 {
    let df = df.min(n);
    (1.0 + ((n - df) as f32 + 0.5) / (df as f32 + 0.5)).ln()
}

impl Bm25 {
    /// What `tf` occurrences of a term add to the score of a text, per unit of the term's inverse frequency: 0 to
    /// `k1 + 1`. `length` is that of the text and `average` that of all texts, in terms.
    #[must_use]
    pub fn saturation(self, tf: f32, length: f32, average: f32) -> f32 {
        let relative = if average > 0.0 { length / average } else { 1.0 };
        let denominator = tf + self.k1 * (1.0 - self.b + self.b * relative);
        if denominator > 0.0 { tf * (self.k1 + 1.0) / denominator } else { 0.0 }
    }

    /// [`saturation`](Self::saturation) for many texts of one average length.
    pub(crate) fn saturations(self, average: f32) -> Saturations {
        let slope = if average > 0.0 { self.k1 * self.b / average } else { 0.0 };
        let base = if average > 0.0 { self.k1 * (1.0 - self.b) } else { self.k1 };
        Saturations { most: self.k1 + 1.0, base, slope }
    }

    /// The bound that no text's score reaches: every term of the query, as strongly as possible.
    #[must_use]
    pub fn bound(self, inverse_frequencies: impl Iterator<Item = f32>) -> f32 {
        inverse_frequencies.sum::<f32>() * (self.k1 + 1.0)
    }
}

/// What of [`Bm25::saturation`] is the same for all texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Saturations {
    most: f32,
    base: f32,
    slope: f32,
}

impl Saturations {
    /// What at least one occurrence of a term adds to the score of a text.
    #[inline]
    pub(crate) fn of(self, tf: f32, length: f32) -> f32 {
        tf * self.most / (tf + (self.base + self.slope * length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_say_more_and_none_says_less_than_nothing() {
        assert!(inverse_frequency(100, 1) > inverse_frequency(100, 50));
        assert!(inverse_frequency(1, 1) > 0.0);
        assert!((inverse_frequency(10, 2) - (1.0_f32 + 8.5 / 2.5).ln()).abs() < 1e-6);
    }

    #[test]
    fn repeats_saturate_below_the_bound() {
        let bm25 = Bm25::default();
        let (once, often) = (bm25.saturation(1.0, 10.0, 10.0), bm25.saturation(1e6, 10.0, 10.0));
        assert!((once - 1.0).abs() < 1e-6 && often > once && often < bm25.k1 + 1.0);
        assert!(bm25.saturation(1.0, 100.0, 10.0) < once);
    }

    #[test]
    fn many_texts_saturate_as_one_does() {
        let bm25 = Bm25::default();
        for (tf, length, average) in [(1.0, 3.0, 11.5), (4.0, 100.0, 20.0), (2.0, 0.0, 0.0), (255.0, 1e6, 1.0)] {
            let (one, many) = (bm25.saturation(tf, length, average), bm25.saturations(average).of(tf, length));
            assert!((one - many).abs() < 1e-6, "{one} {many}");
        }
    }
}
