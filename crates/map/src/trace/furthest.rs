//! Alignments with gaps, of few edits: how far down each diagonal one comes with so many edits and
//! gaps (Landau and Vishkin, 1989, with a level for each number of gaps).
//!
//! A cell is a row (bases of the query that are behind) and a diagonal. What can be reached with so
//! many edits and gaps can be reached on all rows above, too, so that the furthest row says all of a
//! diagonal: also whether a way back through some cell is one with the fewest.

use super::{Band, Operation};
use crate::NMode;
use crate::queries::Query;
use crate::reference::Text;
use crate::verify::hamming::mismatches;

/// No row: of a diagonal that cannot be reached.
const NONE: i16 = i16::MIN / 2;

/// The furthest rows on a diagonal: however the alignment ends there, ending with a deletion, ending
/// with an insertion.
#[derive(Clone, Copy, Debug)]
struct Rows {
    any: i16,
    deletion: i16,
    insertion: i16,
}

const NOWHERE: Rows = Rows { any: NONE, deletion: NONE, insertion: NONE };

/// A thread's memory.
#[derive(Debug, Default)]
pub(super) struct Furthest {
    /// Words of each diagonal: the rows whose base differs from the text's.
    differs: Vec<u64>,
    words: usize,
    /// By gaps, by edits, by diagonal.
    rows: Vec<Rows>,
    /// By end: whether it has as few edits as the first one, and no fewer.
    ties: Vec<bool>,
    plain: [Vec<i16>; 2],
}

/// The most edits, so that the rows of a thread do not take much memory.
const MOST_EDITS: usize = 64;

impl Furthest {
    /// Whether few enough edits are looked for that it takes less time than a table of all cells.
    pub(super) fn suits(query: &Query<'_>, edits: usize) -> bool {
        edits <= MOST_EDITS && edits * edits <= query.len
    }

    /// Calls `push` with the runs of the alignment of a band, from its end on, and gives the number
    /// of its end and its first diagonal's; `None` if the band has none.
    pub(super) fn trace(
        &mut self,
        query: &Query<'_>,
        text: &Text<'_>,
        band: &Band,
        mode: NMode,
        push: impl FnMut(Operation, u32),
    ) -> Option<[usize; 2]> {
        self.load(query, text, band, mode);
        self.rows.clear();
        let len = query.len as i16;
        let mut judged = false;
        for gaps in 0..=band.edits {
            self.level(band, gaps, len);
            let last = self.rows.len() - band.width + band.edits;
            let reached = |this: &Furthest, end: usize| this.rows[last + end].any == len;
            let mut found = reached(self, 0).then_some(0);
            if found.is_none() && (1..band.ends).any(|end| reached(self, end)) {
                if !std::mem::replace(&mut judged, true) {
                    self.judge(band, len);
                }
                found = (1..band.ends).find(|&end| reached(self, end) && self.ties[end]);
            }
            if let Some(end) = found {
                return Some([end, self.walk(band, gaps, end, query.len, push)]);
            }
        }
        None
    }

    fn load(&mut self, query: &Query<'_>, text: &Text<'_>, band: &Band, mode: NMode) {
        self.words = query.low.len();
        self.differs.clear();
        for diagonal in 0..band.width {
            let first = band.first + diagonal as i64;
            let words = (0..self.words).map(|word| {
                let at = first + 64 * word as i64;
                match usize::try_from(at) {
                    Ok(at) => mismatches(query, text, at, word, mode),
                    // Rows before the text's beginning are never looked at.
                    Err(_) if at <= -64 => 0,
                    Err(_) => before_text(query, text, at, word, mode),
                }
            });
            self.differs.extend(words);
        }
    }

    /// The first row from `row` on whose base differs, on a diagonal.
    #[inline]
    fn next(&self, diagonal: usize, row: i16, len: i16) -> i16 {
        let own = &self.differs[diagonal * self.words..][..self.words];
        let mut word = row as usize / 64;
        let Some(&bits) = own.get(word) else { return len };
        let mut bits = bits & u64::MAX << (row % 64);
        while bits == 0 {
            word += 1;
            match own.get(word) {
                Some(&next) => bits = next,
                None => return len,
            }
        }
        (64 * word) as i16 + bits.trailing_zeros() as i16
    }

    /// The row behind the last one before `row` whose base differs, on a diagonal; 0 if there is
    /// none.
    #[inline]
    fn behind_last(&self, diagonal: usize, row: usize) -> usize {
        let own = &self.differs[diagonal * self.words..][..self.words];
        let mut word = (row - 1) / 64;
        let mut bits = own[word] & u64::MAX >> (63 - (row - 1) % 64);
        while bits == 0 {
            if word == 0 {
                return 0;
            }
            word -= 1;
            bits = own[word];
        }
        64 * word + 64 - bits.leading_zeros() as usize
    }

