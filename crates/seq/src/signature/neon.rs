//! Norms of [`Rule::Gkc`](super::Rule::Gkc) by NEON's instructions.
//!
//! The rule needs only the first and the last 4-mer of a p-mer, so 16 positions are tested at a time, as bytes, and their
//! 4-mers are joined to words afterwards. The portable code tests words, of which a vector has four.
#![allow(
    unsafe_code,
    reason = "the functions for NEON's instructions are unsafe outside code for NEON"
)]

use std::arch::aarch64::{
    uint8x16_t, uint32x4_t, vandq_u8, vbslq_u8, vdupq_n_s8, vdupq_n_u8, vld1q_u8, vminq_u32,
    vmvnq_u8, vreinterpretq_u16_u8, vreinterpretq_u32_u16, vshlq_u8, vsliq_n_u8, vst1q_u8,
    vst1q_u32, vtstq_u8, vzip1q_u8, vzip1q_u16, vzip2q_u8, vzip2q_u16,
};

/// The positions of a vector of bytes.
const TOGETHER: usize = 16;

/// The 4-mers at each position, and their reverse complements.
#[derive(Debug, Default)]
pub(super) struct Quads {
    forward: Vec<u8>,
    reverse: Vec<u8>,
}

impl Quads {
    /// Sets `out` to the norms of the p-mers of `codes`. Returns false, without a norm, if there are too few for vectors.
    pub(super) fn gkc_norms(
        &mut self,
        codes: &[u8],
        p: usize,
        canonical: bool,
        out: &mut Vec<u32>,
    ) -> bool {
        let count = codes.len() - p + 1;
        if p < 4 || count < TOGETHER {
            return false;
        }
        self.fill(codes);
        out.resize(count, 0);
        match (p / 4, canonical) {
            (1, true) => self.norms::<1, true>(p, out),
            (1, false) => self.norms::<1, false>(p, out),
            (2, true) => self.norms::<2, true>(p, out),
            (2, false) => self.norms::<2, false>(p, out),
            (_, true) => self.norms::<3, true>(p, out),
            (_, false) => self.norms::<3, false>(p, out),
        }
        true
    }

    /// Computes all 4-mers.
    fn fill(&mut self, codes: &[u8]) {
        let count = codes.len() - 3;
        self.forward.resize(count, 0);
        self.reverse.resize(count, 0);
        let (forward, reverse) = (&mut self.forward[..], &mut self.reverse[..]);
        for_each_start(count, |at| {
            // SAFETY: every processor of this target has NEON. The 16 positions from `at` on are among the `count` ones of
            // 4-mers, and there are three more codes.
            unsafe {
                let [a, b, c, d] = [0, 1, 2, 3].map(|base| vld1q_u8(codes.as_ptr().add(at + base)));
                let quads = vsliq_n_u8::<2>(d, vsliq_n_u8::<2>(c, vsliq_n_u8::<2>(b, a)));
                vst1q_u8(forward.as_mut_ptr().add(at), quads);
                let quads = vsliq_n_u8::<2>(a, vsliq_n_u8::<2>(b, vsliq_n_u8::<2>(c, d)));
                vst1q_u8(reverse.as_mut_ptr().add(at), vmvnq_u8(quads));
            }
        });
    }

    /// Sets `out` to the norms of all p-mers.
    fn norms<const QUADS: usize, const CANONICAL: bool>(&self, p: usize, out: &mut [u32]) {
        let last = p - 4;
        let forward: Strand<'_, QUADS> = Strand::new(p, &self.forward, 0, |q| last - 4 * q);
        let reverse: Strand<'_, QUADS> = Strand::new(p, &self.reverse, last, |q| 4 * q);
        for_each_start(out.len(), |at| {
            // SAFETY: every processor of this target has NEON. The 16 positions from `at` on are among those of `out`, and
            // those of the strands.
            unsafe {
                let mut ranks = forward.ranks(at);
                if CANONICAL {
                    let others = reverse.ranks(at);
                    ranks = std::array::from_fn(|v| vminq_u32(ranks[v], others[v]));
                }
                for (v, rank) in ranks.into_iter().enumerate() {
                    vst1q_u32(out.as_mut_ptr().add(at + 4 * v), rank);
                }
            }
        });
    }
}

