//! Hashes that are equal on every platform and in every release.
//!
//! Vectors made from hashes are kept on disk for years, so the hash may depend neither
//! on the standard library's hasher nor on the byte order of the machine.

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

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

/// The high and the low half of a hash.
pub(crate) const fn halves(hash: u64) -> (u32, u32) {
    ((hash >> 32) as u32, (hash & 0xffff_ffff) as u32)
}

#[cfg(test)]
mod tests {
    use super::StableHash;

    #[test]
    fn hashes_never_change() {
        let hash = StableHash::new(0).text("memory").finish();
        assert_eq!(hash, 0x6362_21fb_0120_2cdd);
        assert_eq!(StableHash::new(1).text("memory").finish(), 0x645e_afb9_81c6_c5e1);
    }
}
