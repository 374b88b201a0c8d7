//! How well a ranked list holds what is relevant: pure functions.
//!
//! In all of them `ranked` is best first, `relevant` is in any order, something is relevant or it is not, and repeats
//! count once. Every value lies in 0 to 1; where nothing is relevant, or `k` is 0, it is 0. They compare each with
//! each, which suits lists of up to some hundreds.
//!
//! # Source
//! Manning, Raghavan and Schütze, "Introduction to Information Retrieval", 2008, chapter 8.

/// 1 if at least one of the relevant is among the first `k`, else 0.
///
/// ```
/// use ingrain::evaluate::metrics::any_hit;
/// assert_eq!(any_hit(&["b", "a"], &["a", "c"], 2), 1.0);
/// assert_eq!(any_hit(&["b", "a"], &["a", "c"], 1), 0.0);
/// ```
///
/// # Source
/// Success@k, also called hit rate; the chapter named above.
#[must_use]
pub fn any_hit<T: PartialEq>(ranked: &[T], relevant: &[T], k: usize) -> f64 {
    flag(ranked.iter().take(k).any(|found| relevant.contains(found)))
}

/// 1 if all of the relevant are among the first `k`, else 0.
///
/// ```
/// use ingrain::evaluate::metrics::all_hit;
/// assert_eq!(all_hit(&["b", "a", "c"], &["a", "c"], 3), 1.0);
/// assert_eq!(all_hit(&["b", "a", "c"], &["a", "c"], 2), 0.0);
/// ```
///
/// # Source
/// Recall@k that is whole; LongMemEval calls it `recall_all@k`.
#[must_use]
pub fn all_hit<T: PartialEq>(ranked: &[T], relevant: &[T], k: usize) -> f64 {
    let found = |wanted: &T| ranked.iter().take(k).any(|found| found == wanted);
    flag(!relevant.is_empty() && relevant.iter().all(found))
}

/// The share of the relevant that is among the first `k`.
///
/// ```
/// use ingrain::evaluate::metrics::recall;
/// assert_eq!(recall(&["b", "a", "c"], &["a", "c"], 2), 0.5);
/// ```
///
/// # Source
/// Recall@k; the chapter named above. It cannot reach 1 where more than `k` are relevant.
#[must_use]
pub fn recall<T: PartialEq>(ranked: &[T], relevant: &[T], k: usize) -> f64 {
    let wanted = once(relevant);
    let found = wanted.iter().filter(|wanted| ranked.iter().take(k).any(|found| found == **wanted)).count();
    found as f64 / wanted.len().max(1) as f64
}

/// One over the rank of the first relevant, which counts from 1; 0 if none is ranked. Averaged over questions it is the
/// mean reciprocal rank (MRR).
///
/// ```
/// use ingrain::evaluate::metrics::reciprocal_rank;
/// assert_eq!(reciprocal_rank(&["b", "a", "c"], &["a", "c"]), 0.5);
/// ```
///
/// # Source
/// Voorhees, "The TREC-8 Question Answering Track Report", 1999.
#[must_use]
pub fn reciprocal_rank<T: PartialEq>(ranked: &[T], relevant: &[T]) -> f64 {
    best_rank(ranked, relevant).map_or(0.0, |rank| 1.0 / rank as f64)
}

/// Normalized discounted cumulative gain: the sum of `1 / log2(rank + 1)` over the relevant among the first `k`, ranks
/// from 1, divided by the sum of a ranking that begins with all of them.
///
/// ```
/// use ingrain::evaluate::metrics::ndcg;
/// assert_eq!(ndcg(&["a", "c", "b"], &["a", "c"], 10), 1.0);
/// assert_eq!(ndcg(&["b", "d", "a"], &["a"], 10), 0.5);
/// ```
///
/// # Source
/// Järvelin and Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques", ACM TOIS 20(4), 2002, with gains of 0
/// and 1 and the discount `log2(rank + 1)`, which discounts from the second rank on.
#[must_use]
pub fn ndcg<T: PartialEq>(ranked: &[T], relevant: &[T], k: usize) -> f64 {
    let ideal: f64 = (1..=once(relevant).len().min(k)).map(discount).sum();
    let gained: f64 = once(ranked.get(..k).unwrap_or(ranked))
        .into_iter()
        .filter(|found| relevant.contains(found))
        // A repeat takes a rank, though it gains nothing.
        .filter_map(|found| ranked.iter().position(|other| other == found))
        .map(|place| discount(place + 1))
        .sum();
    if ideal > 0.0 { gained / ideal } else { 0.0 }
}

