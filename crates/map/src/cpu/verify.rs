//! Verification: finds the good ends of queries within windows of the reference.

pub(crate) mod hamming;
pub(crate) mod lanes;
pub(crate) mod scan;

use crate::queries::Query;
use crate::reference::Text;

/// A range of adjacent diagonals of a query that are verified together. A diagonal is the position of the
/// query's first base if nothing is inserted or deleted; it may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) query: u32,
    /// The first diagonal.
    pub(crate) first: i64,
    /// The distance from the first to the last diagonal.
    pub(crate) width: u32,
    /// The number of candidates in the window.
    pub(crate) candidates: u32,
}

/// A good end of a query: the position of the last base of an alignment with few enough edits. If an end is
/// found several times, the fewest edits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct End {
    pub(crate) query: u32,
    pub(crate) position: u32,
    pub(crate) edits: u32,
}

/// The maximum number of diagonals that are verified together. It bounds the good ends found between two checks
/// of the memory for them.
pub(crate) const MAX_WIDTH: u32 = if cfg!(test) { 1 << 6 } else { 1 << 18 };

impl Window {
    /// Splits the window into stretches of at most [`MAX_WIDTH`] diagonals. An alignment that begins on a
    /// diagonal of a stretch is within that stretch's [`reach`](Self::reach).
    pub(crate) fn stretches(self) -> impl Iterator<Item = Window> {
        let last = i64::from(self.width);
        (0..=last).step_by(MAX_WIDTH as usize).map(move |at| {
            let width = (last - at).min(i64::from(MAX_WIDTH) - 1) as u32;
            Window { first: self.first + at, width, ..self }
        })
    }

    /// Returns the positions that an alignment with at most e edits may use, the second one excluded.
    pub(crate) fn reach(&self, query: &Query<'_>) -> [i64; 2] {
        let e = query.edits as i64;
        [self.first - e, self.first + i64::from(self.width) + query.len as i64 + e]
    }

    /// Returns the end positions that belong to the window, the second one excluded.
    pub(crate) fn ends(&self, query: &Query<'_>) -> [i64; 2] {
        let e = query.edits as i64;
        let first = self.first + query.len as i64 - 1;
        [first - e, first + i64::from(self.width) + e + 1]
    }

    /// Whether lanes with a band of `band` diagonals can decide the window: the band is wide enough, and
    /// everything within its reach is a base of a single contig.
    pub(crate) fn is_plain(&self, query: &Query<'_>, text: &Text<'_>, band: usize) -> bool {
        let [from, to] = self.reach(query);
        if 2 * query.edits + self.width as usize + 1 > band || query.unknown > 0 || from < 0 {
            return false;
        }
        let contig = &text.contigs[text.contig_at(from)];
        i64::from(contig.end()) >= to && !text.has_others(from as usize, to as usize)
    }
}
