//! Which of many texts says most of what the others say, too.

/// How much of a text's weight comes from those like it.
const DAMPING: f32 = 0.85;
/// Rounds at most; a change smaller than [`STILL`] ends them earlier.
const ROUNDS: usize = 40;
const STILL: f32 = 1e-4;

/// The weight of each of `size` texts, given how alike two of them are (symmetric, 0 or more): 0.15 for one that is like no
/// other, and 1 on the average where each is like some other. Takes time in proportion to the square of `size`.
///
/// # Source
/// Mihalcea and Tarau, "TextRank: Bringing Order into Texts", EMNLP 2004: weighted PageRank,
/// `w(i) = (1 − d) + d · Σ_j s(j, i) / Σ_k s(j, k) · w(j)` with d = 0.85, from 1 on.
pub(crate) fn text_rank(size: usize, similarity: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    let mut links: Vec<Vec<(usize, f32)>> = vec![Vec::new(); size];
    let mut out = vec![0.0_f32; size];
    for (one, links) in links.iter_mut().enumerate() {
        for other in (0..size).filter(|other| *other != one) {
            let alike = if one < other { similarity(one, other) } else { similarity(other, one) };
            if alike > 0.0 {
                links.push((other, alike));
            }
        }
    }
    for (out, links) in out.iter_mut().zip(&links) {
        *out = links.iter().map(|(_, alike)| alike).sum();
    }
    let mut weights = vec![1.0_f32; size];
    for _ in 0..ROUNDS {
        let share = |(other, alike): &(usize, f32)| {
            let (weight, out) = (weights.get(*other), out.get(*other));
            weight.zip(out).map_or(0.0, |(weight, out)| alike / out * weight)
        };
        let next: Vec<f32> =
            links.iter().map(|links| 1.0 - DAMPING + DAMPING * links.iter().map(share).sum::<f32>()).collect();
        let moved = next.iter().zip(&weights).map(|(new, old)| (new - old).abs()).fold(0.0, f32::max);
        weights = next;
        if moved < STILL {
            break;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_between_the_others_weighs_most() {
        assert!(text_rank(0, |_, _| 1.0).is_empty());
        let lonely = text_rank(2, |_, _| 0.0);
        assert!(lonely.iter().all(|weight| (weight - 0.15).abs() < 1e-6));
        let alike = text_rank(3, |_, _| 0.4);
        assert!(alike.iter().all(|weight| (weight - 1.0).abs() < 1e-3));
        // A star: 0 is like each of the others, which are like nobody else.
        let star = text_rank(4, |one, _| if one == 0 { 1.0 } else { 0.0 });
        let expected = [1.919, 0.694, 0.694, 0.694];
        for (weight, expected) in star.iter().zip(expected) {
            assert!((weight - expected).abs() < 5e-3, "{star:?}");
        }
    }
}
