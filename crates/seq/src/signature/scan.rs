//! Signatures of all k-mers of a batch of bases, by branch-free vector code.
//!
//! There are three steps over whole arrays. Each is a loop that the compiler vectorizes:
//! 1. the 4-mer at each position, of both strands, by doubling (1-mers, 2-mers, 4-mers);
//! 2. the p-mer at each position, from ⌊p/4⌋ 4-mers and the remaining p % 4 bases, and its norm;
//! 3. the smallest norm in each window of w = k-p+1 positions, again by doubling: the minimum over 2, 4, 8, …
//!    positions, with an overlapping last step. This takes ⌈log2 w⌉ passes for any data.

#[cfg(target_arch = "aarch64")]
use super::neon;
use super::{Gkc, Hash, Kmc2, Minimizer, Norm, Rule, norm};
use crate::dispatch;
#[cfg(target_arch = "aarch64")]
use crate::simd::Features;
use crate::simd::Level;

/// Computes signatures. It owns the intermediate arrays, so each worker has its own scanner.
#[derive(Debug)]
pub struct Scanner {
    level: Level,
    rule: Rule,
    k: usize,
    p: usize,
    canonical: bool,
    forward: Words,
    reverse: Words,
    #[cfg(target_arch = "aarch64")]
    quads: neon::Quads,
    norms: Vec<u32>,
    swap: Vec<u32>,
}

/// The short words at each position: the 4-mers and the remaining p % 4 bases.
#[derive(Debug, Default)]
struct Words {
    quad: Vec<u8>,
    rest: Vec<u8>,
    scratch: Vec<u8>,
}

impl Scanner {
    /// Creates a scanner for k-mers of `k` bases and signatures of `p` bases that uses the instructions of `level`.
    ///
    /// # Panics
    /// If `p` is not in [`super::LENGTHS`] or larger than `k`.
    pub fn new(level: Level, rule: Rule, k: usize, p: usize, canonical: bool) -> Scanner {
        assert!(super::LENGTHS.contains(&p) && p <= k, "p = {p} is invalid for k = {k}");
        Scanner {
            level,
            rule,
            k,
            p,
            canonical,
            forward: Words::default(),
            reverse: Words::default(),
            #[cfg(target_arch = "aarch64")]
            quads: neon::Quads::default(),
            norms: Vec::new(),
            swap: Vec::new(),
        }
    }

    /// Returns the signature of the k-mer at each position of `codes` (one byte per base, 0 to 3). The result is empty
    /// if `codes` is shorter than k.
    pub fn scan(&mut self, codes: &[u8]) -> &mut [u32] {
        if codes.len() < self.k {
            return &mut [];
        }
        self.norms(codes);
        least_in_windows(self.level, &mut self.norms, &mut self.swap, self.k - self.p + 1);
        &mut self.norms
    }

    /// Returns the norm of the p-mer at each position of `codes`, which must have at least p bases.
    pub fn norms(&mut self, codes: &[u8]) -> &mut Vec<u32> {
        #[cfg(target_arch = "aarch64")]
        if (self.level.features(), self.rule) == (Features::Neon, Rule::Gkc)
            && self.quads.gkc_norms(codes, self.p, self.canonical, &mut self.norms)
        {
            return &mut self.norms;
        }
        let rest = self.p % 4;
        forward_words(self.level, codes, rest, &mut self.forward);
        if self.canonical {
            reverse_words(self.level, codes, rest, &mut self.reverse);
        }
        let count = codes.len() - self.p + 1;
        match self.rule {
            Rule::Gkc => self.norms_by::<Gkc>(count),
            Rule::Kmc2 => self.norms_by::<Kmc2>(count),
            Rule::Minimizer => self.norms_by::<Minimizer>(count),
            Rule::Hash => self.norms_by::<Hash>(count),
        }
        &mut self.norms
    }

    fn norms_by<N: Norm>(&mut self, count: usize) {
        match self.p / 4 {
            0 => self.norms_of_quads::<N, 0>(count),
            1 => self.norms_of_quads::<N, 1>(count),
            2 => self.norms_of_quads::<N, 2>(count),
            _ => self.norms_of_quads::<N, 3>(count),
        }
    }

    fn norms_of_quads<N: Norm, const QUADS: usize>(&mut self, count: usize) {
        self.norms.resize(count, 0);
        let quads = Quads::<N, QUADS> { p: self.p as u32, rule: std::marker::PhantomData };
        if self.canonical {
            canonical_norms(self.level, quads, &self.forward, &self.reverse, &mut self.norms);
        } else {
            plain_norms(self.level, quads, &self.forward, &mut self.norms);
        }
    }
}

dispatch! {
    fn forward_words(codes: &[u8], rest: usize, out: &mut Words) = forward_words_body
}

#[inline(always)]
fn forward_words_body(codes: &[u8], rest: usize, out: &mut Words) {
    let pairs = &mut out.scratch;
    combine(codes, 1, pairs, |a, b| a << 2 | b);
    combine(pairs, 2, &mut out.quad, |a, b| a << 4 | b);
    match rest {
        0 => {}
        1 => out.rest.clone_from_slice_resized(codes),
        2 => out.rest.clone_from_slice_resized(pairs),
        _ => combine_two(pairs, codes, 2, &mut out.rest, |a, b| a << 2 | b),
    }
}

