//! From candidates to good ends: windows of the reference in which a query may lie.

pub(crate) mod hamming;
pub(crate) mod lanes;
pub(crate) mod scan;

use crate::queries::Query;
use crate::reference::Text;

/// Neighbouring diagonals of a query, on each of which a seed was found or may lie. A diagonal is
/// the position of the query's first base if nothing is inserted or deleted; it may be below 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) query: u32,
    /// The first diagonal,
    pub(crate) first: i64,
    /// and how far the last one is behind it.
    pub(crate) width: u32,
    /// Candidates in it.
    pub(crate) candidates: u32,
}

/// A good end of a query: the position of the last base, and the edits. Of one end there may be
/// several, of which the one with the fewest edits counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct End {
    pub(crate) query: u32,
    pub(crate) position: u32,
    pub(crate) edits: u32,
}

/// Diagonals of windows that are verified together: so many ends more than there is room for are found at the most.
pub(crate) const MAX_WIDTH: u32 = if cfg!(test) { 1 << 6 } else { 1 << 18 };

impl Window {
    /// The window in stretches of at most [`MAX_WIDTH`] diagonals. An alignment that begins on one of them and has no
    /// more edits than it may have is within the reach of that stretch.
    pub(crate) fn stretches(self) -> impl Iterator<Item = Window> {
        let last = i64::from(self.width);
        (0..=last).step_by(MAX_WIDTH as usize).map(move |at| {
            let width = (last - at).min(i64::from(MAX_WIDTH) - 1) as u32;
            Window { first: self.first + at, width, ..self }
        })
    }

    /// The positions that an alignment with at most e edits may use, the second one excluded.
    pub(crate) fn reach(&self, query: &Query<'_>) -> [i64; 2] {
        let e = query.edits as i64;
        [self.first - e, self.first + i64::from(self.width) + query.len as i64 + e]
    }

    /// The ends that belong to the window, the second one excluded.
    pub(crate) fn ends(&self, query: &Query<'_>) -> [i64; 2] {
        let e = query.edits as i64;
        let first = self.first + query.len as i64 - 1;
        [first - e, first + i64::from(self.width) + e + 1]
    }

    /// Whether lanes of a kind can decide it: a band of at most `band` diagonals, bases alone, all
    /// in one contig.
    pub(crate) fn is_plain(&self, query: &Query<'_>, text: &Text<'_>, band: usize) -> bool {
        let [from, to] = self.reach(query);
        if 2 * query.edits + self.width as usize + 1 > band || query.unknown > 0 || from < 0 {
            return false;
        }
        let contig = &text.contigs[text.contig_at(from)];
        i64::from(contig.end()) >= to && !text.has_others(from as usize, to as usize)
    }
}
