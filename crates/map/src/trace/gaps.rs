//! Alignments with gaps: among those with the fewest edits, the one with the fewest gaps.
//!
//! Every prefix of an alignment with the fewest edits has the fewest edits up to its end. Therefore a search
//! from the ends upwards follows only steps that lose as many edits as they cost, and visits few cells. Gaps
//! are counted in these cells from the first row on, and the alignment is then read off backwards.

use merganser_run::Cancel;

use super::Band;
use super::waves::Waves;
use crate::queries::Query;
use crate::reference::Text;
use crate::{NMode, Operation};

/// Bits of a cell: the steps that lead to it with the fewest edits. `ALIGNED` is the step from the row above on
/// the same diagonal, `SAME` says that its bases match; the others are a deletion and an insertion.
const ALIGNED: u8 = 1;
const SAME: u8 = 2;
const DELETION: u8 = 4;
const INSERTION: u8 = 8;
/// After gaps have been counted, `ALIGNED`, `DELETION` and `INSERTION` are only set for steps with the fewest
/// gaps; these bits then say that a deletion or an insertion that ends in the cell also begins there.
const DELETION_BEGINS: u8 = 16;
const INSERTION_BEGINS: u8 = 32;

/// A number of gaps larger than any alignment has.
const FAR: u16 = u16::MAX / 2;

/// A number of edits that marks a cell as on no alignment.
const OFF: u16 = u16::MAX;

/// One row with its cells, or consecutive rows that only have matches.
#[derive(Clone, Copy, Debug)]
struct RowGroup {
    /// The number of rows: one, or those of a run of matches on a single diagonal, which has no cells.
    rows: u32,
    /// The last diagonal.
    last: u32,
    /// The range of the cells in [`Gaps::cells`], from the last diagonal down.
    cells: [u32; 2],
}

impl RowGroup {
    fn is_run(&self) -> bool {
        self.cells[0] == self.cells[1]
    }
}

/// Working space of one thread.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    waves: Waves,
    /// Row groups, from the last row up.
    segments: Vec<RowGroup>,
    cells: Vec<u8>,
    /// The edits of the cells of the current row and of the row above it, by diagonal.
    row: Vec<u16>,
    above: Vec<u16>,
    /// The fewest gaps by diagonal, of the row above until the row itself has been computed: of any alignment,
    /// and of those that end with an insertion.
    any: Vec<u16>,
    insertion: Vec<u16>,
}

impl Gaps {
    /// Calls `push` with the runs of a band's alignment, from its end on, and returns the number of its end and
    /// the diagonal on which it begins. Returns `None` if the band has no alignment, or if the run is
    /// cancelled.
    pub(super) fn trace(
        &mut self,
        query: &Query<'_>,
        text: &Text<'_>,
        band: &Band,
        mode: NMode,
        cancel: &Cancel,
        push: impl FnMut(Operation, u32),
    ) -> Option<[usize; 2]> {
        if !self.waves.fill(query, text, band, mode, cancel) {
            return None;
        }
        let [first, last] = self.begin(band, query.len as i16)?;
        self.collect(band, query.len, [first, last], cancel)?;
        self.count();
        let end = (first..=last).filter(|&end| self.is_tie(band, end, query.len as i16));
        let end = end.min_by_key(|&end| self.any[end])?;
        Some([end - band.edits, self.walk(end, push)])
    }

    /// Whether the end on a diagonal has exactly the band's number of edits.
    fn is_tie(&self, band: &Band, diagonal: usize, len: i16) -> bool {
        let reached = |edits| self.waves.furthest(edits, diagonal) == len;
        reached(band.edits) && (band.edits == 0 || !reached(band.edits - 1))
    }

    /// Initializes the last row, and returns its first and last diagonal with an end.
    fn begin(&mut self, band: &Band, len: i16) -> Option<[usize; 2]> {
        for row in [&mut self.row, &mut self.above] {
            row.clear();
            row.resize(band.width, OFF);
        }
        for (gaps, value) in [(&mut self.any, 0), (&mut self.insertion, FAR)] {
            gaps.clear();
            gaps.resize(band.width, value);
        }
        let mut bounds = None;
        for end in band.edits..band.edits + band.ends {
            if self.is_tie(band, end, len) {
                self.row[end] = band.edits as u16;
                bounds =
                    bounds.map_or(Some([end, end]), |[first, _]: [usize; 2]| Some([first, end]));
            }
        }
        bounds
    }

    /// Collects the cells of the alignments with the fewest edits; `None` if cancelled.
    fn collect(
        &mut self,
        band: &Band,
        len: usize,
        bounds: [usize; 2],
        cancel: &Cancel,
    ) -> Option<()> {
        self.segments.clear();
        self.cells.clear();
        let (mut row, mut bounds) = (len, bounds);
        while row > 0 {
            if cancel.is_cancelled() {
                return None;
            }
            let [first, last] = bounds;
            if first == last {
                let rows = self.run(band, row, first);
                if rows > 0 {
                    let cells = [self.cells.len() as u32; 2];
                    self.segments.push(RowGroup { rows: rows as u32, last: last as u32, cells });
                    row -= rows;
                    continue;
                }
            }
            bounds = self.collect_row(band, row, bounds);
            std::mem::swap(&mut self.row, &mut self.above);
            row -= 1;
        }
        Some(())
    }

