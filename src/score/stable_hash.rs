//! Hashes that are equal on every platform and in every release.
//!
//! Vectors made from hashes are kept on disk for years, so the hash may depend neither
//! on the standard library's hasher nor on the byte order of the machine.

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

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

/// FNV-1a over bytes, kept as a running state so that all prefixes of a word cost one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StableHash(u64);

impl StableHash {
    /// The state before any byte; `seed` keeps features of different kinds apart.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(FNV_OFFSET ^ seed)
    }

    /// The state after `text`.
    pub(crate) fn text(self, text: &str) -> Self {
        Self(text.bytes().fold(self.0, |state, byte| (state ^ u64::from(byte)).wrapping_mul(FNV_PRIME)))
    }

    /// The state after one character.
    pub(crate) fn character(self, character: char) -> Self {
        self.text(character.encode_utf8(&mut [0; 4]))
    }

    /// The hash, with all bits usable: the low bits of plain FNV are weak.
    pub(crate) const fn finish(self) -> u64 {
        mix(self.0)
    }
}

/// The finalizer of splitmix64.
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

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

/// The high and the low half of a hash.
pub(crate) const fn halves(hash: u64) -> (u32, u32) {
    ((hash >> 32) as u32, (hash & 0xffff_ffff) as u32)
}

/// A count as a factor.
#[expect(clippy::cast_precision_loss, reason = "only ever small counts")]
pub(crate) fn to_f32(count: usize) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use super::{StableHash, add_signs};

    #[test]
    fn hashes_never_change() {
        let hash = StableHash::new(0).text("memory").finish();
        assert_eq!(hash, 0x6362_21fb_0120_2cdd);
        assert_eq!(StableHash::new(1).text("memory").finish(), 0x645e_afb9_81c6_c5e1);
    }

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
