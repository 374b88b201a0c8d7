//! Choosing among what is found so that it does not all say the same.

/// Orders items so that each is relevant and unlike those before it: the places of at most `limit` of them, in order.
///
/// The next is always the one with the greatest `(1 − diversity) · relevance − diversity · s`, where `s` is its similarity
/// to the most similar of those already chosen. `relevances` and similarities are 0 to 1, `diversity` is 0 (the order of
/// relevance) to 1 (the first, and then whatever is least like it). Of equals the earlier comes first. `similarity` is
/// asked at most once for each pair.
///
/// # Source
/// Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing Summaries",
/// SIGIR 1998, with λ = 1 − `diversity`.
#[must_use]
pub fn maximal_marginal_relevance(
    relevances: &[f32],
    diversity: f32,
    limit: usize,
    mut similarity: impl FnMut(usize, usize) -> f32,
) -> Vec<usize> {
    let diversity = diversity.clamp(0.0, 1.0);
    let mut chosen = Vec::with_capacity(limit.min(relevances.len()));
    // Each item that is left, with its relevance and how like it is to what was chosen.
    let mut left: Vec<(usize, f32, f32)> =
        relevances.iter().enumerate().map(|(place, relevance)| (place, *relevance, 0.0)).collect();
    while chosen.len() < limit {
        let worth = |(_, relevance, like): &(usize, f32, f32)| (1.0 - diversity) * relevance - diversity * like;
        let mut best: Option<(usize, f32)> = None;
        for (at, item) in left.iter().enumerate() {
            let worth = worth(item);
            if best.is_none_or(|(_, most)| worth > most) {
                best = Some((at, worth));
            }
        }
        let Some((at, _)) = best else { break };
        let (place, ..) = left.remove(at);
        chosen.push(place);
        if diversity > 0.0 && chosen.len() < limit {
            for (other, _, like) in &mut left {
                *like = like.max(similarity(place, *other));
            }
        }
    }
    chosen
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, clippy::panic, reason = "a failing look-up is a failing test")]
mod tests {
    use super::*;

    /// Two that say the same, and one that says something else.
    fn similarity(one: usize, other: usize) -> f32 {
        if one < 2 && other < 2 { 1.0 } else { 0.0 }
    }

    #[test]
    fn what_was_said_already_waits() {
        let relevances = [0.9, 0.8, 0.5];
        for (diversity, order) in [(0.0, [0, 1, 2]), (0.2, [0, 1, 2]), (0.3, [0, 2, 1]), (1.0, [0, 2, 1])] {
            assert_eq!(maximal_marginal_relevance(&relevances, diversity, 3, similarity), order, "{diversity}");
        }
        // (1 − d) · 0.8 − d · 1 = (1 − d) · 0.5 at d = 0.3 / 1.3.
        for (diversity, second) in [(0.3 / 1.3 - 0.01, 1), (0.3 / 1.3 + 0.01, 2)] {
            assert_eq!(maximal_marginal_relevance(&relevances, diversity, 2, similarity)[1..], [second]);
        }
    }

    #[test]
    fn it_gives_as_many_as_there_are() {
        assert_eq!(maximal_marginal_relevance(&[], 0.5, 3, similarity), [] as [usize; 0]);
        assert_eq!(maximal_marginal_relevance(&[0.1], 0.5, 0, similarity), [] as [usize; 0]);
        assert_eq!(maximal_marginal_relevance(&[0.1, 0.3], 7.0, 9, |_, _| 0.0), [0, 1]);
        assert_eq!(maximal_marginal_relevance(&[0.3, 0.3], 0.0, 9, |_, _| panic!("not needed")), [0, 1]);
    }
}
