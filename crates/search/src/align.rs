//! Alignments of occurrences: the one with the fewest gaps among those with the fewest edits, with its gaps leftmost, as
//! `map` aligns.

use merganser_alignments::Operation;

use crate::overhang::Overhang;
use crate::select::End;

/// An alignment of a pattern with a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// The position of the first aligned letter of the text.
    pub start: usize,
    /// The position after the last one.
    pub end: usize,
    /// The operations from the first letter on, with their lengths.
    pub operations: Vec<(Operation, u32)>,
}

/// Where alignments may begin.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Begin {
    /// At any letter of the text.
    Anywhere,
    /// At the first letter.
    Start,
    /// At any letter, or outside the text, before its first letter.
    Outside(Overhang),
}

/// Edits in the high bits, gaps in the low ones: smaller is better.
type Cost = u32;
const EDIT: Cost = 1 << 16;
const GAP: Cost = 1;
const NEVER: Cost = u32::MAX / 2;

/// Working memory of alignments.
#[derive(Debug, Default)]
pub(crate) struct Aligner {
    columns: usize,
    /// The least costs of aligning each prefix of the pattern to each prefix of the window: in any way, ending with a
    /// deletion, and ending with an insertion.
    any: Vec<Cost>,
    deletion: Vec<Cost>,
    insertion: Vec<Cost>,
}

impl Aligner {
    /// Aligns a pattern, as sets of bases, to a text, as sets of bases too, at an end with the fewest edits of that end.
    ///
    /// If ends may move, ends up to that many letters later with as many edits are considered, too. Among these, the
    /// alignment with the fewest gaps is chosen, then the one with the first end, then, letter by letter from its end,
    /// aligned letters rather than a deletion, and a deletion rather than an insertion.
    pub(crate) fn align(
        &mut self,
        pattern: &[u8],
        text: &[u8],
        end: End,
        may_move: bool,
        begin: Begin,
    ) -> Alignment {
        let End { position, edits } = end;
        if let Some(start) = position.checked_sub(pattern.len()) {
            let letters = &text[start..position];
            let differ =
                pattern.iter().zip(letters).filter(|(bases, letter)| *bases & *letter == 0);
            if differ.count() == edits {
                let operations = diagonal(pattern, letters);
                return Alignment { start, end: position, operations };
            }
        }
        let from = position.saturating_sub(pattern.len() + edits);
        let to = if may_move { text.len().min(position + edits) } else { position };
        self.fill(pattern, &text[from..to], begin);
        let last = |column: usize| self.any[pattern.len() * self.columns + column];
        let ends = (position - from..=to - from).filter(|&end| last(end) / EDIT == edits as u32);
        let end = ends.min_by_key(|&end| last(end)).unwrap_or(position - from);
        let (start, operations) = self.trace(pattern, &text[from..to], end, begin);
        Alignment { start: from + start, end: from + end, operations }
    }

    /// Returns the fewest edits of an alignment that ends at the end of a text and begins anywhere, or at its start.
    pub(crate) fn edits(&mut self, pattern: &[u8], text: &[u8], begin: Begin) -> usize {
        self.fill(pattern, text, begin);
        (self.any[pattern.len() * self.columns + text.len()] / EDIT) as usize
    }

    /// Returns an alignment with the fewest edits, then the fewest gaps, that ends at the end of a text and begins
    /// anywhere, or at its start.
    pub(crate) fn align_to_end(&mut self, pattern: &[u8], text: &[u8], begin: Begin) -> Alignment {
        self.fill(pattern, text, begin);
        let (start, operations) = self.trace(pattern, text, text.len(), begin);
        Alignment { start, end: text.len(), operations }
    }

