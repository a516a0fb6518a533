//! Hashes of canonical k-mers, and the features of hashes, which the tables store.

use merganser_seq::hash::murmur_finalizer;

/// The hash function of k-mers, which depends only on k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashRule {
    /// k ≤ 16: MetaCache's 32-bit hash (its `hash_dna.h`): x = ((x >> 16) ^ x) · 0x45d9f3b, twice,
    /// then (x >> 16) ^ x.
    Bits32,
    /// k > 16: the [finaliser of MurmurHash3](murmur_finalizer).
    Bits64,
}

/// The number of bits of a feature.
pub const FEATURE_BITS: u32 = 44;

impl HashRule {
    /// Returns the rule for k-mers of `k` bases.
    pub fn of(k: u32) -> HashRule {
        if k <= 16 { HashRule::Bits32 } else { HashRule::Bits64 }
    }

    /// Returns the hash of a canonical k-mer (two bits per base, the first base most significant).
    #[inline(always)]
    pub fn hash(self, kmer: u64) -> u64 {
        match self {
            HashRule::Bits32 => u64::from(hash32(kmer as u32)),
            HashRule::Bits64 => murmur_finalizer(kmer),
        }
    }

    /// Returns the first hash that is too large for a feature at `density`/256. (`u64::MAX` is never the hash of a
    /// k-mer: see [`NO_KMER`].)
    #[inline(always)]
    pub fn limit(self, density: u32) -> u64 {
        match self {
            HashRule::Bits32 => u64::from(density) << 24,
            HashRule::Bits64 if density >= 256 => NO_KMER,
            HashRule::Bits64 => u64::from(density) << 56,
        }
    }

    /// Returns the feature of a hash: a number of [`FEATURE_BITS`] bits.
    ///
    /// Features are evenly distributed even though sketches prefer small hashes. The upper 12 bits select the
    /// section of the table, the lower 32 the slot in it. 32-bit hashes have distinct features; two different
    /// 64-bit hashes share a feature with probability 2⁻⁴⁴, and are then treated as the same.
    #[inline(always)]
    pub fn feature(self, hash: u64) -> u64 {
        match self {
            HashRule::Bits32 => u64::from((hash as u32).wrapping_mul(0x9e37_79b1)) << 12,
            HashRule::Bits64 => hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20,
        }
    }
}

/// Marks positions without a k-mer. The single 32-mer with this hash (the hash is a bijection) is skipped as if it
/// contained an unknown letter.
pub const NO_KMER: u64 = u64::MAX;

#[inline(always)]
fn hash32(x: u32) -> u32 {
    let x = ((x >> 16) ^ x).wrapping_mul(0x045d_9f3b);
    let x = ((x >> 16) ^ x).wrapping_mul(0x045d_9f3b);
    (x >> 16) ^ x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values were computed from the formulas with Python's integers.
    #[test]
    fn golden_vectors() {
        let small = [
            (0, 0, 0),
            (1, 824_515_495, 9_318_750_973_952),
            (0x1b1b_1b1b, 3_480_792_923, 5_763_914_182_656),
            (0xffff_ffff, 539_527_247, 7_657_009_836_032),
        ];
        let large = [
            (0, 0, 0),
            (1, 12_994_781_566_227_106_604, 9_825_857_717_201),
            (0x1b1b_1b1b_1b1b, 9_905_465_626_344_831_838, 13_741_746_804_089),
            (u64::MAX, 7_256_831_767_414_464_289, 12_514_909_987_684),
        ];
        for (rule, vectors) in [(HashRule::Bits32, small), (HashRule::Bits64, large)] {
            for (kmer, hash, feature) in vectors {
                assert_eq!(rule.hash(kmer), hash, "{rule:?} {kmer:#x}");
                assert_eq!(rule.feature(hash), feature, "{rule:?} {kmer:#x}");
            }
        }
    }

    #[test]
    fn limits_keep_what_their_density_says() {
        for rule in [HashRule::Bits32, HashRule::Bits64] {
            for density in [1u32, 64, 200, 256] {
                let kept = (0..100_000u64).filter(|&x| rule.hash(x) < rule.limit(density)).count();
                let expected = 100_000.0 * f64::from(density) / 256.0;
                assert!((kept as f64 - expected).abs() < 1500.0, "{rule:?} {density} {kept}");
            }
        }
    }

    #[test]
    fn features_of_small_hashes_spread_over_the_sections() {
        for rule in [HashRule::Bits32, HashRule::Bits64] {
            let mut sections = vec![0u32; 4096];
            let hashes = (0..4_000_000u64).map(|x| rule.hash(x));
            for hash in hashes.filter(|&hash| hash < rule.limit(26)) {
                let feature = rule.feature(hash);
                assert!(feature >> FEATURE_BITS == 0);
                sections[(feature >> 32) as usize] += 1;
            }
            let (least, most) = (sections.iter().min(), sections.iter().max());
            assert!(least > Some(&30) && most < Some(&200), "{rule:?} {least:?} {most:?}");
        }
    }
}
