//! How far down each diagonal one comes with so many edits (Ukkonen, 1985; Landau and Vishkin, 1989).
//!
//! A cell is a row (bases of the query that are behind) and a diagonal. What can be reached with so
//! many edits can be reached on all rows above, too, so that the furthest row says all of a diagonal.
//! Only the diagonals are kept from which the edits that are left lead to an end: one less on each
//! side with each edit.

use merganser_run::Cancel;
use merganser_seq::planes::window;

use super::Band;
use crate::NMode;
use crate::queries::Query;
use crate::reference::Text;

/// No row: of a diagonal that cannot be reached. No number of edits makes a row of it.
const NONE: i16 = i16::MIN / 2;

/// Letters that are compared at once.
const STEP: usize = 8;

/// A thread's memory.
#[derive(Debug, Default)]
pub(super) struct Waves {
    /// The query's letters from `STEP` on, and the text's, that of row 0 and diagonal 0 first: a bit
    /// for each base. Letters match if they have a bit in common. There are zeros before and behind
    /// both, and in place of the text's letters behind the last end.
    query: Vec<u8>,
    text: Vec<u8>,
    /// By edits, by diagonal: the furthest rows.
    rows: Vec<i16>,
    width: usize,
}

impl Waves {
    /// Fills in the rows of all numbers of edits of a band; false if the run is cancelled meanwhile.
    pub(super) fn fill(
        &mut self,
        query: &Query<'_>,
        text: &Text<'_>,
        band: &Band,
        mode: NMode,
        cancel: &Cancel,
    ) -> bool {
        self.load(query, text, band, mode);
        self.begin(band);
        for edits in 1..=band.edits {
            if cancel.is_cancelled() {
                return false;
            }
            self.widen(edits, query.len as i16);
            self.extend(edits);
        }
        true
    }

    fn load(&mut self, query: &Query<'_>, text: &Text<'_>, band: &Band, mode: NMode) {
        let other = if mode == NMode::Match { u64::MAX / 17 } else { 0 };
        self.query.clear();
        self.query.resize(STEP, 0);
        spread([query.low, query.high, query.others], 0, query.len, other, &mut self.query);
        self.query.resize(STEP + query.len + STEP, 0);
        // Letters of the contigs before are never looked at.
        let before = (-band.first).max(0) as usize;
        self.text.clear();
        self.text.resize(STEP + before, 0);
        let letters = query.len + band.edits + band.ends - 1 - before;
        let planes = [text.low, text.high, text.others];
        spread(planes, (band.first + before as i64) as usize, letters, other, &mut self.text);
        self.text.resize(STEP + query.len + band.width + STEP, 0);
    }

    /// The rows without edits.
    fn begin(&mut self, band: &Band) {
        self.width = band.width;
        self.rows.clear();
        self.rows.resize((band.edits + 1) * (band.width - band.edits), NONE);
        for diagonal in 0..band.width {
            if band.holds(0, diagonal) {
                self.rows[diagonal] = self.end_of_matches(diagonal, 0);
            }
        }
    }

    /// Where the rows with so many edits begin: those of diagonal `edits`.
    fn begin_of(&self, edits: usize) -> usize {
        edits * (self.width + 1 - edits)
    }

    /// Rows with so many edits right behind the last one.
    fn widen(&mut self, edits: usize, len: i16) {
        let begin = self.begin_of(edits);
        let (behind, own) = self.rows.split_at_mut(begin);
        let own = &mut own[..self.width - 2 * edits];
        let before = &behind[behind.len() - own.len() - 2..];
        let [deleted, changed, inserted] = [0, 1, 2].map(|at| &before[at..][..own.len()]);
        for (((own, &deleted), &changed), &inserted) in
            own.iter_mut().zip(deleted).zip(changed).zip(inserted)
        {
            // What comes to the last row comes to the one before, too.
            *own = deleted.max((changed.max(inserted) + 1).min(len));
        }
    }

    /// Lets rows with so many edits go on along matches.
    fn extend(&mut self, edits: usize) {
        let begin = self.begin_of(edits);
        for at in 0..self.width - 2 * edits {
            let row = self.rows[begin + at];
            if row >= 0 {
                self.rows[begin + at] = self.end_of_matches(edits + at, row);
            }
        }
    }

    /// The first row from `row` on whose base differs, on a diagonal.
    #[inline(always)]
    fn end_of_matches(&self, diagonal: usize, row: i16) -> i16 {
        let mut row = row as usize;
        loop {
            let differs = differs(&self.query[STEP + row..], &self.text[STEP + row + diagonal..]);
            if differs != 0 {
                return (row + differs.trailing_zeros() as usize / 8) as i16;
            }
            row += STEP;
        }
    }

    /// The row behind the last one before `row` whose base differs, on a diagonal; 0 if there is none.
    pub(super) fn begin_of_matches(&self, diagonal: usize, row: usize) -> usize {
        let mut row = row;
        loop {
            let differs = differs(&self.query[row..], &self.text[row + diagonal..]);
            if differs != 0 {
                // The letters before the query differ.
                return row - differs.leading_zeros() as usize / 8;
            }
            row -= STEP;
        }
    }

    /// Whether the bases of a row and a diagonal match.
    #[inline]
    pub(super) fn matches(&self, row: usize, diagonal: usize) -> bool {
        self.query[STEP + row] & self.text[STEP + row + diagonal] != 0
    }

    /// The furthest row on a diagonal with so many edits, below 0 if there is none. From the diagonal
    /// so many other edits lead to an end.
    #[inline]
    pub(super) fn furthest(&self, edits: usize, diagonal: usize) -> i16 {
        self.rows[self.begin_of(edits) + diagonal - edits]
    }
}

/// The upper bit of each of the first bytes that have no bit in common.
#[inline(always)]
fn differs(a: &[u8], b: &[u8]) -> u64 {
    let word = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().expect("letters are padded"));
    let each = u64::MAX / 255;
    // No byte has more than 4 bits, so that there is no carry from one to the next.
    !((word(a) & word(b)) + 0x7f * each) & (0x80 * each)
}

/// Appends letters of planes, those that are no bases as `other` has them.
fn spread(planes: [&[u64]; 3], from: usize, count: usize, other: u64, letters: &mut Vec<u8>) {
    let len = letters.len();
    letters.reserve(count.next_multiple_of(64));
    for at in (from..from + count).step_by(64) {
        let [low, high, others] = planes.map(|plane| window(plane, at));
        for byte in (0..64).step_by(8) {
            let each = |bits: u64| EACH_BIT[(bits >> byte) as usize & 255];
            let (single, high, others) =
                (u64::MAX / 255 + each(low), each(high) * 255, each(others) * 255);
            let base = single & !high | single << 2 & high;
            letters.extend_from_slice(&(base & !others | other & others).to_le_bytes());
        }
    }
    letters.truncate(len + count);
}

/// Of each byte: its bits as bytes, the lowest first.
static EACH_BIT: [u64; 256] = {
    let mut bytes = [0; 256];
    let mut at = 0;
    while at < 256 * 8 {
        let (byte, bit) = (at / 8, at % 8);
        bytes[byte] |= ((byte >> bit) as u64 & 1) << (8 * bit);
        at += 1;
    }
    bytes
};
