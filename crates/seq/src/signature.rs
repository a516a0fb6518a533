//! Signatures: the p-mer by which consecutive k-mers share a bin (RapidGKC §II-D, §II-E, §III-A).
//!
//! The signature of a k-mer is the least norm of its p-mers. The norm of a p-mer is the smaller
//! of the p-mer, if the rule allows it, and of its reverse complement, if the rule allows that;
//! else the special value 4^p. A k-mer and its reverse complement so have one signature. Without
//! canonical form the norm looks at the p-mer alone.

mod scan;

pub use scan::{Scanner, changes};

use std::ops::RangeInclusive;

/// The p that signatures can have: the special value 4^p must fit 32 bits.
pub const LENGTHS: RangeInclusive<usize> = 3..=15;

/// Which p-mers may be signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// RapidGKC's (§III-A): no AAA, ACA, CAA, CCA at the start, no AAA at the end. No branch.
    Gkc,
    /// KMC2's: no AAA or ACA at the start, no AA elsewhere, and as its program goes on
    /// (`kmc_api/mmer.h`): no TTT, no TGT and no TT before the last base.
    Kmc2,
    /// Every p-mer: the plain canonical minimizer.
    Minimizer,
    /// Every p-mer, ordered by a hash of it that is one to one.
    Hash,
}

impl Rule {
    /// All rules, the default first.
    pub const ALL: [Rule; 4] = [Rule::Gkc, Rule::Kmc2, Rule::Minimizer, Rule::Hash];

    /// The rule's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Gkc => "gkc",
            Rule::Kmc2 => "kmc2",
            Rule::Minimizer => "minimizer",
            Rule::Hash => "hash",
        }
    }

    /// The norm of one p-mer, from the definition: the oracle for [`Scanner`], and for statistics.
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

/// The number of signature values: all p-mers and the special value.
pub fn values(p: usize) -> usize {
    (1 << (2 * p)) + 1
}

/// A rule as straight-line code: `rank` gives the p-mer's place in the order, or the special
/// value if it is not allowed.
trait Norm {
    /// Ranks the smaller of both strands' p-mers, rather than taking the smaller rank of both.
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
        // Bit 2i of `is_a` says that base i from the end is A; `aa` has the bits of all pairs.
        let is_a = !(pmer | pmer >> 1) & 0x5555_5555;
        let aa = is_a & is_a >> 2;
        // All pairs but the one at the very start.
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
        // Each step is one to one on 2p bits: times an odd number, XOR with the own high half.
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

    /// KMC's `is_allowed`, step by step as its source has it.
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
