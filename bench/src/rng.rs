//! A small seeded random number generator: xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64 as its
//! authors recommend. It is our own, so that the data made from a seed do not change with the version of a
//! dependency.

use std::f64::consts::TAU;

/// The purpose of a stream of random numbers. Streams with different purposes are independent, so that a new kind of
/// draw does not change other data.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// One block of a random genome, by the number of the block.
    GenomeBlock = 1,
    /// The ancestral sequence of a repeat family, by the number of the family.
    RepeatFamily = 2,
    /// Start positions of a genome's runs of N.
    UnknownRuns = 3,
    /// One sequenced fragment, by the number of the fragment.
    Fragment = 4,
    /// Strains of species.
    Strains = 6,
    /// A genome of known ploidy and the counts of its k-mers.
    Spectrum = 7,
}

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Rng {
    state: [u64; 4],
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// Creates the stream `index` of `purpose` for `seed`.
    pub(crate) fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        // Hashed one after the other: seeds and indices are small and consecutive, and must not cancel out.
        let mut mixed = seed;
        let mut mixed = splitmix(&mut mixed) ^ purpose as u64;
        let mut mixed = splitmix(&mut mixed) ^ index;
        Self { state: std::array::from_fn(|_| splitmix(&mut mixed)) }
    }

    /// Creates a stream like the generator of the published measurements, which makes the same data.
    pub(crate) fn published(seed: u64, stream: u64) -> Self {
        let mut state = seed
            .wrapping_mul(0xd134_2543_de82_ef95)
            .wrapping_add(stream.wrapping_mul(0x2545_f491_4f6c_dd1d))
            .wrapping_add(1);
        Self { state: std::array::from_fn(|_| splitmix(&mut state)) }
    }

    /// Returns 64 random bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a number in `0..n`; 0 if `n` is 0. (Multiply and shift: the bias is below `n` / 2⁶⁴.)
    #[inline]
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Returns a number in (0, 1].
    #[inline]
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number from the standard normal distribution (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }

    /// Returns a number from the exponential distribution with this mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.uniform().ln()
    }

    /// Returns the number of failed trials before the first success, given ln(1 - p); `u64::MAX` if p is 0.
    #[inline]
    pub(crate) fn failures(&mut self, ln_failure: f64) -> u64 {
        if ln_failure == 0.0 {
            return u64::MAX;
        }
        (self.uniform().ln() / ln_failure) as u64
    }

    /// Returns one of A, C, G and T.
    #[inline]
    pub(crate) fn base(&mut self) -> u8 {
        b"ACGT"[(self.next() >> 62) as usize]
    }

    /// Appends `n` random bases.
    pub(crate) fn bases(&mut self, n: usize, out: &mut Vec<u8>) {
        out.reserve(n);
        let mut left = n;
        while left > 0 {
            let mut bits = self.next();
            for _ in 0..left.min(32) {
                out.push(b"ACGT"[(bits & 3) as usize]);
                bits >>= 2;
            }
            left -= left.min(32);
        }
    }

    /// Returns a random base other than `base`; a letter other than A, C, G and T is returned unchanged.
    pub(crate) fn other_base(&mut self, base: u8) -> u8 {
        match b"ACGT".iter().position(|&b| b == base) {
            Some(code) => b"ACGT"[(code + 1 + self.below(3) as usize) % 4],
            None => base,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xoshiro_matches_its_reference() {
        // State 1, 2, 3, 4: the first outputs of the authors' C code.
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let outputs: Vec<u64> = (0..4).map(|_| rng.next()).collect();
        assert_eq!(outputs, [11520, 0, 1_509_978_240, 1_215_971_899_390_074_240]);
    }

    #[test]
    fn splitmix_matches_its_reference() {
        // Seed 1234567: the first outputs of Vigna's C code.
        let mut state = 1_234_567;
        assert_eq!(splitmix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(splitmix(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn streams_differ() {
        let mut seen = std::collections::HashSet::new();
        for seed in 0..20 {
            for index in 0..20 {
                assert!(seen.insert(Rng::new(seed, Purpose::Fragment, index).next()));
                assert!(seen.insert(Rng::new(seed, Purpose::GenomeBlock, index).next()));
            }
        }
    }

    #[test]
    fn draws_have_their_means() {
        let mut rng = Rng::new(1, Purpose::Fragment, 0);
        let n = 100_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        assert!((mean(&mut || rng.uniform()) - 0.5).abs() < 0.01);
        assert!(mean(&mut || rng.normal()).abs() < 0.02);
        assert!((mean(&mut || rng.exponential(7.0)) - 7.0).abs() < 0.1);
        // (1 - p) / p = 9 failures at p = 0.1.
        let ln_failure = 0.9f64.ln();
        assert!((mean(&mut || rng.failures(ln_failure) as f64) - 9.0).abs() < 0.15);
        assert_eq!(rng.failures(0.0), u64::MAX);
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn other_base_never_repeats_itself() {
        let mut rng = Rng::new(1, Purpose::Fragment, 0);
        for base in *b"ACGT" {
            let others: std::collections::BTreeSet<u8> =
                (0..100).map(|_| rng.other_base(base)).collect();
            assert_eq!(others.len(), 3);
            assert!(!others.contains(&base));
        }
        assert_eq!(rng.other_base(b'N'), b'N');
    }
}
