//! Signatures: the p-mers that decide the bin of consecutive k-mers (RapidGKC §II-D, §II-E, §III-A).
//!
//! The signature of a k-mer is the smallest norm of its p-mers. The norm of a p-mer is the smaller of the p-mer and its
//! reverse complement, each only if the rule allows it, and the special value 4^p if it allows neither. So a k-mer and
//! its reverse complement have the same signature. Without canonical form the norm ignores the reverse complement.

#[cfg(target_arch = "aarch64")]
mod neon;
mod scan;

pub use scan::{Scanner, changes};

use std::ops::RangeInclusive;

/// The lengths p that a signature can have: the special value 4^p must fit in 32 bits.
pub const LENGTHS: RangeInclusive<usize> = 3..=15;

/// The rule that decides which p-mers may be signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The rule of RapidGKC (§III-A): no AAA, ACA, CAA or CCA at the start and no AAA at the end. It needs no branch.
    Gkc,
    /// The rule of KMC 2: no AAA or ACA at the start and no AA elsewhere; also, as in its source code
    /// (`kmc_api/mmer.h`), no TTT or TGT at the end and no TT before the last base.
    Kmc2,
    /// All p-mers, in alphabetical order: the plain canonical minimizer.
    Minimizer,
    /// All p-mers, in the order of a one-to-one hash.
    Hash,
}

impl Rule {
    /// All rules, the default first.
    pub const ALL: [Rule; 4] = [Rule::Gkc, Rule::Kmc2, Rule::Minimizer, Rule::Hash];

    /// Returns the name of the rule on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Gkc => "gkc",
            Rule::Kmc2 => "kmc2",
            Rule::Minimizer => "minimizer",
            Rule::Hash => "hash",
        }
    }

    /// Returns the norm of one p-mer, computed from the definition. It is used for statistics and as the reference
    /// that [`Scanner`] is tested against.
    pub fn norm(self, pmer: u32, p: usize, canonical: bool) -> u32 {
        let complement = (0..p).fold(0, |rc, i| rc << 2 | (3 - (pmer >> (2 * i) & 3)));
        match self {
            Rule::Gkc => norm::<Gkc>(pmer, complement, p as u32, canonical),
            Rule::Kmc2 => norm::<Kmc2>(pmer, complement, p as u32, canonical),
            Rule::Minimizer => norm::<Minimizer>(pmer, complement, p as u32, canonical),
            Rule::Hash => norm::<Hash>(pmer, complement, p as u32, canonical),
        }
    }
}

/// Returns the number of signature values: all p-mers and the special value.
pub fn values(p: usize) -> usize {
    (1 << (2 * p)) + 1
}

/// A rule as branch-free code: `rank` returns the position of a p-mer in the order, or the special value if the p-mer
/// is not allowed.
trait Norm {
    /// Whether the norm is the rank of the smaller strand, instead of the smaller rank of both strands.
    const RANKS_CANONICAL: bool = false;
    fn rank(pmer: u32, p: u32) -> u32;
}

struct Gkc;
impl Norm for Gkc {
    #[inline(always)]
    fn rank(pmer: u32, p: u32) -> u32 {
        let allowed = (pmer >> (2 * (p - 3)) & 0b10_1011 != 0) & (pmer & 0b11_1111 != 0);
        if allowed { pmer } else { 1 << (2 * p) }
    }
}

struct Kmc2;
impl Norm for Kmc2 {
    #[inline(always)]
    fn rank(pmer: u32, p: u32) -> u32 {
        // Bit 2i of `is_a` is set if base i from the end is A; the bits of `aa` mark all pairs AA.
        let is_a = !(pmer | pmer >> 1) & 0x5555_5555;
        let aa = is_a & is_a >> 2;
        // All pairs except the one at the start.
        let pairs = (1u32 << (2 * (p - 2))) - 1;
        let bad = (aa & pairs != 0)
            | (pmer >> (2 * (p - 3)) == 0b00_01_00)
            | (pmer & 0x3f == 0x3f)
            | (pmer & 0x3f == 0x3b)
            | (pmer & 0x3c == 0x3c);
        if bad { 1 << (2 * p) } else { pmer }
    }
}

struct Minimizer;
impl Norm for Minimizer {
    #[inline(always)]
    fn rank(pmer: u32, _p: u32) -> u32 {
        pmer
    }
}

struct Hash;
impl Norm for Hash {
    const RANKS_CANONICAL: bool = true;
    #[inline(always)]
    fn rank(pmer: u32, p: u32) -> u32 {
        // Each step is one to one on 2p bits: a multiplication by an odd number, or an XOR with the upper half.
        let mask = (1u32 << (2 * p)) - 1;
        let x = pmer.wrapping_mul(0x9e37_79b1) & mask;
        let x = x ^ x >> p;
        x.wrapping_mul(0x85eb_ca6b) & mask
    }
}

#[inline(always)]
fn norm<N: Norm>(pmer: u32, complement: u32, p: u32, canonical: bool) -> u32 {
    match (canonical, N::RANKS_CANONICAL) {
        (false, _) => N::rank(pmer, p),
        (true, true) => N::rank(pmer.min(complement), p),
        (true, false) => N::rank(pmer, p).min(N::rank(complement, p)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KMC's `is_allowed`, step by step as in its source code.
    fn kmc_allows(mut m: u32, p: usize) -> bool {
        if m & 0x3f == 0x3f || m & 0x3f == 0x3b || m & 0x3c == 0x3c {
            return false;
        }
        for _ in 0..p - 3 {
            if m & 0xf == 0 {
                return false;
            }
            m >>= 2;
        }
        !(m == 0 || m == 4 || m & 0xf == 0)
    }

    #[test]
    fn kmc2_rule_equals_its_source_step_by_step() {
        for p in 5..=9 {
            for m in 0..1u32 << (2 * p) {
                let expected = if kmc_allows(m, p) { m } else { 1 << (2 * p) };
                assert_eq!(Rule::Kmc2.norm(m, p, false), expected, "p {p} m {m:x}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "goes through all signatures")]
    fn gkc_rule_forbids_what_the_paper_lists() {
        for p in [4usize, 5, 7] {
            for m in 0..1u32 << (2 * p) {
                let text: String = (0..p)
                    .map(|i| "ACGT".as_bytes()[(m >> (2 * (p - 1 - i)) & 3) as usize] as char)
                    .collect();
                let bad_start = ["AAA", "ACA", "CAA", "CCA"].iter().any(|s| text.starts_with(s));
                let allowed = !bad_start && !text.ends_with("AAA");
                let expected = if allowed { m } else { 1 << (2 * p) };
                assert_eq!(Rule::Gkc.norm(m, p, false), expected, "{text}");
            }
        }
    }

    #[test]
    fn a_pmer_and_its_reverse_complement_have_one_norm() {
        for rule in Rule::ALL {
            for p in [3usize, 6, 7] {
                for m in 0..1u32 << (2 * p) {
                    let rc = (0..p).fold(0, |rc, i| rc << 2 | (3 - (m >> (2 * i) & 3)));
                    assert_eq!(rule.norm(m, p, true), rule.norm(rc, p, true), "{rule:?}");
                }
            }
        }
    }

    #[test]
    fn the_hash_order_is_one_to_one() {
        let mut seen = vec![false; 1 << 14];
        for m in 0..1u32 << 14 {
            let rank = Rule::Hash.norm(m, 7, false) as usize;
            assert!(!std::mem::replace(&mut seen[rank], true));
        }
    }
}