dispatch! {
    fn reverse_words(codes: &[u8], rest: usize, out: &mut Words) = reverse_words_body
}

#[inline(always)]
fn reverse_words_body(codes: &[u8], rest: usize, out: &mut Words) {
    let pairs = &mut out.scratch;
    combine(codes, 1, pairs, |a, b| (3 - a) | (3 - b) << 2);
    combine(pairs, 2, &mut out.quad, |a, b| a | b << 4);
    match rest {
        0 => {}
        1 => {
            out.rest.clone_from_slice_resized(codes);
            out.rest.iter_mut().for_each(|c| *c = 3 - *c);
        }
        2 => out.rest.clone_from_slice_resized(pairs),
        _ => combine_two(pairs, codes, 2, &mut out.rest, |a, b| a | (3 - b) << 4),
    }
}

trait Refill {
    fn clone_from_slice_resized(&mut self, from: &[u8]);
}

impl Refill for Vec<u8> {
    #[inline(always)]
    fn clone_from_slice_resized(&mut self, from: &[u8]) {
        self.clear();
        self.extend_from_slice(from);
    }
}

/// Sets `out[i] = f(words[i], words[i + distance])` where both words exist; the other entries are unspecified.
#[inline(always)]
fn combine(words: &[u8], distance: usize, out: &mut Vec<u8>, f: impl Fn(u8, u8) -> u8) {
    combine_two(words, words, distance, out, f);
}

#[inline(always)]
fn combine_two(
    first: &[u8],
    second: &[u8],
    distance: usize,
    out: &mut Vec<u8>,
    f: impl Fn(u8, u8) -> u8,
) {
    out.resize(first.len(), 0);
    let later = second.get(distance..).unwrap_or(&[]);
    for ((o, &a), &b) in out.iter_mut().zip(first).zip(later) {
        *o = f(a, b);
    }
}

/// The parameters that the norm loops are specialized for: p = 4·QUADS + rest, and the rule.
#[derive(Clone, Copy)]
struct Quads<N: Norm, const QUADS: usize> {
    p: u32,
    rule: std::marker::PhantomData<N>,
}

dispatch! {
    fn canonical_norms[N: Norm, const QUADS: usize](
        quads: Quads<N, QUADS>, forward: &Words, reverse: &Words, out: &mut [u32],
    ) = canonical_norms_body
}

#[inline(always)]
fn canonical_norms_body<N: Norm, const QUADS: usize>(
    quads: Quads<N, QUADS>,
    forward: &Words,
    reverse: &Words,
    out: &mut [u32],
) {
    let (p, n) = (quads.p, out.len());
    let rest = p as usize % 4;
    let shift = 2 * rest as u32;
    let f: [&[u8]; QUADS] = std::array::from_fn(|q| &forward.quad[4 * q..4 * q + n]);
    let r: [&[u8]; QUADS] = std::array::from_fn(|q| &reverse.quad[4 * q..4 * q + n]);
    if rest == 0 {
        for (i, out) in out.iter_mut().enumerate() {
            let (pmer, complement) = pmer_of_quads(&f, &r, i);
            *out = norm::<N>(pmer, complement, p, true);
        }
        return;
    }
    let f_rest = &forward.rest[4 * QUADS..4 * QUADS + n];
    let r_rest = &reverse.rest[4 * QUADS..4 * QUADS + n];
    for (i, out) in out.iter_mut().enumerate() {
        let (pmer, complement) = pmer_of_quads(&f, &r, i);
        let pmer = pmer << shift | u32::from(f_rest[i]);
        let complement = complement | u32::from(r_rest[i]) << (8 * QUADS as u32);
        *out = norm::<N>(pmer, complement, p, true);
    }
}

#[inline(always)]
fn pmer_of_quads<const QUADS: usize>(
    f: &[&[u8]; QUADS],
    r: &[&[u8]; QUADS],
    i: usize,
) -> (u32, u32) {
    let (mut pmer, mut complement) = (0, 0);
    for q in 0..QUADS {
        pmer = pmer << 8 | u32::from(f[q][i]);
        complement |= u32::from(r[q][i]) << (8 * q);
    }
    (pmer, complement)
}

dispatch! {
    fn plain_norms[N: Norm, const QUADS: usize](
        quads: Quads<N, QUADS>, forward: &Words, out: &mut [u32],
    ) = plain_norms_body
}

#[inline(always)]
fn plain_norms_body<N: Norm, const QUADS: usize>(
    quads: Quads<N, QUADS>,
    forward: &Words,
    out: &mut [u32],
) {
    let (p, n) = (quads.p, out.len());
    let rest = p as usize % 4;
    let f: [&[u8]; QUADS] = std::array::from_fn(|q| &forward.quad[4 * q..4 * q + n]);
    if rest == 0 {
        for (i, out) in out.iter_mut().enumerate() {
            *out = norm::<N>(pmer_of_quads(&f, &f, i).0, 0, p, false);
        }
        return;
    }
    let f_rest = &forward.rest[4 * QUADS..4 * QUADS + n];
    for (i, out) in out.iter_mut().enumerate() {
        let pmer = pmer_of_quads(&f, &f, i).0 << (2 * rest) | u32::from(f_rest[i]);
        *out = norm::<N>(pmer, 0, p, false);
    }
}