/// Calls `visit` with the starts of vectors that together have all of `count` positions, at least 16. The last two vectors
/// may overlap.
#[inline(always)]
fn for_each_start(count: usize, mut visit: impl FnMut(usize)) {
    assert!(count >= TOGETHER);
    let last = count - TOGETHER;
    for at in (0..last).step_by(TOGETHER) {
        visit(at);
    }
    visit(last);
}

/// The 4-mers of the p-mers of a strand, p = 4·QUADS + rest.
struct Strand<'a, const QUADS: usize> {
    /// The 4-mer with the first bases of the p-mer at each position.
    first: &'a [u8],
    /// The 4-mers of the last 4·QUADS bases, the last one first.
    quads: [&'a [u8]; QUADS],
    /// The number of bits to the right of the `rest` first bases in the first 4-mer, negative.
    shift: i8,
    /// The highest byte of 4^p, the rank of p-mers that are not allowed; the others are 0.
    special: u8,
}

impl<'a, const QUADS: usize> Strand<'a, QUADS> {
    /// `first` and `quad` return how far 4-mers are from the position of the p-mer in `quads`.
    #[inline(always)]
    fn new(p: usize, quads: &'a [u8], first: usize, quad: impl Fn(usize) -> usize) -> Self {
        let (rest, count) = (p % 4, quads.len() + 4 - p);
        let from = |at: usize| &quads[at..at + count];
        Strand {
            first: from(first),
            quads: std::array::from_fn(|q| from(quad(q))),
            shift: 2 * rest as i8 - 8,
            special: 1 << (2 * rest),
        }
    }

    /// Returns the ranks of the p-mers at the 16 positions from `at` on (see [`Gkc`](super::Gkc)).
    ///
    /// # Safety
    /// The strand has these positions.
    #[inline(always)]
    unsafe fn ranks(&self, at: usize) -> [uint32x4_t; 4] {
        // SAFETY: every processor of this target has NEON, and the slices have as many bytes as the strand has positions.
        unsafe {
            let load = |quads: &[u8]| vld1q_u8(quads.as_ptr().add(at));
            let (first, last) = (load(self.first), load(self.quads[0]));
            let allowed = vandq_u8(
                vtstq_u8(first, vdupq_n_u8(0b10_1011 << 2)),
                vtstq_u8(last, vdupq_n_u8(0b11_1111)),
            );
            let highest = vshlq_u8(first, vdupq_n_s8(self.shift));
            let highest = vbslq_u8(allowed, highest, vdupq_n_u8(self.special));
            joined(std::array::from_fn(|q| match q {
                _ if q < QUADS => vandq_u8(allowed, load(self.quads[q])),
                _ if q == QUADS => highest,
                _ => vdupq_n_u8(0),
            }))
        }
    }
}

/// Returns words of four bytes each, the lowest first.
#[inline(always)]
fn joined(bytes: [uint8x16_t; 4]) -> [uint32x4_t; 4] {
    let [a, b, c, d] = bytes;
    // SAFETY: every processor of this target has NEON.
    unsafe {
        let low = [vzip1q_u8(a, b), vzip2q_u8(a, b)].map(|pairs| vreinterpretq_u16_u8(pairs));
        let high = [vzip1q_u8(c, d), vzip2q_u8(c, d)].map(|pairs| vreinterpretq_u16_u8(pairs));
        [
            vreinterpretq_u32_u16(vzip1q_u16(low[0], high[0])),
            vreinterpretq_u32_u16(vzip2q_u16(low[0], high[0])),
            vreinterpretq_u32_u16(vzip1q_u16(low[1], high[1])),
            vreinterpretq_u32_u16(vzip2q_u16(low[1], high[1])),
        ]
    }
}
