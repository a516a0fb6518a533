//! Symmetric DUST, computed base by base.
//!
//! A window of the last 62 triplets (64 bases) moves over the sequence. After each triplet, the suffixes of the window
//! are checked from short to long: a suffix is perfect if its score is above the threshold and not below that of any
//! perfect interval within it. Of the perfect intervals that begin at the same triplet, the last one found is the
//! longest and has the highest score, so only one is kept for each beginning. When the window moves past a beginning,
//! its interval is masked.
//!
//! Most triplets need no check. The longest suffix in which no triplet occurs more than four times has a score of at
//! most 2, and so have all intervals within it; only longer suffixes are checked. No suffix has more pairs than the
//! window. So if the pairs of the window are not above the threshold for that suffix, no suffix is perfect.

use crate::base;

use super::MASKED;

/// The number of bases in a window.
pub(super) const WINDOW: usize = 64;
/// The number of triplets in a window.
const TRIPLETS: usize = WINDOW - 2;
/// The threshold: a score of 20 in the units of DUST, which are tenths.
const THRESHOLD: u32 = 2;
/// The largest count of a triplet in a suffix that is known to be below the threshold: with counts of at most 4,
/// there are at most 1.5 pairs per triplet.
const LOW: u8 = 4;
/// The size of the ring buffers for triplets and intervals, which are indexed by their number.
const KEPT: usize = 64;

/// Counts of triplets, and the number of pairs of equal ones.
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

/// A perfect interval, or none if `steps` is 0.
#[derive(Clone, Copy, Default)]
struct Perfect {
    /// The number of triplets minus 1; 0 if there is no interval.
    steps: u32,
    pairs: u32,
}

impl Perfect {
    /// Whether the score of this interval is higher than that of `other`. A missing interval has the lowest score.
    #[inline(always)]
    fn is_above(self, other: Perfect) -> bool {
        self.pairs * other.steps > other.pairs * self.steps || (other.steps == 0 && self.steps > 0)
    }
}

/// The state of the scan over a run of bases. A triplet is numbered by its first base.
struct Dust {
    /// The triplets of the window, by their number.
    triplets: [u8; KEPT],
    /// The number of the first triplet of the window. [`end`](Self::end) is the number after its last triplet.
    start: usize,
    end: usize,
    /// The first triplet of the suffix that is known to be below the threshold.
    low: usize,
    window: Counts,
    suffix: Counts,
    /// The perfect intervals, by the number of their first triplet.
    perfect: [Perfect; KEPT],
    /// The end of the last masked interval.
    masked: usize,
}

/// Masks a run of bases: all letters are A, C, G, T or U, in either case.
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
            // The interval that is masked ends before `at`: masking changes only letters that were already read.
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
    /// Moves the end of the window by one triplet.
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

    /// Moves the beginning of the window by one triplet, and masks the interval that begins there.
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

    /// Finds the perfect suffixes of the window.
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
