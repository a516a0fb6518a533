//! How a file is cut into ranges.

/// The size of ranges.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Bytes of a range.
    pub range: u64,
    /// Bytes of text that a range may have, about.
    pub limit: usize,
}

/// Decoding in ranges takes 1.3 to 1.4 times the CPU time of a stream (docs/benchmarks.md), so it
/// pays only where the one thread that inflates a stream is what all others wait for. Reading alone
/// that was so with 2 workers, as measured. With counting behind it, which takes about twice the
/// time of inflating, it should be so from 4 on: that is arithmetic, not a measurement.
const LEAST_WORKERS: usize = 4;

/// With smaller ranges, too much of them would lie before the first block.
const LEAST_RANGE: u64 = 64 * 1024;

/// To how much of its text a range is ordinarily compressed at most,
const RATIO: u64 = 6;

/// and what its worker has memory for.
pub(super) const LARGE_RATIO: u64 = 2 * RATIO;

impl Plan {
    /// A plan by which the symbols of a range, of two bytes each, take twice `text` bytes where
    /// text is compressed to a sixth, and never more than four times. `None` if ranges do not pay.
    pub fn new(text: usize, workers: usize) -> Option<Self> {
        let plan = Self::of(text as u64 / RATIO);
        (workers >= LEAST_WORKERS && plan.range >= LEAST_RANGE).then_some(plan)
    }

    /// A plan of ranges of `range` bytes, at least 1.
    pub fn of(range: u64) -> Self {
        let range = range.max(1);
        Self { range, limit: (range * LARGE_RATIO) as usize }
    }

    /// Returns whether a file of `length` bytes has work for several workers.
    pub fn is_worth(&self, length: u64) -> bool {
        length >= 2 * self.range
    }
}
