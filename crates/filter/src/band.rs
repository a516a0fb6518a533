//! The band of diagonals that decides a global alignment; all backends use it.

/// The diagonals that a path between two ends may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Band {
    /// The lowest diagonal, 0 or less.
    pub(crate) low: isize,
    /// The number of diagonals.
    pub(crate) width: usize,
    /// The diagonal of the last cell: the length of the read minus the length of the segment.
    pub(crate) last: isize,
}

impl Band {
    /// Returns the band of a global alignment with at most `e` edits; `None` if the lengths differ by more than
    /// `e`. A path leads from diagonal 0 to the last one, and every step beyond these diagonals must be undone
    /// by another one.
    #[inline]
    pub(crate) fn global(read: usize, segment: usize, e: usize) -> Option<Band> {
        let last = read as isize - segment as isize;
        let spare = e.checked_sub(last.unsigned_abs())? / 2;
        let low = last.min(0) - spare as isize;
        Some(Band { low, width: last.unsigned_abs() + 2 * spare + 1, last })
    }
}