    /// Returns the number of rows above and including this one that only have matches, if its only cell is on
    /// this diagonal.
    fn run(&self, band: &Band, row: usize, diagonal: usize) -> usize {
        let edits = usize::from(self.row[diagonal]);
        let matched = self.waves.begin_of_matches(diagonal, row).max(band.least(diagonal));
        if edits == 0 {
            return row - matched;
        }
        let deletion = self.waves.furthest(edits - 1, diagonal - 1);
        let insertion = self.waves.furthest(edits - 1, diagonal + 1) + 1;
        row.saturating_sub(matched.max(deletion.max(insertion).max(0) as usize))
    }

    /// Appends the cells of a row and finds those of the row above; returns the first and last diagonal of
    /// these.
    fn collect_row(&mut self, band: &Band, row: usize, bounds: [usize; 2]) -> [usize; 2] {
        let ([mut first, last], mut above) = (bounds, [usize::MAX, 0]);
        let from = self.cells.len() as u32;
        let mut diagonal = last;
        loop {
            let edits = std::mem::replace(&mut self.row[diagonal], OFF);
            let ways = if edits == OFF { 0 } else { self.ways(band, row, diagonal, edits) };
            self.cells.push(ways);
            let mut found = |diagonal: usize, edits: u16| {
                self.above[diagonal] = edits;
                above = [above[0].min(diagonal), above[1].max(diagonal)];
            };
            if ways & ALIGNED != 0 {
                found(diagonal, edits - u16::from(ways & SAME == 0));
            }
            if ways & INSERTION != 0 {
                found(diagonal + 1, edits - 1);
            }
            if ways & DELETION != 0 {
                self.row[diagonal - 1] = edits - 1;
                first = first.min(diagonal - 1);
            }
            if diagonal == first {
                break;
            }
            diagonal -= 1;
        }
        let cells = [from, self.cells.len() as u32];
        self.segments.push(RowGroup { rows: 1, last: last as u32, cells });
        above
    }

    /// Returns the steps that lead to a cell with the fewest edits.
    fn ways(&self, band: &Band, row: usize, diagonal: usize, edits: u16) -> u8 {
        let mut ways = 0;
        let reached = |row: usize, diagonal: usize| {
            edits > 0 && self.waves.furthest(usize::from(edits) - 1, diagonal) >= row as i16
        };
        if band.holds(row - 1, diagonal) {
            if self.waves.matches(row - 1, diagonal) {
                ways |= ALIGNED | SAME;
            } else if reached(row - 1, diagonal) {
                ways |= ALIGNED;
            }
        }
        if edits > 0 && band.holds(row, diagonal - 1) && reached(row, diagonal - 1) {
            ways |= DELETION;
        }
        if reached(row - 1, diagonal + 1) {
            ways |= INSERTION;
        }
        ways
    }

    /// Counts gaps, and keeps only the steps with the fewest.
    fn count(&mut self) {
        for at in (0..self.segments.len()).rev() {
            let segment = self.segments[at];
            match segment.is_run() {
                true => self.insertion[segment.last as usize] = FAR,
                false => self.count_row(segment),
            }
        }
    }

    fn count_row(&mut self, segment: RowGroup) {
        let [from, to] = segment.cells.map(|at| at as usize);
        let first = segment.last as usize + 1 - (to - from);
        let (mut left, mut deletion) = (FAR, FAR);
        for (diagonal, ways) in (first..).zip(self.cells[from..to].iter_mut().rev()) {
            let had = *ways;
            let [mut aligned, mut insertion] = [FAR, FAR];
            *ways &= SAME;
            if had & ALIGNED != 0 {
                aligned = self.any[diagonal];
            }
            if had & INSERTION != 0 {
                let [above, longer] = [self.any[diagonal + 1], self.insertion[diagonal + 1]];
                insertion = longer.min(above + 1);
                *ways |= bit(above < longer, INSERTION_BEGINS);
            }
            if had & DELETION != 0 {
                *ways |= bit(left < deletion, DELETION_BEGINS);
                deletion = deletion.min(left + 1);
            } else {
                deletion = FAR;
            }
            left = aligned.min(deletion).min(insertion);
            *ways |= bit(left == aligned, ALIGNED) | bit(left == deletion, DELETION);
            (self.any[diagonal], self.insertion[diagonal]) = (left, insertion);
        }
    }

    /// Follows the steps backwards from an end, and returns the diagonal on which the alignment begins.
    fn walk(&self, end: usize, mut push: impl FnMut(Operation, u32)) -> usize {
        let (mut diagonal, mut inserts) = (end, false);
        for segment in &self.segments {
            if segment.is_run() {
                push(Operation::Match, segment.rows);
                continue;
            }
            let behind = (segment.cells[0] + segment.last) as usize;
            let ways = |diagonal: usize| self.cells[behind - diagonal];
            while !inserts && ways(diagonal) & (ALIGNED | DELETION) == DELETION {
                let mut ends = false;
                while !ends {
                    ends = ways(diagonal) & DELETION_BEGINS != 0;
                    push(Operation::Deletion, 1);
                    diagonal -= 1;
                }
            }
            let ways = ways(diagonal);
            if !inserts && ways & ALIGNED != 0 {
                let same = ways & SAME != 0;
                push(if same { Operation::Match } else { Operation::Mismatch }, 1);
            } else {
                push(Operation::Insertion, 1);
                inserts = ways & INSERTION_BEGINS == 0;
                diagonal += 1;
            }
        }
        diagonal
    }
}

fn bit(holds: bool, bit: u8) -> u8 {
    if holds { bit } else { 0 }
}
