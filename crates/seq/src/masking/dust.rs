//! Symmetric DUST, base by base.
//!
//! A window of the last 62 triplets (64 bases) moves over the sequence. With each triplet, the suffixes
//! of the window are looked at from short to long: each is perfect if its score is above the threshold
//! and no lower than that of any perfect interval within it. Of the perfect intervals that begin at the
//! same triplet, the last one found is the longest and has the highest score, so that one for each
//! beginning is kept. When the window leaves a beginning, its interval is masked.
//!
//! Most triplets need no such look. Of the window's suffixes, the longest in which no triplet occurs more
//! than four times has a score of 2 at most, as have all intervals within it: suffixes
//! that are looked at are longer. No suffix has more pairs than the window. So if these are not above the
//! threshold for the suffix that is known to be low, nothing is.

use crate::base;

use super::MASKED;

/// Bases of a window.
pub(super) const WINDOW: usize = 64;
/// Its triplets.
const TRIPLETS: usize = WINDOW - 2;
/// The threshold: a score of 20, which counts tenths.
const THRESHOLD: u32 = 2;
/// How often a triplet may occur where no interval is above the threshold: with c ≤ 4 of each there are
/// at most 1.5 pairs a triplet.
const LOW: u8 = 4;
/// Places of triplets and intervals that are kept, by their number.
const KEPT: usize = 64;

/// Triplets, how many of each there are, and the pairs of equal ones.
#[derive(Clone, Copy)]
struct Counts {
    of: [u8; 64],
    pairs: u32,
}

impl Counts {
    #[inline(always)]
    fn add(&mut self, triplet: u8) -> u8 {
        let count = &mut self.of[usize::from(triplet) % 64];
        self.pairs += u32::from(*count);
        *count += 1;
        *count
    }

    #[inline(always)]
    fn remove(&mut self, triplet: u8) {
        let count = &mut self.of[usize::from(triplet) % 64];
        *count -= 1;
        self.pairs -= u32::from(*count);
    }
}

/// A perfect interval, or none.
#[derive(Clone, Copy, Default)]
struct Perfect {
    /// Its triplets less one; 0: there is none.
    steps: u32,
    pairs: u32,
}

impl Perfect {
    /// Whether its score is higher; that of none is the lowest.
    #[inline(always)]
    fn is_above(self, other: Perfect) -> bool {
        self.pairs * other.steps > other.pairs * self.steps || (other.steps == 0 && self.steps > 0)
    }
}

/// What is known of a run of bases; a triplet has the number of its first base.
struct Dust {
    /// The window's triplets, by their number.
    triplets: [u8; KEPT],
    /// The number of the window's first triplet, and the one behind its last.
    start: usize,
    end: usize,
    /// The first triplet of the suffix that is known to be low.
    low: usize,
    window: Counts,
    suffix: Counts,
    /// The perfect intervals, by the number of their first triplet.
    perfect: [Perfect; KEPT],
    /// Where the last masked interval ends.
    masked: usize,
}

/// Masks a run of bases: letters that are all A, C, G, T or U in either case.
pub(super) fn mask(run: &mut [u8]) {
    let none = Counts { of: [0; 64], pairs: 0 };
    let mut dust = Dust {
        triplets: [0; KEPT],
        start: 0,
        end: 0,
        low: 0,
        window: none,
        suffix: none,
        perfect: [Perfect::default(); KEPT],
        masked: 0,
    };
    let mut triplet = 0;
    for at in 0..run.len() {
        triplet = (triplet << 2 | base::code_unchecked(run[at])) & 63;
        if at < 2 {
            continue;
        }
        if dust.end - dust.start == TRIPLETS {
            // Of letters that were read: they may be replaced.
            dust.leave(run);
        }
        dust.enter(triplet);
        let low = (dust.end - dust.low - 1) as u32;
        if dust.window.pairs > THRESHOLD * low {
            dust.look();
        }
    }
    while dust.start < dust.end {
        dust.leave(run);
    }
}

impl Dust {
    /// Moves the window's end by one triplet.
    #[inline(always)]
    fn enter(&mut self, triplet: u8) {
        self.triplets[self.end % KEPT] = triplet;
        self.end += 1;
        self.window.add(triplet);
        if self.suffix.add(triplet) > LOW {
            loop {
                let first = self.triplets[self.low % KEPT];
                self.suffix.remove(first);
                self.low += 1;
                if first == triplet {
                    break;
                }
            }
        }
    }

    /// Moves the window's beginning by one triplet, and masks the interval that begins there.
    #[inline(always)]
    fn leave(&mut self, run: &mut [u8]) {
        let triplet = self.triplets[self.start % KEPT];
        self.window.remove(triplet);
        if self.low == self.start {
            self.suffix.remove(triplet);
            self.low += 1;
        }
        let Perfect { steps, .. } = std::mem::take(&mut self.perfect[self.start % KEPT]);
        let end = self.start + steps as usize + 3;
        if steps > 0 && end > self.masked {
            run[self.masked.max(self.start)..end].fill(MASKED);
            self.masked = end;
        }
        self.start += 1;
    }

    /// Finds the suffixes of the window that are perfect.
    fn look(&mut self) {
        let mut counts = self.suffix;
        let mut highest = Perfect::default();
        for first in (self.start..self.low).rev() {
            counts.add(self.triplets[first % KEPT]);
            let steps = (self.end - first - 1) as u32;
            let known = &mut self.perfect[first % KEPT];
            if known.is_above(highest) {
                highest = *known;
            }
            let suffix = Perfect { steps, pairs: counts.pairs };
            if suffix.pairs > THRESHOLD * steps && !highest.is_above(suffix) {
                *known = suffix;
                highest = suffix;
            }
        }
    }
}
