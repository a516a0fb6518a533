//! The scan of texts: all ends of all patterns, tile by tile.

use std::ops::Range;

use merganser_seq::lanes::LANES;
use merganser_seq::simd::Level;

use crate::edits::{LaneEnd, Rows};
use crate::hamming;
use crate::letters::text_bases;
use crate::queries::{Queries, Query};
use crate::select::End;
use crate::tile::{Stretch, Tile};

/// The number of ends that a lane reports, for long texts.
pub(crate) const OWN_COLUMNS: usize = if cfg!(test) { 60 } else { 960 };

/// The least number of ends that a lane reports, unless its part has fewer.
const MIN_OWN_COLUMNS: usize = 8;

/// A text, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Piece<'t> {
    pub(crate) letters: &'t [u8],
    /// The ends (positions after a last letter) that are reported. Those before the range are known from another piece.
    pub(crate) owned: Range<usize>,
    /// Whether the first letter is that of the sequence.
    pub(crate) begins: bool,
}

/// Ends that a scan reports: a range of those of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) piece: usize,
    pub(crate) ends: Range<usize>,
}

impl Part {
    /// Returns the parts that have all ends that pieces report.
    pub(crate) fn all(pieces: &[Piece<'_>]) -> Vec<Part> {
        let whole = |(piece, one): (usize, &Piece<'_>)| Part { piece, ends: one.owned.clone() };
        pieces.iter().enumerate().map(whole).collect()
    }
}

/// An end of a query in a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PieceEnd {
    pub(crate) piece: u32,
    pub(crate) query: u32,
    pub(crate) end: End,
}

/// The scanner of a thread.
#[derive(Debug)]
pub(crate) struct Scanner {
    level: Level,
    tile: Tile,
    rows: Rows,
    found: Vec<LaneEnd>,
}

/// A lane: the number of its piece, the range of its letters, and the first column that it reports.
#[derive(Clone, Debug)]
struct Lane {
    piece: usize,
    letters: Range<usize>,
    skipped: usize,
}

impl Scanner {
    pub(crate) fn new(level: Level) -> Scanner {
        Scanner { level, tile: Tile::default(), rows: Rows::default(), found: Vec::new() }
    }

    /// Appends the ends in some parts of pieces of the queries with the given numbers.
    /// Returns `false`, with some of the ends, if there are more than `most`.
    pub(crate) fn scan(
        &mut self,
        pieces: &[Piece<'_>],
        parts: &[Part],
        queries: &Queries,
        numbers: &[u32],
        most: usize,
        ends: &mut Vec<PieceEnd>,
    ) -> bool {
        if numbers.is_empty() {
            return true;
        }
        let first = ends.len();
        let mut lanes = lanes(pieces, parts, queries.reach());
        // Lanes of a tile should have the same length.
        lanes.sort_by_key(|lane| std::cmp::Reverse(lane.letters.len()));
        for lanes in lanes.chunks(LANES) {
            let stretches: Vec<Stretch<'_>> = lanes
                .iter()
                .map(|lane| {
                    let piece = &pieces[lane.piece];
                    let letters = &piece.letters[lane.letters.clone()];
                    Stretch { letters, begins: piece.begins && lane.letters.start == 0 }
                })
                .collect();
            self.tile.load(self.level, &stretches, queries.sets(), queries.n_matches());
            for &number in numbers {
                self.found.clear();
                self.scan_tile(queries, &queries.all()[number as usize]);
                let found = &self.found;
                let own = found.iter().filter_map(|found| own_end(lanes, number, found));
                ends.extend(own.filter(|end| is_anchored(queries, pieces, end)));
                if ends.len() - first > most {
                    return false;
                }
            }
        }
        true
    }
}

impl Scanner {
    /// Appends the ends of a query in the tile.
    fn scan_tile(&mut self, queries: &Queries, query: &Query) {
        let (level, tile, found) = (self.level, &self.tile, &mut self.found);
        let (sets, edits) = (&query.sets, query.edits);
        match queries.hamming() {
            false => self.rows.scan(level, tile, sets, edits, queries.overhang(), found),
            true => hamming::scan(level, tile, sets, edits, found),
        }
    }
}

/// Returns the end that a lane has found, unless it belongs to another lane or lies after the lane's letters.
fn own_end(lanes: &[Lane], query: u32, found: &LaneEnd) -> Option<PieceEnd> {
    let lane = lanes.get(usize::from(found.lane))?;
    let column = found.column as usize;
    let is_own = (lane.skipped..lane.letters.len()).contains(&column);
    let end = End { position: lane.letters.start + column + 1, edits: usize::from(found.edits) };
    is_own.then_some(PieceEnd { piece: lane.piece as u32, query, end })
}

/// Whether the letters after an end are those of the anchor, if there is one.
pub(crate) fn is_anchored(queries: &Queries, pieces: &[Piece<'_>], end: &PieceEnd) -> bool {
    let after = &pieces[end.piece as usize].letters[end.end.position..];
    let bases = after.iter().map(|&letter| text_bases(letter, queries.n_matches()));
    queries.anchor().is_none_or(|anchor| anchor.follows(bases))
}

/// Divides parts into lanes. Each begins `reach` letters before the first end that it reports, so that it has all
/// alignments of its ends.
fn lanes(pieces: &[Piece<'_>], parts: &[Part], reach: usize) -> Vec<Lane> {
    let mut lanes = Vec::new();
    // The columns of a tile take the same time however many lanes it has.
    let whole: usize = parts.iter().map(|part| part.ends.len()).sum();
    let own = whole.div_ceil(LANES).clamp(MIN_OWN_COLUMNS, OWN_COLUMNS);
    for Part { piece, ends } in parts {
        let (first, last) = (ends.start.max(1), ends.end.min(pieces[*piece].letters.len() + 1));
        for from in (first..last).step_by(own) {
            let to = last.min(from + own);
            let start = (from - 1).saturating_sub(reach);
            lanes.push(Lane { piece: *piece, letters: start..to - 1, skipped: from - 1 - start });
        }
    }
    lanes
}
