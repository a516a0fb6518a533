//! The positions of an index before they are sorted: they are distributed by their first bases, and
//! sorted part by part.

use std::ops::Range;

use merganser_run::neighbours;

use super::SHORTEST;
use crate::reference::Text;

/// Positions that are looked at in one step.
const PIECE: u32 = 1 << 20;

/// What is to be sorted.
#[derive(Debug)]
pub(crate) struct Unsorted<'r> {
    pub(crate) text: Text<'r>,
    /// Bases of the k-mers that are looked up directly.
    pub(crate) k: usize,
    /// Stretches whose positions are in the index: see [`pieces`].
    pub(crate) pieces: Vec<[u32; 3]>,
    /// Positions of each part: of the same first bases.
    pub(crate) totals: Vec<u64>,
}

impl Unsorted<'_> {
    /// All positions.
    pub(crate) fn positions(&self) -> u64 {
        self.totals.iter().sum()
    }
}

/// Stretches of contigs without other letters, long enough for a seed: [first position, position
/// behind the last one, end of the bases].
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

/// Parts that follow each other, as many as there is room for at a time; a part alone if it has more.
pub(crate) fn grouped(totals: &[u64], room: u64) -> Vec<Range<usize>> {
    neighbours(totals.iter().copied(), |a, b| a + b, |&held| held <= room)
}