/// Whether the best-ranked of `updated` stands above the best-ranked of `original`. What is not ranked stands below
/// everything that is; where neither is ranked, or both are the same, the answer is no.
///
/// ```
/// use ingrain::evaluate::metrics::ranks_above;
/// assert!(ranks_above(&["new", "old"], &["new"], &["old"]));
/// assert!(ranks_above(&["other", "new"], &["new"], &["old"]));
/// assert!(!ranks_above(&["other"], &["new"], &["old"]));
/// ```
#[must_use]
pub fn ranks_above<T: PartialEq>(ranked: &[T], updated: &[T], original: &[T]) -> bool {
    match (best_rank(ranked, updated), best_rank(ranked, original)) {
        (Some(updated), Some(original)) => updated < original,
        (updated, None) => updated.is_some(),
        (None, Some(_)) => false,
    }
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn discount(rank: usize) -> f64 {
    1.0 / ((rank + 1) as f64).log2()
}

fn best_rank<T: PartialEq>(ranked: &[T], relevant: &[T]) -> Option<usize> {
    ranked.iter().position(|found| relevant.contains(found)).map(|place| place + 1)
}

/// The items without repeats, in order.
fn once<T: PartialEq>(items: &[T]) -> Vec<&T> {
    let mut once: Vec<&T> = Vec::new();
    for item in items {
        if !once.contains(&item) {
            once.push(item);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANKED: [u32; 6] = [9, 3, 8, 1, 7, 2];

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn counted_by_hand() {
        let relevant = [1, 2, 3, 4];
        near(any_hit(&RANKED, &relevant, 1), 0.0);
        near(any_hit(&RANKED, &relevant, 2), 1.0);
        near(recall(&RANKED, &relevant, 1), 0.0);
        near(recall(&RANKED, &relevant, 4), 0.5);
        near(recall(&RANKED, &relevant, 100), 0.75);
        near(all_hit(&RANKED, &relevant, 100), 0.0);
        near(all_hit(&RANKED, &[3, 1], 4), 1.0);
        near(all_hit(&RANKED, &[3, 1], 3), 0.0);
        near(reciprocal_rank(&RANKED, &relevant), 0.5);
        near(reciprocal_rank(&RANKED, &[4]), 0.0);
    }

    #[test]
    fn gain_by_hand() {
        // Found at ranks 2, 4 and 6, of four: (1/log2 3 + 1/log2 5 + 1/log2 7) / (1 + 1/log2 3 + 1/2 + 1/log2 5).
        let found = 0.630_929_753_571 + 0.430_676_558_073 + 0.356_207_187_108;
        let ideal = 1.0 + 0.630_929_753_571 + 0.5 + 0.430_676_558_073;
        near(ndcg(&RANKED, &[1, 2, 3, 4], 10), found / ideal);
        // Within three only rank 2 counts, and the ideal has three.
        near(ndcg(&RANKED, &[1, 2, 3, 4], 3), 0.630_929_753_571 / (1.0 + 0.630_929_753_571 + 0.5));
        near(ndcg(&[3, 1, 9], &[1, 3], 10), 1.0);
    }

    #[test]
    fn nothing_relevant_nothing_ranked_and_no_rank() {
        for (ranked, relevant, k) in [(&RANKED[..], &[][..], 5), (&[][..], &[1][..], 5), (&RANKED[..], &[9][..], 0)] {
            for metric in [any_hit, all_hit, recall, ndcg] {
                near(metric(ranked, relevant, k), 0.0);
            }
        }
        near(reciprocal_rank::<u32>(&[], &[]), 0.0);
    }

    #[test]
    fn repeats_count_once() {
        near(recall(&[1, 1, 2], &[1, 1, 3], 3), 0.5);
        near(ndcg(&[1, 1, 1], &[1, 2], 3), 1.0 / (1.0 + 0.630_929_753_571));
        near(ndcg(&[1, 1, 2], &[1, 2], 3), (1.0 + 0.5) / (1.0 + 0.630_929_753_571));
    }

    #[test]
    fn the_update_above_the_original() {
        assert!(ranks_above(&RANKED, &[1, 3], &[8]));
        assert!(!ranks_above(&RANKED, &[1], &[8, 2]));
        assert!(!ranks_above(&RANKED, &[3], &[3]), "one message cannot stand above itself");
        assert!(ranks_above(&RANKED, &[2], &[40]) && !ranks_above(&RANKED, &[40], &[2]));
        assert!(!ranks_above(&RANKED, &[40], &[41]));
    }
}
