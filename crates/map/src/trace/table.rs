//! Alignments with gaps, of any number of edits: a table of all cells of the band.

use merganser_run::Cancel;

use super::{Band, Operation};
use crate::NMode;
use crate::queries::Query;
use crate::reference::Text;

/// Edits in the upper half, gaps in the lower.
type Cost = u32;
const EDIT: Cost = 1 << 16;
const GAP: Cost = 1;
const FAR: Cost = u32::MAX / 2;

/// What leads to a cell with the fewest edits and gaps, as bits: its diagonal, on which the bases are
/// the same; a deletion; a deletion or an insertion that ends there begins there, too.
const ALIGNED: u8 = 1;
const SAME: u8 = 2;
const DELETION: u8 = 4;
const DELETION_BEGINS: u8 = 8;
const INSERTION_BEGINS: u8 = 16;

/// A thread's memory.
#[derive(Debug, Default)]
pub(super) struct Table {
    ways: Vec<u8>,
    /// By diagonal, of the row above and then of the row itself: the least costs, and those that end
    /// with an insertion.
    any: Vec<Cost>,
    insertion: Vec<Cost>,
}

impl Table {
    /// As [`super::furthest::Furthest::trace`]; `None`, too, if the run is cancelled meanwhile.
    pub(super) fn trace(
        &mut self,
        query: &Query<'_>,
        text: &Text<'_>,
        band: &Band,
        mode: NMode,
        cancel: &Cancel,
        push: impl FnMut(Operation, u32),
    ) -> Option<[usize; 2]> {
        self.begin(query, band);
        for row in 1..=query.len {
            if cancel.is_cancelled() {
                return None;
            }
            self.row(query, text, band, mode, row);
        }
        let costs = &self.any[band.edits..][..band.ends];
        let is_tie = |&end: &usize| (costs[end] / EDIT) as usize == band.edits;
        let end = (0..band.ends).filter(is_tie).min_by_key(|&end| costs[end])?;
        Some([end, self.walk(band, end, query.len, push)])
    }

    /// The row before the first base.
    fn begin(&mut self, query: &Query<'_>, band: &Band) {
        self.ways.clear();
        self.ways.resize((query.len + 1) * band.width, 0);
        self.any.clear();
        self.any.extend((0..band.width).map(|b| if band.holds(0, b) { 0 } else { FAR }));
        self.insertion.clear();
        self.insertion.resize(band.width, FAR);
    }

    fn row(&mut self, query: &Query<'_>, text: &Text<'_>, band: &Band, mode: NMode, row: usize) {
        let read = query.code(row - 1);
        let ways = &mut self.ways[row * band.width..][..band.width];
        let (mut left, mut deletion) = (FAR, FAR);
        for (b, way) in ways.iter_mut().enumerate() {
            if !band.holds(row, b) {
                (self.any[b], self.insertion[b]) = (FAR, FAR);
                continue;
            }
            let [above, inserted] = match b + 1 < band.width {
                true => [self.any[b + 1], self.insertion[b + 1]],
                false => [FAR, FAR],
            };
            let insertion = (above + EDIT + GAP).min(inserted + EDIT);
            let begins = left + EDIT + GAP;
            let longer = deletion + EDIT;
            deletion = begins.min(longer);
            let (mut diagonal, mut same) = (FAR, false);
            if band.holds(row - 1, b) {
                let letter = text.code((band.first + (row - 1 + b) as i64) as usize);
                let known = read < 4 && letter < 4;
                same = if known { read == letter } else { mode == NMode::Match };
                diagonal = self.any[b] + if same { 0 } else { EDIT };
            }
            let any = diagonal.min(deletion).min(insertion);
            let bit = |holds: bool, bit: u8| if holds { bit } else { 0 };
            *way = bit(any == diagonal, ALIGNED)
                | bit(same, SAME)
                | bit(any == deletion, DELETION)
                | bit(begins <= longer, DELETION_BEGINS)
                | bit(above + EDIT + GAP <= inserted + EDIT, INSERTION_BEGINS);
            (self.any[b], self.insertion[b]) = (any.min(FAR), insertion.min(FAR));
            (left, deletion) = (any.min(FAR), deletion.min(FAR));
        }
    }

    /// The way back from an end; gives the diagonal on which it begins.
    fn walk(
        &self,
        band: &Band,
        end: usize,
        len: usize,
        mut push: impl FnMut(Operation, u32),
    ) -> usize {
        let (mut row, mut b) = (len, band.edits + end);
        let way = |row: usize, b: usize, bit: u8| self.ways[row * band.width + b] & bit != 0;
        while row > 0 {
            if way(row, b, ALIGNED) {
                let same = way(row, b, SAME);
                push(if same { Operation::Match } else { Operation::Mismatch }, 1);
                row -= 1;
            } else if way(row, b, DELETION) {
                let mut ends = false;
                while !ends {
                    ends = way(row, b, DELETION_BEGINS);
                    push(Operation::Deletion, 1);
                    b -= 1;
                }
            } else {
                let mut ends = false;
                while !ends {
                    ends = way(row, b, INSERTION_BEGINS);
                    push(Operation::Insertion, 1);
                    (row, b) = (row - 1, b + 1);
                }
            }
        }
        b
    }
}
