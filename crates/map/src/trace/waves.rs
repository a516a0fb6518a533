//! The furthest row that each diagonal reaches with 0, 1, 2, … edits (Ukkonen, 1985; Landau and Vishkin, 1989).
//!
//! A cell is a row (the number of aligned bases of the query) and a diagonal. If a number of edits reaches a
//! row, it also reaches all rows above it on the diagonal, so the furthest row is enough. Only diagonals from
//! which the remaining edits can lead to an end are kept: with each edit there is one less on each side.

use merganser_run::Cancel;
use merganser_seq::planes::window;

use super::Band;
use crate::NMode;
use crate::queries::Query;
use crate::reference::Text;

/// The row of a diagonal that cannot be reached; adding edits to it does not make it valid.
const NONE: i16 = i16::MIN / 2;

/// The number of letters that are compared at once.
const STEP: usize = 8;

/// Working space of one thread.
#[derive(Debug, Default)]
pub(super) struct Waves {
    /// Letters of the query, from index `STEP` on, and of the text, beginning with the letter of row 0 and
    /// diagonal 0. Each has one bit for each base that it matches; two letters match if they have a bit in
    /// common. There are zeros before and after both, and instead of the text's letters after the last end.
    query: Vec<u8>,
    text: Vec<u8>,
    /// The furthest rows, by edits, then by diagonal.
    rows: Vec<i16>,
    width: usize,
}

impl Waves {
    /// Computes the rows for all numbers of edits of a band; returns false if the run is cancelled.
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
        // Letters before the contig are never compared.
        let before = (-band.first).max(0) as usize;
        self.text.clear();
        self.text.resize(STEP + before, 0);
        let letters = query.len + band.edits + band.ends - 1 - before;
        let planes = [text.low, text.high, text.others];
        spread(planes, (band.first + before as i64) as usize, letters, other, &mut self.text);
        self.text.resize(STEP + query.len + band.width + STEP, 0);
    }

    /// Computes the rows without edits.
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

    /// Returns the index of the rows with this many edits; the first one belongs to diagonal `edits`.
    fn begin_of(&self, edits: usize) -> usize {
        edits * (self.width + 1 - edits)
    }

    /// Computes the rows with `edits` edits immediately after the last edit.
    fn widen(&mut self, edits: usize, len: i16) {
        let begin = self.begin_of(edits);
        let (behind, own) = self.rows.split_at_mut(begin);
        let own = &mut own[..self.width - 2 * edits];
        let before = &behind[behind.len() - own.len() - 2..];
        let [deleted, changed, inserted] = [0, 1, 2].map(|at| &before[at..][..own.len()]);
        for (((own, &deleted), &changed), &inserted) in
            own.iter_mut().zip(deleted).zip(changed).zip(inserted)
        {
            // A step that reaches the last row has also reached the one before it.
            *own = deleted.max((changed.max(inserted) + 1).min(len));
        }
    }

    /// Extends the rows with `edits` edits along matches.
    fn extend(&mut self, edits: usize) {
        let begin = self.begin_of(edits);
        for at in 0..self.width - 2 * edits {
            let row = self.rows[begin + at];
            if row >= 0 {
                self.rows[begin + at] = self.end_of_matches(edits + at, row);
            }
        }
    }

    /// Returns the first row at or after `row` whose bases differ on a diagonal.
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

    /// Returns the row after the last one before `row` whose bases differ on a diagonal; 0 if all bases match.
    pub(super) fn begin_of_matches(&self, diagonal: usize, row: usize) -> usize {
        let mut row = row;
        loop {
            let differs = differs(&self.query[row..], &self.text[row + diagonal..]);
            if differs != 0 {
                // The zeros before the query differ from every letter, so the loop ends.
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

    /// Returns the furthest row on a diagonal with `edits` edits; negative if no row can be reached. The remaining
    /// edits must be able to lead from the diagonal to an end.
    #[inline]
    pub(super) fn furthest(&self, edits: usize, diagonal: usize) -> i16 {
        self.rows[self.begin_of(edits) + diagonal - edits]
    }
}

/// Returns, for each of the first eight bytes, its upper bit set if the two have no bit in common.
#[inline(always)]
fn differs(a: &[u8], b: &[u8]) -> u64 {
    let word = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().expect("letters are padded"));
    let each = u64::MAX / 255;
    // The sum of a byte never carries into the next one, because letters use only 4 bits.
    !((word(a) & word(b)) + 0x7f * each) & (0x80 * each)
}

/// Appends `count` letters of planes as bits; ambiguous letters become the bytes of `other`.
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

/// The bits of each byte value as eight bytes, the lowest bit first.
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
