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

/// A text, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Piece<'t> {
    pub(crate) letters: &'t [u8],
    /// The ends (positions after a last letter) that are reported. Those before the range are known from another piece.
    pub(crate) owned: Range<usize>,
    /// Whether the first letter is that of the sequence.
    pub(crate) begins: bool,
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

    /// Appends the ends in some pieces of all queries that are scanned in the complement of the text, or of the others.
    /// Returns `false`, with some of the ends, if there are more than `most`.
    pub(crate) fn scan(
        &mut self,
        pieces: &[Piece<'_>],
        queries: &Queries,
        in_complement: bool,
        most: usize,
        ends: &mut Vec<PieceEnd>,
    ) -> bool {
        let first = ends.len();
        let mut lanes = lanes(pieces, queries.reach());
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
            let queries_here = (0..).zip(queries.all());
            for (number, query) in queries_here.filter(|one| one.1.in_complement == in_complement) {
                self.found.clear();
                self.scan_tile(queries, query);
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
fn is_anchored(queries: &Queries, pieces: &[Piece<'_>], end: &PieceEnd) -> bool {
    let after = &pieces[end.piece as usize].letters[end.end.position..];
    let bases = after.iter().map(|&letter| text_bases(letter, queries.n_matches()));
    queries.anchor().is_none_or(|anchor| anchor.follows(bases))
}

/// Divides pieces into lanes. Each begins `reach` letters before the first end that it reports, so that it has all
/// alignments of its ends.
fn lanes(pieces: &[Piece<'_>], reach: usize) -> Vec<Lane> {
    let mut lanes = Vec::new();
    for (piece, Piece { letters, owned, .. }) in pieces.iter().enumerate() {
        let (first, last) = (owned.start.max(1), owned.end.min(letters.len() + 1));
        for from in (first..last).step_by(OWN_COLUMNS) {
            let to = last.min(from + OWN_COLUMNS);
            let start = (from - 1).saturating_sub(reach);
            lanes.push(Lane { piece, letters: start..to - 1, skipped: from - 1 - start });
        }
    }
    lanes
}
