//! The positions of an index before they are sorted: they are divided into parts by their first bases, and
//! sorted part by part.

use std::ops::Range;

use merganser_run::neighbours;

use super::SHORTEST;
use crate::reference::Text;

/// The maximum number of positions of a piece, which is processed in one step.
const PIECE: u32 = 1 << 20;

/// The positions to sort.
#[derive(Debug)]
pub(crate) struct Unsorted<'r> {
    pub(crate) text: Text<'r>,
    /// The length of the k-mers in the table.
    pub(crate) k: usize,
    /// The stretches whose positions are in the index: see [`pieces`].
    pub(crate) pieces: Vec<[u32; 3]>,
    /// The number of positions of each part; the positions of a part begin with the same bases.
    pub(crate) totals: Vec<u64>,
}

impl Unsorted<'_> {
    /// Returns the number of positions of all parts.
    pub(crate) fn positions(&self) -> u64 {
        self.totals.iter().sum()
    }
}

/// Returns the stretches of contigs without ambiguous letters that are long enough for a seed, in pieces:
/// [first position, position after the last one, end of the stretch's bases].
pub(crate) fn pieces(text: Text<'_>) -> Vec<[u32; 3]> {
    let gaps = text.gaps();
    let mut pieces = Vec::new();
    let mut gap = 0;
    for contig in text.contigs {
        let mut at = contig.start;
        while at < contig.end() {
            while gap < gaps.len() && gaps[gap][1] <= at {
                gap += 1;
            }
            let next = gaps.get(gap).filter(|gap| gap[0] < contig.end());
            let end = next.map_or(contig.end(), |gap| gap[0]);
            let seeds = end.saturating_sub(SHORTEST as u32 - 1);
            while at < seeds {
                let to = seeds.min(at + PIECE);
                pieces.push([at, to, end]);
                at = to;
            }
            at = next.map_or(contig.end(), |gap| gap[1]);
        }
    }
    pieces
}

/// Groups consecutive parts with at most `room` positions together; a part with more is a group of its own.
pub(crate) fn grouped(totals: &[u64], room: u64) -> Vec<Range<usize>> {
    neighbours(totals.iter().copied(), |a, b| a + b, |&held| held <= room)
}