dispatch! {
    /// Replaces `values` with the minimum of each window of `width` values; there are `width - 1` fewer windows than
    /// values. `swap` is working space.
    fn least_in_windows(values: &mut Vec<u32>, swap: &mut Vec<u32>, width: usize)
        = least_in_windows_body
}

#[inline(always)]
fn least_in_windows_body(values: &mut Vec<u32>, swap: &mut Vec<u32>, width: usize) {
    let mut span = 1;
    while span < width {
        let step = span.min(width - span);
        let len = values.len() - step;
        swap.resize(len, 0);
        lesser(swap, &values[..len], &values[step..]);
        std::mem::swap(values, swap);
        span += step;
    }
}

/// Sets `out` to the smaller of two values each.
#[inline(always)]
fn lesser(out: &mut [u32], first: &[u32], second: &[u32]) {
    // For NEON, the compiler processes only two vectors per turn of a plain loop, and half of the instructions count.
    const TOGETHER: usize = 64;
    let mut done = 0;
    if cfg!(target_arch = "aarch64") {
        let chunks = first.as_chunks::<TOGETHER>().0.iter().zip(second.as_chunks::<TOGETHER>().0);
        for (out, (first, second)) in out.as_chunks_mut::<TOGETHER>().0.iter_mut().zip(chunks) {
            for ((out, &a), &b) in out.iter_mut().zip(first).zip(second) {
                *out = a.min(b);
            }
            done += TOGETHER;
        }
    }
    for ((out, &a), &b) in out[done..].iter_mut().zip(&first[done..]).zip(&second[done..]) {
        *out = a.min(b);
    }
}

dispatch! {
    /// Finds the positions where values change: bit i % 64 of word i / 64 of `bits` is set if `values[i]` differs from
    /// the value before it. The first bit is 0. `flags` is working space.
    pub fn changes(values: &[u32], flags: &mut Vec<u8>, bits: &mut Vec<u64>) = changes_body
}

#[inline(always)]
fn changes_body(values: &[u32], flags: &mut Vec<u8>, bits: &mut Vec<u64>) {
    flags.clear();
    flags.resize(values.len().next_multiple_of(64), 0);
    if values.len() > 1 {
        let pairs = values.iter().zip(&values[1..]);
        for (flag, (a, b)) in flags[1..].iter_mut().zip(pairs) {
            *flag = u8::from(a != b);
        }
    }
    bits.clear();
    bits.extend(flags.chunks_exact(64).map(|flags| {
        flags.chunks_exact(8).enumerate().fold(0, |word, (i, eight)| {
            let bytes = u64::from_le_bytes([
                eight[0], eight[1], eight[2], eight[3], eight[4], eight[5], eight[6], eight[7],
            ]);
            // The product moves the one bit of each byte to its position in the top byte.
            word | (bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i)
        })
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(rule: Rule, codes: &[u8], k: usize, p: usize, canonical: bool) -> Vec<u32> {
        let norms: Vec<u32> = codes
            .windows(p)
            .map(|w| rule.norm(w.iter().fold(0, |m, &c| m << 2 | u32::from(c)), p, canonical))
            .collect();
        norms.windows(k - p + 1).map(|w| *w.iter().min().expect("w ≥ 1")).collect()
    }

    proptest! {
        #[test]
        fn changes_are_where_neighbours_differ(values in proptest::collection::vec(0u32..3, 0..300)) {
            for level in Level::available() {
                let (mut flags, mut bits) = (vec![1; 700], vec![u64::MAX; 9]);
                changes(level, &values, &mut flags, &mut bits);
                for i in 0..64 * bits.len() {
                    let expected = i > 0 && i < values.len() && values[i] != values[i - 1];
                    prop_assert_eq!(bits[i / 64] >> (i % 64) & 1 == 1, expected);
                }
                prop_assert!(values.len() <= 64 * bits.len());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 2))]
        #[test]
        fn every_level_and_rule_equals_the_definition(
            codes in proptest::collection::vec(0u8..4, 0..400),
            p in 3usize..=15, extra in 0usize..120, rule in 0usize..4, canonical in any::<bool>(),
        ) {
            let (k, rule) = (p + extra, Rule::ALL[rule]);
            let expected = if codes.len() < k { vec![] } else { naive(rule, &codes, k, p, canonical) };
            for level in Level::available() {
                let mut scanner = Scanner::new(level, rule, k, p, canonical);
                // Run twice: results of an earlier, longer batch must not leak into the next.
                scanner.scan(&[3; 500]);
                prop_assert_eq!(&*scanner.scan(&codes), &expected[..]);
            }
        }
    }
}