    /// Appends the rows of alignments with at most so many gaps.
    fn level(&mut self, band: &Band, gaps: usize, len: i16) {
        let (width, size) = (band.width, band.width * (band.edits + 1));
        let base = gaps * size;
        for diagonal in 0..width {
            let any = match band.first + diagonal as i64 >= band.from {
                true => self.next(diagonal, 0, len),
                false => NONE,
            };
            self.rows.push(Rows { any, ..NOWHERE });
        }
        for edits in 1..=band.edits {
            let before = base + (edits - 1) * width;
            for diagonal in 0..width {
                let mut found = NOWHERE;
                let own = self.rows[before + diagonal].any;
                if own >= 0 {
                    found.any = (own + 1).min(len);
                }
                if gaps > 0 && diagonal > 0 {
                    let left = before + diagonal - 1;
                    found.deletion = self.rows[left].deletion.max(self.rows[left - size].any);
                }
                if gaps > 0 && diagonal + 1 < width {
                    let right = before + diagonal + 1;
                    let from = self.rows[right].insertion.max(self.rows[right - size].any);
                    if from >= 0 {
                        // What comes to the last row comes to the one before, too.
                        found.insertion = (from + 1).min(len);
                    }
                }
                let any = found.any.max(found.deletion).max(found.insertion);
                found.any = if any >= 0 { self.next(diagonal, any, len) } else { NONE };
                self.rows.push(found);
            }
        }
    }

    /// Finds out which of the ends that are reached have no fewer edits than the first.
    fn judge(&mut self, band: &Band, len: i16) {
        let [mut before, mut now] = std::mem::take(&mut self.plain);
        before.clear();
        before.extend(self.rows[..band.width].iter().map(|rows| rows.any));
        for _ in 1..band.edits {
            now.clear();
            for diagonal in 0..band.width {
                let at = |diagonal: usize| before.get(diagonal).copied().unwrap_or(NONE);
                let deletion = if diagonal > 0 { at(diagonal - 1) } else { NONE };
                let any = (at(diagonal) + 1).max(at(diagonal + 1) + 1).min(len).max(deletion);
                now.push(if any >= 0 { self.next(diagonal, any, len) } else { NONE });
            }
            std::mem::swap(&mut before, &mut now);
        }
        self.ties.clear();
        self.ties.extend(before[band.edits..][..band.ends].iter().map(|&row| row < len));
        self.plain = [before, now];
    }

    /// The way back from an end; gives the diagonal on which it begins.
    fn walk(
        &self,
        band: &Band,
        mut gaps: usize,
        end: usize,
        len: usize,
        mut push: impl FnMut(Operation, u32),
    ) -> usize {
        let (mut row, mut diagonal, mut edits) = (len, band.edits + end, band.edits);
        let at = |gaps: usize, edits: usize, diagonal: usize| {
            &self.rows[(gaps * (band.edits + 1) + edits) * band.width + diagonal]
        };
        while row > 0 {
            let least = (band.from - band.first - diagonal as i64).max(0) as usize;
            let matched = self.behind_last(diagonal, row).max(least);
            push(Operation::Match, (row - matched) as u32);
            row = matched;
            if row == 0 {
                break;
            }
            let reaches = |furthest: i16| furthest >= row as i16;
            if row > least && edits > 0 && at(gaps, edits - 1, diagonal).any >= row as i16 - 1 {
                push(Operation::Mismatch, 1);
                (row, edits) = (row - 1, edits - 1);
            } else if reaches(at(gaps, edits, diagonal).deletion) {
                let mut run = 0;
                while run == 0 || !reaches(at(gaps - 1, edits, diagonal).any) {
                    (diagonal, edits, run) = (diagonal - 1, edits - 1, run + 1);
                }
                push(Operation::Deletion, run);
                gaps -= 1;
            } else {
                let mut run = 0;
                while run == 0 || at(gaps - 1, edits, diagonal).any < row as i16 {
                    (row, diagonal, edits, run) = (row - 1, diagonal + 1, edits - 1, run + 1);
                }
                push(Operation::Insertion, run);
                gaps -= 1;
            }
        }
        diagonal
    }
}

/// As [`mismatches`], of a word whose first bases lie before the text.
#[cold]
fn before_text(query: &Query<'_>, text: &Text<'_>, at: i64, word: usize, mode: NMode) -> u64 {
    (0..64).fold(0, |bits, base| {
        let (row, position) = (64 * word + base, at + base as i64);
        if row >= query.len || position < 0 {
            return bits;
        }
        let [read, letter] = [query.code(row), text.code(position as usize)];
        let same = if read == 4 || letter == 4 { mode == NMode::Match } else { read == letter };
        bits | u64::from(!same) << base
    })
}
