//! The local alignment of a read near a hit by BWA-MEM's scores, with affine gaps and clipped ends (Gotoh, 1982).
//!
//! The alignment of a hit has the fewest edits. With many edits, that splits a gap in two, or aligns bases beyond a gap
//! as mismatches, which are clipped. Variant callers take both for variants.

use super::clip::{CLIP, GAP, MATCH, MISMATCH};
use super::report::of_letters;
use crate::queries::Query;
use crate::reference::Text;
use crate::{Contig, NMode, Operation};

/// The maximum number of cells, each of a byte: reads of up to 4,500 bases with 10 % edits have no more. More would exceed
/// the memory of a thread, and take long for each read.
pub(super) const MAX_CELLS: usize = 1 << 22;

/// A score that no alignment has; gaps may be added to it.
const NEVER: i32 = i32::MIN / 2;

/// Bits of a step: the move that leads to a cell (the lowest two bits), and whether the deletion and the insertion that
/// end in the cell are longer than one base.
const BEGIN: u8 = 0;
const ALIGNED: u8 = 1;
const DELETION: u8 = 2;
const INSERTION: u8 = 3;
const MOVE: u8 = 3;
const LONG_DELETION: u8 = 4;
const LONG_INSERTION: u8 = 8;

/// Working space of one thread.
#[derive(Debug, Default)]
pub(super) struct Affine {
    /// The best scores of alignments that end in the cells of a row, by diagonal, and of those that end there with an
    /// insertion.
    scores: Vec<i32>,
    insertions: Vec<i32>,
    steps: Vec<u8>,
    /// Runs in reverse order.
    backwards: Vec<(Operation, u32)>,
}

/// An alignment.
pub(super) struct Local<'a> {
    pub(super) score: i64,
    /// The positions of the first base and after the last base.
    pub(super) span: [u32; 2],
    /// The operations in reverse order, including clipped ends; neighbours may be the same.
    pub(super) backwards: &'a [(Operation, u32)],
}

/// The alignments that are considered: those of a query within some diagonals of a contig.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area<'a> {
    pub(super) query: Query<'a>,
    pub(super) text: Text<'a>,
    pub(super) contig: &'a Contig,
    /// The position of the query's first base on the first diagonal.
    pub(super) first: i64,
    /// The number of diagonals.
    pub(super) width: usize,
    pub(super) mode: NMode,
}

impl Affine {
    /// Returns the alignment of a part of the query with the highest score; `None` if nothing aligns. On a tie, gaps are
    /// leftmost.
    pub(super) fn align(&mut self, area: &Area<'_>) -> Option<Local<'_>> {
        let Area { query, text, contig, first, width, mode } = *area;
        let is_inside = |row: usize, diagonal: usize| {
            let place = first + (row + diagonal) as i64;
            (i64::from(contig.start)..=i64::from(contig.end())).contains(&place)
        };
        let [open, more] = [(GAP[0] + GAP[1]) as i32, GAP[1] as i32];
        let start = |row: usize| if row == 0 { 0 } else { CLIP as i32 };
        self.scores.clear();
        self.scores.extend((0..width).map(|at| if is_inside(0, at) { 0 } else { NEVER }));
        self.insertions.clear();
        self.insertions.resize(width, NEVER);
        self.steps.clear();
        self.steps.resize(width, BEGIN);
        let mut best = (NEVER, 0, 0);
        for row in 1..=query.len {
            let code = query.code(row - 1);
            let (mut deletion, mut left) = (NEVER, NEVER);
            for at in 0..width {
                let mut step = 0;
                let (begin, longer) = match at + 1 < width {
                    true => (self.scores[at + 1] + open, self.insertions[at + 1] + more),
                    false => (NEVER, NEVER),
                };
                let insertion = begin.max(longer);
                step |= if longer > begin { LONG_INSERTION } else { 0 };
                let (begin, longer) = (left + open, deletion + more);
                deletion = begin.max(longer);
                step |= if longer > begin { LONG_DELETION } else { 0 };
                let mut score = start(row);
                if !is_inside(row, at) {
                    (score, deletion) = (NEVER, NEVER);
                } else {
                    let place = first + (row + at) as i64 - 1;
                    let aligned = match place >= i64::from(contig.start) {
                        true => self.scores[at] + pair(code, text.code(place as usize), mode),
                        false => NEVER,
                    };
                    let moves = [(aligned, ALIGNED), (deletion, DELETION), (insertion, INSERTION)];
                    for (value, of) in moves {
                        if value > score || (value == score && step & MOVE == BEGIN) {
                            (score, step) = (value, step & !MOVE | of);
                        }
                    }
                }
                // The row above is no longer needed at this diagonal.
                self.insertions[at] = insertion;
                self.scores[at] = score;
                self.steps.push(step);
                left = score;
                let end = score + if row == query.len { 0 } else { CLIP as i32 };
                if end > best.0 && step & MOVE == ALIGNED {
                    best = (end, row, at);
                }
            }
        }
        let (score, row, at) = best;
        (score > NEVER).then(|| {
            let begin = self.walk(query.len, width, [row, at]);
            let place = |[row, at]: [usize; 2]| (first + (row + at) as i64) as u32;
            let span = [place(begin), place([row, at])];
            Local { score: i64::from(score), span, backwards: &self.backwards }
        })
    }

    /// Reads the alignment that ends in a cell off the steps, and returns the cell where it begins.
    fn walk(&mut self, len: usize, width: usize, end: [usize; 2]) -> [usize; 2] {
        let [mut row, mut at] = end;
        self.backwards.clear();
        self.backwards.push((Operation::Clip, (len - row) as u32));
        // A gap that has to go on, because the cell was reached from within it.
        let mut gap = None;
        loop {
            let step = self.steps[row * width + at];
            match gap.take().unwrap_or(step & MOVE) {
                ALIGNED => {
                    self.backwards.push((Operation::Aligned, 1));
                    row -= 1;
                }
                DELETION => {
                    self.backwards.push((Operation::Deletion, 1));
                    gap = (step & LONG_DELETION != 0).then_some(DELETION);
                    at -= 1;
                }
                INSERTION => {
                    self.backwards.push((Operation::Insertion, 1));
                    gap = (step & LONG_INSERTION != 0).then_some(INSERTION);
                    (row, at) = (row - 1, at + 1);
                }
                _ => break,
            }
        }
        self.backwards.push((Operation::Clip, row as u32));
        [row, at]
    }
}

/// Returns the score of two letters.
fn pair(one: u8, two: u8, mode: NMode) -> i32 {
    let is_match = of_letters(one, two, mode) == Operation::Match;
    (if is_match { MATCH } else { MISMATCH }) as i32
}

#[cfg(test)]
mod tests {
    use merganser_test_random::Random;
    use proptest::prelude::*;

