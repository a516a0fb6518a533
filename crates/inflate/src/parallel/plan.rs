//! The sizes of the ranges of a file.

/// The sizes of ranges.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number of compressed bytes of a range.
    pub range: u64,
    /// The approximate maximum number of bytes of text of a range.
    pub limit: usize,
}

/// The minimum number of workers for ranges. Decoding in ranges takes 1.3 to 1.4 times the CPU time of a stream
/// (docs/evidence/speed.md), so it pays only if the other workers would wait for the single thread that inflates a
/// stream. For reading alone this was measured to be so from 2 workers. With counting, which takes about twice the
/// time of inflating, it is estimated to be so from 4 workers.
const MIN_WORKERS: usize = 4;

/// The minimum size of a range: in smaller ranges, too large a part would be before the first block.
const MIN_RANGE: u64 = 64 * 1024;

/// The ratio of text to compressed bytes that is expected of ordinary ranges.
const RATIO: u64 = 6;

/// The ratio for which a worker has memory.
pub(super) const LARGE_RATIO: u64 = 2 * RATIO;

impl Plan {
    /// Returns a plan whose ranges need `2 * text` bytes for their symbols, of two bytes each, at the ordinary
    /// compression ratio, and at most twice that. Returns `None` if ranges do not pay.
    pub fn new(text: usize, workers: usize) -> Option<Self> {
        let plan = Self::of(text as u64 / RATIO);
        (workers >= MIN_WORKERS && plan.range >= MIN_RANGE).then_some(plan)
    }

    /// Returns a plan of ranges of `range` bytes; at least 1.
    pub fn of(range: u64) -> Self {
        let range = range.max(1);
        Self { range, limit: (range * LARGE_RATIO) as usize }
    }

    /// Returns whether a file of `length` bytes is large enough for several workers.
    pub fn is_worth(&self, length: u64) -> bool {
        length >= 2 * self.range
    }
}