    fn fill(&mut self, pattern: &[u8], text: &[u8], begin: Begin) {
        self.columns = text.len() + 1;
        let cells = (pattern.len() + 1) * self.columns;
        for table in [&mut self.any, &mut self.deletion, &mut self.insertion] {
            table.clear();
            table.resize(cells, NEVER);
        }
        self.any[..self.columns].fill(0);
        if let Begin::Start = begin {
            for j in 1..self.columns {
                self.any[j] = j as Cost * EDIT + GAP;
                self.deletion[j] = self.any[j];
            }
        }
        for (i, &bases) in (1..).zip(pattern) {
            for j in 0..self.columns {
                let at = i * self.columns + j;
                let above = at - self.columns;
                let insertion = (self.any[above] + EDIT + GAP).min(self.insertion[above] + EDIT);
                self.insertion[at] = insertion;
                self.any[at] = match begin {
                    Begin::Outside(overhang) if j == 0 => overhang.cost(i) as Cost * EDIT,
                    _ => insertion,
                };
                if j > 0 {
                    let deletion =
                        (self.any[at - 1] + EDIT + GAP).min(self.deletion[at - 1] + EDIT);
                    let differs = bases & text[j - 1] == 0;
                    let aligned = self.any[above - 1] + if differs { EDIT } else { 0 };
                    self.deletion[at] = deletion;
                    self.any[at] = insertion.min(deletion).min(aligned);
                }
            }
        }
    }

    /// Returns the start, and the operations, of the alignment that ends at a column.
    fn trace(
        &self,
        pattern: &[u8],
        text: &[u8],
        end: usize,
        begin: Begin,
    ) -> (usize, Vec<(Operation, u32)>) {
        let mut operations: Vec<(Operation, u32)> = Vec::new();
        let (mut i, mut j) = (pattern.len(), end);
        while i > 0 || (j > 0 && matches!(begin, Begin::Start)) {
            if j == 0 && matches!(begin, Begin::Outside(_)) {
                append(&mut operations, Operation::Clip, i as u32);
                break;
            }
            let at = i * self.columns + j;
            if i > 0 && j > 0 {
                let differs = pattern[i - 1] & text[j - 1] == 0;
                let before = self.any[at - self.columns - 1];
                if before + if differs { EDIT } else { 0 } == self.any[at] {
                    append(&mut operations, aligned(differs), 1);
                    (i, j) = (i - 1, j - 1);
                    continue;
                }
            }
            (i, j) = self.trace_gap(i, j, &mut operations);
        }
        operations.reverse();
        (j, operations)
    }

    /// Follows a gap back to where it was opened.
    fn trace_gap(
        &self,
        mut i: usize,
        mut j: usize,
        operations: &mut Vec<(Operation, u32)>,
    ) -> (usize, usize) {
        let at = i * self.columns + j;
        let deletes = self.deletion[at] == self.any[at];
        loop {
            let at = i * self.columns + j;
            let (cost, before, operation) = match deletes {
                true => (self.deletion[at], at - 1, Operation::Deletion),
                false => (self.insertion[at], at - self.columns, Operation::Insertion),
            };
            append(operations, operation, 1);
            match deletes {
                true => j -= 1,
                false => i -= 1,
            }
            if self.any[before] + EDIT + GAP == cost {
                return (i, j);
            }
        }
    }
}

/// Returns the operations of an alignment without gaps.
pub(crate) fn diagonal(pattern: &[u8], text: &[u8]) -> Vec<(Operation, u32)> {
    let mut operations = Vec::new();
    for (bases, letter) in pattern.iter().zip(text) {
        let differs = bases & letter == 0;
        append(&mut operations, aligned(differs), 1);
    }
    operations
}

fn aligned(differs: bool) -> Operation {
    if differs { Operation::Mismatch } else { Operation::Match }
}

/// Appends an operation, which is merged with an equal one before it.
pub(crate) fn append(operations: &mut Vec<(Operation, u32)>, operation: Operation, count: u32) {
    match operations.last_mut() {
        Some((last, before)) if *last == operation => *before += count,
        _ => operations.push((operation, count)),
    }
}
