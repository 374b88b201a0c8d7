//! Random-looking vectors made from hashes.

use crate::score::stable_hash::{halves, mix};

/// One bit for each number of a block.
const LANES: [u32; 32] = {
    let mut lanes = [1; 32];
    let mut rest: &mut [u32] = &mut lanes;
    let mut bit = 1;
    while let Some((lane, after)) = rest.split_first_mut() {
        *lane = bit;
        bit = bit.rotate_left(1);
        rest = after;
    }
    lanes
};

/// Adds the random-looking ±`weight` vector that belongs to `hash`.
///
/// Two different hashes give nearly orthogonal vectors, so a hashed feature is like
/// nothing but itself.
pub(crate) fn add_signs(sum: &mut [f32], hash: u64, weight: f32) {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = hash;
    let mut next = || {
        state = state.wrapping_add(GOLDEN);
        halves(mix(state)).0
    };
    // Blocks of a length known beforehand become vector instructions.
    let (blocks, rest) = sum.as_chunks_mut::<32>();
    for block in blocks {
        add_block(block, next(), weight);
    }
    add_block(rest, next(), weight);
}

#[inline]
fn add_block(block: &mut [f32], signs: u32, weight: f32) {
    for (value, bit) in block.iter_mut().zip(&LANES) {
        *value += if signs & bit == 0 { weight } else { -weight };
    }
}

/// A count as a factor.
#[expect(clippy::cast_precision_loss, reason = "only ever small counts")]
pub(crate) fn to_f32(count: usize) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use super::add_signs;
    use crate::score::stable_hash::StableHash;

    #[test]
    fn different_hashes_are_nearly_orthogonal() {
        let mut left = vec![0.0; 128];
        let mut right = vec![0.0; 128];
        add_signs(&mut left, StableHash::new(0).text("left").finish(), 1.0);
        add_signs(&mut right, StableHash::new(0).text("right").finish(), 1.0);
        let dot: f32 = left.iter().zip(&right).map(|(a, b)| a * b).sum();
        assert!(dot.abs() < 40.0, "{dot}");
    }
}
