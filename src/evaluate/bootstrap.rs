//! Whether one search is better than another, or merely luckier with these questions.

use serde::Serialize;

use crate::{Error, Result};

/// Compares the scores of two searches over the same questions.
///
/// Deterministic: one seed, one outcome, on every platform.
///
/// ```
/// use ingrain::evaluate::bootstrap::PairedBootstrap;
/// let before = [0.0, 0.0, 1.0, 0.0, 0.5, 0.0, 1.0, 0.0];
/// let after = [1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 1.0];
/// let comparison = PairedBootstrap::new().compare(&before, &after)?;
/// assert_eq!(comparison.difference, 0.5);
/// assert!(comparison.low > 0.0 && comparison.p_value < 0.05);
/// # Ok::<(), ingrain::Error>(())
/// ```
///
/// # Source
/// Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 13 (percentile interval) and 15 (achieved
/// significance); Berg-Kirkpatrick, Burkett and Klein, "An Empirical Investigation of Statistical Significance in NLP",
/// EMNLP 2012, for the paired form. Questions are drawn with replacement, as many as there are; default 10,000 times,
/// with which the interval's ends hardly move from seed to seed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct PairedBootstrap {
    /// How often questions are drawn.
    pub resamples: usize,
    /// Where the random numbers begin.
    pub seed: u64,
}

impl Default for PairedBootstrap {
    fn default() -> Self {
        Self::new()
    }
}

/// How two searches compare.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The mean of the second minus the mean of the first.
    pub difference: f64,
    /// The lower end of the 95 % interval of the difference.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Twice the share of resamples whose difference has not the sign of the whole, at most 1: two-sided. Not below
    /// 2^(1 − k) where k questions differ, the least that a sign test can tell of so many: three cases that all gain
    /// have 0.25, however large the gain.
    pub p_value: f64,
    /// How many questions were compared.
    pub questions: usize,
}

impl PairedBootstrap {
    /// 10,000 resamples with a fixed seed.
    pub const fn new() -> Self {
        Self { resamples: 10_000, seed: 0 }
    }

    /// How often questions are drawn. Default 10,000.
    pub const fn resamples(mut self, resamples: usize) -> Self {
        self.resamples = resamples;
        self
    }

    /// Where the random numbers begin. Default 0.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Compares per-question scores: both lists hold the same questions in the same order.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for lists that differ in length or are empty, a score
    /// that is no finite number, or no resamples.
    pub fn compare(&self, before: &[f64], after: &[f64]) -> Result<Comparison> {
        if before.len() != after.len() {
            let message = format!("{} and {} scores cannot be compared in pairs", before.len(), after.len());
            return Err(Error::invalid(message));
        }
        if before.is_empty() || self.resamples == 0 {
            return Err(Error::invalid("a comparison needs at least one question and one resample"));
        }
        let differences: Vec<f64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
        if differences.iter().any(|difference| !difference.is_finite()) {
            return Err(Error::invalid("a score to compare is no finite number"));
        }
        let count = differences.len() as f64;
        let difference = differences.iter().sum::<f64>() / count;
        let mut random = Xorshift::new(self.seed);
        let mut means: Vec<f64> = (0..self.resamples)
            .map(|_| {
                let drawn = (0..differences.len()).filter_map(|_| differences.get(random.below(differences.len())));
                drawn.sum::<f64>() / count
            })
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let share = |part: usize| part as f64 / means.len() as f64;
        let not_above = share(means.iter().filter(|mean| **mean <= 0.0).count());
        let not_below = share(means.iter().filter(|mean| **mean >= 0.0).count());
        // More questions than this leave less than a double can tell from 0.
        let differ = differences.iter().filter(|difference| **difference != 0.0).count().min(1_000);
        let least = 0.5_f64.powi(i32::try_from(differ).unwrap_or(i32::MAX) - 1);
        Ok(Comparison {
            difference,
            low: quantile(&means, 0.025),
            high: quantile(&means, 0.975),
            p_value: (2.0 * not_above.min(not_below)).max(least).min(1.0),
            questions: differences.len(),
        })
    }
}

