//! Hamming masks of a pair of equal length: one bit per base of the segment, set where it differs from the read
//! shifted by some bases.

use crate::NMode;
use crate::batch::SequenceView;

/// The planes of a pair, from which masks are computed. Pairs reuse their memory.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    words: usize,
    len: usize,
    mode: NMode,
    /// The read's low bits, high bits and ambiguous letters, with a word of zeros before and after each plane.
    read: [Vec<u64>; 3],
    segment: [Vec<u64>; 3],
    others: bool,
}

impl Masks {
    /// Loads a pair of equal length.
    pub(crate) fn load(
        &mut self,
        read: &SequenceView<'_>,
        segment: &SequenceView<'_>,
        mode: NMode,
    ) {
        debug_assert_eq!(read.len(), segment.len());
        (self.len, self.words, self.mode) = (read.len(), read.len().div_ceil(64), mode);
        self.others = read.has_others() || segment.has_others();
        let valid = |w: usize| match self.len - 64 * w {
            bits @ 1..64 => u64::MAX >> (64 - bits),
            _ => u64::MAX,
        };
        for (planes, view) in [(&mut self.read, read), (&mut self.segment, segment)] {
            for plane in planes.iter_mut() {
                plane.clear();
                plane.push(0);
            }
            for w in 0..self.words {
                let [low, high] = view.word(w).map(|word| word & valid(w));
                planes[0].push(low);
                planes[1].push(high);
                planes[2].push(view.others(w) & valid(w));
            }
            planes.iter_mut().for_each(|plane| plane.push(0));
        }
    }

    /// Returns the number of words of a mask.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Returns the number of bits of a mask.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Computes mask `shift`: the read is moved to later positions, or to earlier ones if `shift` is negative.
    /// Vacated positions compare with A; bits past the end are 0.
    #[inline]
    pub(crate) fn shifted(&self, shift: isize, mask: &mut [u64]) {
        self.differences(shift, mask);
        cut(mask, self.len);
    }

    /// Computes mask `shift` with both sequences extended by A up to `len`, at most to whole 64-bit words.
    pub(crate) fn shifted_padded(&self, shift: isize, len: usize, mask: &mut [u64]) {
        self.differences(shift, mask);
        cut(mask, len);
    }

    #[inline]
    fn differences(&self, shift: isize, mask: &mut [u64]) {
        let [low, high, others] = &self.read;
        let [segment_low, segment_high, segment_others] = &self.segment;
        for (w, word) in mask[..self.words].iter_mut().enumerate() {
            // A word of zeros precedes the plane, so base 0 is bit 64.
            let from = 64 + 64 * w as isize - shift;
            let of = |plane: &[u64]| shifted_word(plane, from);
            let mut differs = (of(low) ^ segment_low[w + 1]) | (of(high) ^ segment_high[w + 1]);
            if self.others {
                let others = of(others) | segment_others[w + 1];
                differs =
                    if self.mode == NMode::Match { differs & !others } else { differs | others };
            }
            *word = differs;
        }
    }

    /// Sets the bits that a shift vacates.
    #[inline]
    pub(crate) fn vacate(&self, shift: isize, mask: &mut [u64]) {
        let count = shift.unsigned_abs().min(self.len);
        if shift >= 0 {
            set(mask, 0, count);
        } else {
            set(mask, self.len - count, self.len);
        }
    }
}

/// Clears the bits from `len` on.
#[inline]
pub(crate) fn cut(mask: &mut [u64], len: usize) {
    if !len.is_multiple_of(64) {
        mask[len / 64] &= u64::MAX >> (64 - len % 64);
    }
}

/// Returns 64 bits of a plane, beginning at a bit that may be negative or past its end.
#[inline(always)]
fn shifted_word(plane: &[u64], from: isize) -> u64 {
    if from < -63 {
        0
    } else if from < 0 {
        plane[0] << -from
    } else {
        window(plane, from as usize)
    }
}

#[inline(always)]
fn window(plane: &[u64], from: usize) -> u64 {
    merganser_seq::planes::window(plane, from)
}

/// Sets the bits `from` to `to`, exclusive.
fn set(mask: &mut [u64], from: usize, to: usize) {
    let words = mask.iter_mut().enumerate().take(to.div_ceil(64)).skip(from / 64);
    for (w, word) in words {
        let (first, last) = (from.saturating_sub(64 * w), (to - 64 * w).min(64));
        if first < last {
            *word |= (u64::MAX >> (64 - (last - first))) << first;
        }
    }
}
