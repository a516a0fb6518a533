//! The alignment of a hit: traced back from its end, along the diagonal if that is possible, else
//! as a deletion, else as an insertion.

use merganser_io::put_decimal;
use merganser_seq::base::LETTERS;

use crate::NMode;
use crate::queries::Query;
use crate::reference::{Contig, Text};
use crate::verify::hamming::mismatches;

/// What a stretch of an alignment is, as BAM numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Operation {
    /// Match or mismatch.
    Aligned = 0,
    /// Bases of the read alone.
    Insertion = 1,
    /// Bases of the reference alone.
    Deletion = 2,
    Match = 7,
    Mismatch = 8,
}

/// An alignment; refilled, it keeps its memory.
#[derive(Debug, Default)]
pub(crate) struct Alignment {
    /// The position of its first base,
    pub(crate) start: u32,
    /// and the one behind its last base.
    pub(crate) end: u32,
    /// Operations with their lengths, neighbours differ.
    pub(crate) operations: Vec<(Operation, u32)>,
    /// SAM's MD.
    pub(crate) md: Vec<u8>,
    table: Vec<u16>,
    backwards: Vec<Operation>,
}

impl Alignment {
    /// Replaces it by the alignment of a query that ends at `end` with so many edits, the fewest of
    /// any start.
    pub(crate) fn trace(
        &mut self,
        query: &Query<'_>,
        text: &Text<'_>,
        contig: &Contig,
        end: u32,
        edits: u32,
        mode: NMode,
    ) {
        self.operations.clear();
        self.end = end + 1;
        if !self.diagonal(query, text, contig, edits, mode) {
            self.band(query, text, contig, edits as usize, mode);
        }
        self.describe(text);
    }

    /// Replaces it by the alignment of a query that ends at `end`, of which a device wrote the edits
    /// down in their order: of each the matches before it (low 14 bits) and what it is (1: mismatch,
    /// 2: insertion, 3: deletion).
    pub(crate) fn follow(&mut self, query: &Query<'_>, text: &Text<'_>, end: u32, script: &[u16]) {
        self.operations.clear();
        self.end = end + 1;
        let (mut read, mut reference) = (0, 0);
        for &entry in script {
            let run = u32::from(entry & 0x3fff);
            let operation = match entry >> 14 {
                1 => Operation::Mismatch,
                2 => Operation::Insertion,
                _ => Operation::Deletion,
            };
            self.push(Operation::Match, run);
            self.push(operation, 1);
            read += run + u32::from(operation != Operation::Deletion);
            reference += run + u32::from(operation != Operation::Insertion);
        }
        let rest = query.len as u32 - read;
        self.push(Operation::Match, rest);
        self.start = self.end - reference - rest;
        self.describe(text);
    }

    /// The alignment without gaps, if it has no more edits: the trace never leaves the diagonal
    /// then.
    fn diagonal(
        &mut self,
        query: &Query<'_>,
        text: &Text<'_>,
        contig: &Contig,
        edits: u32,
        mode: NMode,
    ) -> bool {
        let start = i64::from(self.end) - query.len as i64;
        if start < i64::from(contig.start) {
            return false;
        }
        let (start, mut found, mut at) = (start as usize, 0, 0);
        for word in 0..query.low.len() {
            let mut differs = mismatches(query, text, start, word, mode);
            found += differs.count_ones();
            if found > edits {
                self.operations.clear();
                return false;
            }
            while differs != 0 {
                let next = 64 * word as u32 + differs.trailing_zeros();
                self.push(Operation::Match, next - at);
                self.push(Operation::Mismatch, 1);
                at = next + 1;
                differs &= differs - 1;
            }
        }
        self.push(Operation::Match, query.len as u32 - at);
        self.start = start as u32;
        true
    }

    fn push(&mut self, operation: Operation, len: u32) {
        match self.operations.last_mut() {
            _ if len == 0 => {}
            Some((last, before)) if *last == operation => *before += len,
            _ => self.operations.push((operation, len)),
        }
    }