/// The value at the nearest rank.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(place).copied().unwrap_or_default()
}

/// Marsaglia, "Xorshift RNGs", 2003, with the multiplication of Vigna, "An experimental exploration of Marsaglia's
/// xorshift generators, scrambled", 2016: good enough to draw questions, and the same in every release.
struct Xorshift(u64);

impl Xorshift {
    const fn new(seed: u64) -> Self {
        // Spreads neighbouring seeds; the state must not be 0.
        let state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(if state == 0 { 1 } else { state })
    }

    const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`: the high half of the product, which favours none by more than one in 2^64 / `limit`.
    fn below(&mut self, limit: usize) -> usize {
        let product = u128::from(self.next()) * limit as u128;
        (product >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(before: &[f64], after: &[f64]) -> Comparison {
        PairedBootstrap::new().compare(before, after).unwrap_or_else(|error| unreachable!("{error}"))
    }

    #[test]
    fn equal_scores_do_not_differ() {
        let scores: Vec<f64> = (0..50).map(|i| f64::from(i % 3) / 2.0).collect();
        let comparison = compare(&scores, &scores);
        assert_eq!((comparison.difference, comparison.low, comparison.high), (0.0, 0.0, 0.0));
        assert_eq!((comparison.p_value, comparison.questions), (1.0, 50));
    }

    #[test]
    fn a_clear_gain_and_a_clear_loss() {
        // Two of three questions gain one: the standard error of the mean is √(2/9 / 300) ≈ 0.0272.
        let before = vec![0.0; 300];
        let after: Vec<f64> = (0..300).map(|i| if i % 3 == 0 { 0.0 } else { 1.0 }).collect();
        let gain = compare(&before, &after);
        assert!((gain.difference - 2.0 / 3.0).abs() < 1e-12);
        assert!((gain.low - (2.0 / 3.0 - 1.96 * 0.0272)).abs() < 0.01, "{}", gain.low);
        assert!((gain.high - (2.0 / 3.0 + 1.96 * 0.0272)).abs() < 0.01, "{}", gain.high);
        assert!(gain.p_value < 1e-9);
        let loss = compare(&after, &before);
        assert!(loss.high < 0.0 && loss.p_value < 1e-9);
    }

    #[test]
    fn a_handful_proves_little() {
        assert_eq!(compare(&[0.0; 3], &[1.0; 3]).p_value, 0.25);
        assert_eq!(compare(&[0.0], &[1.0]).p_value, 1.0);
    }

    #[test]
    fn as_many_gains_as_losses_are_luck() {
        let before: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        let after: Vec<f64> = (0..100).map(|i| f64::from((i + 1) % 2)).collect();
        let luck = compare(&before, &after);
        assert!(luck.low < 0.0 && luck.high > 0.0 && luck.p_value > 0.5, "{luck:?}");
    }

    #[test]
    fn one_seed_one_outcome() {
        let before: Vec<f64> = (0..40).map(|i| f64::from(i % 7) / 7.0).collect();
        let after: Vec<f64> = (0..40).map(|i| f64::from(i % 5) / 4.0).collect();
        assert_eq!(compare(&before, &after), compare(&before, &after));
        let other = PairedBootstrap::new().seed(1).compare(&before, &after);
        assert!(other.is_ok_and(|other| other != compare(&before, &after)));
        // Every question can be drawn, and nothing else.
        let mut random = Xorshift::new(u64::MAX);
        let drawn: std::collections::BTreeSet<usize> = (0..1_000).map(|_| random.below(10)).collect();
        assert_eq!(drawn, (0..10).collect());
    }

    #[test]
    fn what_cannot_be_compared() {
        let bootstrap = PairedBootstrap::new();
        assert!(bootstrap.compare(&[0.0], &[0.0, 1.0]).is_err());
        assert!(bootstrap.compare(&[], &[]).is_err());
        assert!(bootstrap.compare(&[f64::NAN], &[0.0]).is_err());
        assert!(bootstrap.resamples(0).compare(&[0.0], &[0.0]).is_err());
    }
}