    use super::super::score::Highest;
    use super::*;
    use crate::queries::Queries;
    use crate::reference::Reference;

    /// Returns the highest score of all alignments of a part of a read, by trying every length of every gap.
    fn plain(read: &[u8], text: &[u8]) -> i64 {
        let mut scores = vec![vec![i64::MIN / 2; text.len() + 1]; read.len() + 1];
        let mut best = i64::MIN;
        for i in 0..=read.len() {
            for j in 0..=text.len() {
                let mut score = if i == 0 { 0 } else { CLIP };
                if i > 0 && j > 0 {
                    let same = read[i - 1] == text[j - 1];
                    score = score.max(scores[i - 1][j - 1] + if same { MATCH } else { MISMATCH });
                }
                let gap = |bases: usize| GAP[0] + GAP[1] * bases as i64;
                (1..=i).for_each(|bases| score = score.max(scores[i - bases][j] + gap(bases)));
                (1..=j).for_each(|bases| score = score.max(scores[i][j - bases] + gap(bases)));
                scores[i][j] = score;
                best = best.max(score + if i == read.len() { 0 } else { CLIP });
            }
        }
        best
    }

    proptest! {
        #[test]
        fn scores_are_the_highest(seed in any::<u64>()) {
            let mut random = Random(seed);
            let contig = random.bases(90);
            let mut read = contig[15..75].to_vec();
            for _ in 0..random.below(4) {
                let (at, bases) = (random.below(read.len() - 12), random.below(9));
                match random.below(3) {
                    0 => drop(read.drain(at..at + bases)),
                    1 => drop(read.splice(at..at, random.bases(bases))),
                    _ => read[at] = b'A',
                }
            }
            let reference = Reference::of(std::slice::from_ref(&contig));
            let (text, of) = (reference.text(), &reference.contigs[0]);
            let mut queries = Queries::default();
            queries.push(&read, 9).unwrap();
            let area = Area {
                query: queries.get(0),
                text,
                contig: of,
                first: i64::from(of.start) - read.len() as i64,
                width: contig.len() + 2 * read.len(),
                mode: NMode::Mismatch,
            };
            let mut affine = Affine::default();
            let local = affine.align(&area).unwrap();
            prop_assert_eq!(local.score, plain(&read, &contig));
            prop_assert_eq!(Highest::default().score(&area), local.score);
            // The operations have this score, too.
            let (mut at, mut place) = (0, (local.span[0] - of.start) as usize);
            let (mut score, mut last) = (0, Operation::Clip);
            for &(operation, len) in local.backwards.iter().rev() {
                score += match operation {
                    Operation::Clip => if len > 0 { CLIP } else { 0 },
                    Operation::Aligned => {
                        if read[at] == contig[place] { MATCH } else { MISMATCH }
                    }
                    _ => GAP[1] + if operation == last { 0 } else { GAP[0] },
                };
                at += operation.in_read(len) as usize;
                place += operation.in_reference(len) as usize;
                last = operation;
            }
            prop_assert_eq!((score, at), (local.score, read.len()));
            prop_assert_eq!(place, (local.span[1] - of.start) as usize);
        }
    }
}