    /// Dynamic programming in the band that no alignment to this end with so few edits leaves.
    fn band(
        &mut self,
        query: &Query<'_>,
        text: &Text<'_>,
        contig: &Contig,
        edits: usize,
        mode: NMode,
    ) {
        const FAR: u16 = u16::MAX / 2;
        let (rows, width) = (query.len, 2 * edits + 1);
        // Cell (i, b) is the one behind base i of the query and base first + i + b of the text; the
        // last one, b = edits of the last row, is behind the end. Texts begin at the contig's start.
        let first = i64::from(self.end) - rows as i64 - edits as i64;
        let within = |i: usize, b: usize| first + (i + b) as i64 >= i64::from(contig.start);
        let equal = |i: usize, b: usize| {
            let (read, letter) = (query.code(i), text.code((first + (i + b) as i64) as usize));
            if read == 4 || letter == 4 { mode == NMode::Match } else { read == letter }
        };
        self.table.clear();
        self.table.resize((rows + 1) * width, FAR);
        for b in 0..width {
            if within(0, b) {
                self.table[b] = 0;
            }
        }
        for i in 1..=rows {
            for b in 0..width {
                if !within(i, b) {
                    continue;
                }
                let cell = |i: usize, b: usize| self.table[i * width + b];
                let mut best = FAR;
                if within(i - 1, b) {
                    best = cell(i - 1, b) + u16::from(!equal(i - 1, b));
                }
                if b + 1 < width {
                    best = best.min(cell(i - 1, b + 1) + 1);
                }
                if b > 0 && within(i, b - 1) {
                    best = best.min(cell(i, b - 1) + 1);
                }
                self.table[i * width + b] = best;
            }
        }
        let cell = |i: usize, b: usize| self.table[i * width + b];
        let (mut i, mut b) = (rows, edits);
        self.backwards.clear();
        while i > 0 {
            let here = cell(i, b);
            let step = within(i - 1, b).then(|| equal(i - 1, b));
            let diagonal = step.filter(|&same| cell(i - 1, b) + u16::from(!same) == here);
            if let Some(same) = diagonal {
                self.backwards.push(if same { Operation::Match } else { Operation::Mismatch });
                i -= 1;
            } else if b > 0 && within(i, b - 1) && cell(i, b - 1) + 1 == here {
                self.backwards.push(Operation::Deletion);
                b -= 1;
            } else {
                self.backwards.push(Operation::Insertion);
                (i, b) = (i - 1, b + 1);
            }
        }
        self.start = (first + b as i64) as u32;
        let backwards = std::mem::take(&mut self.backwards);
        backwards.iter().rev().for_each(|&operation| self.push(operation, 1));
        self.backwards = backwards;
    }

    /// Fills in MD: runs of matches, the reference's letters where they differ or are deleted.
    fn describe(&mut self, text: &Text<'_>) {
        self.md.clear();
        let (mut at, mut run) = (self.start as usize, 0);
        let letter = |at: usize| LETTERS.get(usize::from(text.code(at))).copied().unwrap_or(b'N');
        for &(operation, len) in &self.operations {
            let len = len as usize;
            match operation {
                Operation::Match | Operation::Aligned => {
                    run += len as u64;
                    at += len;
                }
                Operation::Insertion => {}
                Operation::Mismatch => {
                    for place in at..at + len {
                        put_decimal(run, &mut self.md);
                        self.md.push(letter(place));
                        run = 0;
                    }
                    at += len;
                }
                Operation::Deletion => {
                    put_decimal(run, &mut self.md);
                    self.md.push(b'^');
                    self.md.extend((at..at + len).map(letter));
                    run = 0;
                    at += len;
                }
            }
        }
        put_decimal(run, &mut self.md);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive;
    use crate::queries::Queries;
    use crate::reference::Reference;
    use proptest::prelude::*;

    fn operations(alignment: &Alignment) -> Vec<u8> {
        let letter = |operation| match operation {
            Operation::Match => b'=',
            Operation::Mismatch => b'X',
            Operation::Insertion => b'I',
            Operation::Deletion => b'D',
            Operation::Aligned => b'M',
        };
        let runs = alignment.operations.iter();
        runs.flat_map(|&(operation, len)| vec![letter(operation); len as usize]).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn traces_are_the_oracles(
            contig in proptest::collection::vec(proptest::sample::select(b"ACGTAAN".to_vec()), 1..90),
            read in proptest::collection::vec(proptest::sample::select(b"ACGTAAN".to_vec()), 1..70),
            end in any::<u16>(),
            matches in any::<bool>(),
        ) {
            let mode = if matches { NMode::Match } else { NMode::Mismatch };
            let end = usize::from(end) % contig.len();
            let reference = Reference::of(&[b"ACGT".to_vec(), contig.clone()]);
            let (start, expected) = naive::align(&read, &contig, end, mode);
            let edits = expected.iter().filter(|&&operation| operation != b'=').count();
            let mut queries = Queries::default();
            queries.push(&read, edits).unwrap();
            let of = &reference.contigs()[1];
            let mut alignment = Alignment::default();
            let at = of.start + end as u32;
            alignment.trace(&queries.get(0), &reference.text(), of, at, edits as u32, mode);
            prop_assert_eq!(operations(&alignment), expected);
            prop_assert_eq!(alignment.start, of.start + start as u32);
        }
    }

    #[test]
    fn md_names_the_references_letters() {
        let reference = Reference::of(&[b"ACGTACGTNACGTACGTCC".to_vec()]);
        let mut queries = Queries::default();
        queries.push(b"ACGTACGANACGTGTCC", 4).unwrap();
        let of = &reference.contigs()[0];
        let mut alignment = Alignment::default();
        let mode = NMode::Mismatch;
        alignment.trace(&queries.get(0), &reference.text(), of, 18, 4, mode);
        assert_eq!(operations(&alignment), b"=======XX====DD====");
        assert_eq!(std::str::from_utf8(&alignment.md), Ok("7T0N4^AC4"));
    }
}
