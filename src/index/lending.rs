//! What a turn borrows from those around it: the formulas, and nothing of how they are evaluated.

/// How much the words of neighbouring turns count, next to a turn's own, in what is proposed for them.
const LENT: f32 = 1.5;

/// How much the cosines count in what a session lends; the rest are its keyword similarities.
const COSINES: f32 = 0.35;

/// How many of a session's best turns speak for it.
pub(super) const BEST: usize = 3;

/// From the keyword similarities of the turns around one, in each direction the nearest first; 0 for one not there.
#[inline]
pub(super) fn neighbours(before: [f32; 2], after: [f32; 2]) -> f32 {
    let ([near_before, far_before], [near_after, far_after]) = (before, after);
    (2.0 * (near_before + near_after) + (far_before + far_after)) / 6.0
}

/// From the keyword similarity of the turn before, and the share of it that asks.
#[inline]
pub(super) fn replies(before: f32, asks: f32) -> f32 {
    before * asks
}

/// By what turns are proposed for what stands around them: their own keyword similarity, [`neighbours`] and [`replies`].
#[inline]
pub(super) fn proposal(own: f32, neighbours: f32, replies: f32) -> f32 {
    own + LENT * (neighbours + replies)
}

/// From the best keyword similarities and the best cosines among the turns of a session; 0 for those not there, and for
/// cosines below it.
#[expect(clippy::cast_precision_loss, reason = "a count of three")]
pub(super) fn session(best_keywords: &[f32; BEST], best_cosines: &[f32; BEST]) -> f32 {
    let mean = |best: &[f32; BEST]| best.iter().sum::<f32>() / BEST as f32;
    (1.0 - COSINES) * mean(best_keywords) + COSINES * mean(best_cosines)
}

/// Keeps the largest numbers, the largest first.
#[inline]
pub(super) fn keep_best(best: &mut [f32; BEST], mut number: f32) {
    for kept in best {
        if number > *kept {
            std::mem::swap(kept, &mut number);
        }
    }
}
