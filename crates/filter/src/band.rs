//! The band of diagonals that decides a global alignment, on every backend.

/// The diagonals that a path between two ends can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Band {
    /// The lowest diagonal, 0 or less.
    pub(crate) low: isize,
    /// How many there are.
    pub(crate) width: usize,
    /// The diagonal of the last cell: length of the read less length of the segment.
    pub(crate) last: isize,
}

impl Band {
    /// The band of a global alignment with at most `e` edits, if there can be one: it goes from
    /// diagonal 0 to the last one, and whoever leaves the diagonals between must come back.
    #[inline]
    pub(crate) fn global(read: usize, segment: usize, e: usize) -> Option<Band> {
        let last = read as isize - segment as isize;
        let spare = e.checked_sub(last.unsigned_abs())? / 2;
        let low = last.min(0) - spare as isize;
        Some(Band { low, width: last.unsigned_abs() + 2 * spare + 1, last })
    }
}
