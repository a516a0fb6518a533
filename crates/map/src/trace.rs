//! Alignment of hits: among the alignments with a hit's edits, the one with the fewest gaps, with its gaps
//! leftmost (`naive::align` is the literal definition).

mod affine;
mod clip;
mod gaps;
mod junction;
mod report;
mod score;
mod waves;

use merganser_io::put_decimal;
use merganser_run::Cancel;
use merganser_seq::base::LETTERS;

use crate::hits::{Hit, NO_SCRIPT};
use crate::queries::{Queries, Query};
use crate::reference::Text;
use crate::{Contig, NMode, Operation};
use affine::Affine;
pub(crate) use clip::{MATCH, MISMATCH};
use gaps::Gaps;
use score::Highest;

/// An alignment of a hit. Refilling it reuses its memory.
#[derive(Debug, Default)]
pub(crate) struct Alignment {
    /// The position of the first base.
    pub(crate) start: u32,
    /// The position after the last base.
    pub(crate) end: u32,
    /// Operations with their lengths; neighbouring operations differ.
    pub(crate) operations: Vec<(Operation, u32)>,
    /// The value of SAM's MD tag.
    pub(crate) md: Vec<u8>,
    gaps: Gaps,
    affine: Affine,
    highest: Highest,
    /// Runs in reverse order, from the end of the alignment.
    backwards: Vec<(Operation, u32)>,
    /// Cancellation, which also stops the alignment of long reads.
    cancel: Cancel,
}

/// The diagonals of the alignments of a query that have a given number of edits and end at some consecutive
/// positions.
#[derive(Clone, Copy, Debug)]
struct Band {
    /// The position of the query's first base on the first diagonal, without insertions and deletions.
    first: i64,
    /// The number of diagonals.
    width: usize,
    edits: usize,
    /// The number of end positions; diagonal `edits + i` leads to end i.
    ends: usize,
    /// The position where the contig begins.
    from: i64,
}

impl Band {
    /// Returns the band of the alignments with `edits` edits that end at `end`, or at one of up to `edits`
    /// positions after it, exclusive.
    fn of(query: &Query<'_>, contig: &Contig, end: u32, edits: usize) -> Band {
        let ends = 1 + edits.min((contig.end() - end) as usize);
        let first = i64::from(end) - query.len as i64 - edits as i64;
        Band { first, width: 2 * edits + ends, edits, ends, from: i64::from(contig.start) }
    }

    /// Whether an alignment can be at this row (number of aligned bases of the query) on a diagonal: none
    /// begins before the contig.
    fn holds(&self, row: usize, diagonal: usize) -> bool {
        self.first + (row + diagonal) as i64 >= self.from
    }

    /// Returns the first row of a diagonal.
    fn least(&self, diagonal: usize) -> usize {
        (self.from - self.first - diagonal as i64).max(0) as usize
    }
}

impl Alignment {
    /// Returns an empty alignment. After the run is cancelled, its contents are unspecified.
    pub(crate) fn of_run(cancel: &Cancel) -> Alignment {
        Alignment { cancel: cancel.clone(), ..Alignment::default() }
    }

    /// Computes the alignment of a read's hit. `scripts` are the scripts that devices wrote.
    pub(crate) fn of_hit(
        &mut self,
        queries: &Queries,
        read: usize,
        hit: &Hit,
        text: &Text<'_>,
        mode: NMode,
        scripts: &[u16],
    ) {
        let query = queries.get(2 * read + usize::from(hit.reverse));
        if hit.script == NO_SCRIPT {
            let contig = &text.contigs[hit.contig as usize];
            self.trace(&query, text, contig, hit.end, hit.edits, mode);
        } else {
            let script = &scripts[hit.script as usize..][..hit.edits as usize];
            self.follow(&query, text, hit.end, script);
        }
    }

    /// Computes the alignment of a query whose hit ends at `end` with `edits` edits, the fewest from any start.
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
            self.gapped(query, text, contig, edits as usize, mode);
        }
        self.describe(text);
    }

    /// Decodes the script that a device wrote for a hit that ends at `end`.
    ///
    /// A script has one entry for each edit, in order: the kind in the two highest bits, and the number of
    /// matches before it in the low ten. The four bits between them are used in the first entry only: the
    /// number of bases by which the alignment ends after the hit.
    pub(crate) fn follow(&mut self, query: &Query<'_>, text: &Text<'_>, end: u32, script: &[u16]) {
        self.operations.clear();
        let behind = script.first().map_or(0, |entry| u32::from(entry >> 10 & 15));
        self.end = end + 1 + behind;
        let (mut read, mut reference) = (0, 0);
        for &entry in script {
            let run = u32::from(entry & 0x3ff);
            self.push(Operation::Match, run);
            let (operation, [in_read, in_reference]) = match entry >> 14 {
                1 => (Operation::Mismatch, [1, 1]),
                2 => (Operation::Insertion, [1, 0]),
                _ => (Operation::Deletion, [0, 1]),
            };
            self.push(operation, 1);
            read += run + in_read;
            reference += run + in_reference;
        }
        let rest = query.len as u32 - read;
        self.push(Operation::Match, rest);
        self.start = self.end - reference - rest;
        self.describe(text);
    }

    /// Tries the alignment without gaps that ends at the hit. If it has no more edits, it is the alignment.
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
            let mut differs = query.mismatches(text, start + 64 * word, word, mode);
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

    /// Aligns with gaps, within the band of the hit's end and of later ends that may be better.
    fn gapped(
        &mut self,
        query: &Query<'_>,
        text: &Text<'_>,
        contig: &Contig,
        edits: usize,
        mode: NMode,
    ) {
        let band = Band::of(query, contig, self.end, edits);
        self.backwards.clear();
        let backwards = &mut self.backwards;
        let push = |operation, len| backwards.push((operation, len));
        let found = self.gaps.trace(query, text, &band, mode, &self.cancel, push);
        match found {
            Some(place) => self.take(&band, place),
            // The run was cancelled.
            None => self.start = contig.start,
        }
    }

    /// Copies the traced runs, given the numbers of their end and of their first diagonal in the band.
    fn take(&mut self, band: &Band, [end, diagonal]: [usize; 2]) {
        self.end += end as u32;
        self.start = (band.first + diagonal as i64) as u32;
        for at in (0..self.backwards.len()).rev() {
            let (operation, len) = self.backwards[at];
            self.push(operation, len);
        }
    }

    /// Fills in MD: lengths of matching runs, and the reference's letters at mismatches and deletions.
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
                Operation::Insertion | Operation::Clip => {}
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
    use merganser_test_random::Random;
    use proptest::prelude::*;

    fn operations(alignment: &Alignment) -> Vec<u8> {
        let runs = alignment.operations.iter();
        runs.flat_map(|&(operation, len)| vec![operation.letter() as u8; len as usize]).collect()
    }

    /// Traces the hit of a read at an end of a contig, the second of two or three, and compares it with the
    /// oracle. Returns the alignment and the position where the contig begins.
    fn traced(read: &[u8], contig: &[u8], end: usize, mode: NMode) -> (Alignment, u32) {
        let mut contigs = vec![b"ACGT".to_vec(), contig.to_vec()];
        trace(read, &contigs, end, mode, false);
        trace(read, &contigs, end, mode, true);
        contigs.push(b"ACGTACGT".to_vec());
        trace(read, &contigs, end, mode, true);
        trace(read, &contigs, end, mode, false)
    }

    /// Does the same as [`traced`] for given contigs. With `gapped`, the alignment without gaps is not tried
    /// first.
    fn trace(
        read: &[u8],
        contigs: &[Vec<u8>],
        end: usize,
        mode: NMode,
        gapped: bool,
    ) -> (Alignment, u32) {
        let reference = Reference::of(contigs);
        let expected = naive::align(read, &contigs[1], end, mode);
        let edits = expected.operations.iter().filter(|&&operation| operation != b'=').count();
        let mut queries = Queries::default();
        queries.push(read, edits).unwrap();
        let (of, query, text) = (&reference.contigs[1], queries.get(0), reference.text());
        let mut alignment = Alignment { end: of.start + end as u32 + 1, ..Alignment::default() };
        if gapped {
            alignment.gapped(&query, &text, of, edits, mode);
            alignment.describe(&text);
        } else {
            alignment.trace(&query, &text, of, alignment.end - 1, edits as u32, mode);
        }
        assert_eq!(operations(&alignment), expected.operations);
        let place = [expected.start, expected.end + 1].map(|at| of.start + at as u32);
        assert_eq!([alignment.start, alignment.end], place);
        (alignment, of.start)
    }

    /// Returns a strategy for letters with repeated stretches, which have many equally good alignments.
    fn repeats() -> impl Strategy<Value = Vec<u8>> {
        let unit = proptest::sample::select(vec!["A", "AC", "ACG", "AACAG", "T", "GGT", "CATTN"]);
        let stretches = proptest::collection::vec((unit, 1usize..9), 1..9);
        stretches.prop_map(|runs| {
            runs.iter().flat_map(|(unit, times)| unit.as_bytes().repeat(*times)).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn traces_are_the_oracles(
            contig in proptest::collection::vec(proptest::sample::select(b"ACGTAAN".to_vec()), 1..90),
            read in proptest::collection::vec(proptest::sample::select(b"ACGTAAN".to_vec()), 1..70),
            end in any::<u16>(),
            matches in any::<bool>(),
        ) {
            let mode = if matches { NMode::Match } else { NMode::Mismatch };
            let end = usize::from(end) % contig.len();
            traced(&read, &contig, end, mode);
        }

        #[test]
        fn traces_in_repeats_are_the_oracles(
            contig in repeats(),
            from in any::<u16>(),
            edits in proptest::collection::vec((any::<u16>(), 0usize..9, 1usize..6), 0..5),
            end in any::<u16>(),
            shift in 0usize..5,
        ) {
            // A stretch of the contig in which runs of bases are removed, inserted or changed.
            let last = usize::from(end) % contig.len();
            let mut read = contig[usize::from(from) % (last + 1)..=last].to_vec();
            for (at, kind, run) in edits {
                let at = usize::from(at) % read.len();
                let to = read.len().min(at + run);
                match kind {
                    0..=2 if at > 0 => drop(read.drain(at..to)),
                    3..=5 => drop(read.splice(at..at, b"CAGTAC".iter().copied().take(run))),
                    _ => read[at] = b"ACGT"[run % 4],
                }
            }
            let end = (last + shift).min(contig.len() - 1);
            let (alignment, start) = traced(&read, &contig, end, NMode::Mismatch);
            // Letters in MD must occur in the aligned stretch.
            let stretch = &contig[(alignment.start - start) as usize..];
            prop_assert!(alignment.md.iter().filter(|byte| byte.is_ascii_alphabetic()).all(
                |letter| stretch.contains(letter)
            ));
        }

        /// A read and its reverse complement have the same alignment, because both are aligned to the forward
        /// strand and gaps are leftmost there.
        #[test]
        fn both_strands_are_traced_alike(contig in repeats(), from in any::<u16>(), to in any::<u16>()) {
            let to = usize::from(to) % contig.len();
            let mut read = contig[usize::from(from) % (to + 1)..=to].to_vec();
            let middle = read.len() / 2;
            read.splice(middle..middle, *b"AC");
            let reference = Reference::of(std::slice::from_ref(&contig));
            let edits = naive::align(&read, &contig, to, NMode::Mismatch);
            let edits = edits.operations.iter().filter(|&&operation| operation != b'=').count();
            let found = [read.clone(), naive::reverse_complement(&read)].map(|read| {
                let mut queries = Queries::default();
                queries.push(&read, edits).unwrap();
                queries
            });
            let of = &reference.contigs[0];
            let [forward, reverse] = [found[0].get(0), found[1].get(1)].map(|query| {
                let mut alignment = Alignment::default();
                let (mode, text) = (NMode::Mismatch, reference.text());
                alignment.trace(&query, &text, of, to as u32, edits as u32, mode);
                (alignment.start, alignment.end, alignment.operations, alignment.md)
            });
            prop_assert_eq!(forward, reverse);
        }
    }

    /// `98M1I2M1I49M` has the same number of edits, but one gap more.
    #[test]
    fn an_indel_is_one_gap_and_lies_leftmost() {
        let mut random = Random(4);
        let contig = random.bases(400);
        let mut inserted = contig[50..198].to_vec();
        inserted.splice(100..100, *b"GT");
        let mut deleted = contig[50..206].to_vec();
        deleted.drain(100..106);
        for (read, last) in [(inserted, 197), (deleted, 205)] {
            let (alignment, _) = traced(&read, &contig, last, NMode::Mismatch);
            let gaps = alignment.operations.iter().filter(|(operation, _)| {
                matches!(operation, Operation::Insertion | Operation::Deletion)
            });
            assert_eq!(gaps.count(), 1, "{:?}", alignment.operations);
        }
        // The deletion has five equivalent places: the first one is reported.
        let (alignment, _) = traced(b"GATCAAAAGTCG", b"GATCAAAAAGTCG", 12, NMode::Mismatch);
        assert_eq!(operations(&alignment), b"====D========");
        // A mismatch at either end is not a gap, even if an alignment to an earlier end is as good.
        let (alignment, _) = traced(b"TATCAAAAAGTCT", b"GATCAAAAAGTCG", 11, NMode::Mismatch);
        assert_eq!(operations(&alignment), b"X===========X");
    }

    /// Long reads with many edits, and bands that reach beyond both ends of the contig and of the text.
    #[test]
    fn long_reads_are_traced_as_the_oracle_says() {
        let mut random = Random(7);
        let contig = random.bases(700);
        for (from, to, apart) in [(0, 700, 9), (0, 500, 30), (100, 600, 15), (200, 700, 60)] {
            let mut read = contig[from..to].to_vec();
            for (number, at) in (apart..read.len() - apart).step_by(apart).enumerate() {
                match number % 3 {
                    0 => drop(read.splice(at..at, *b"GT")),
                    1 => drop(read.drain(at - 2..at)),
                    _ => read[at] = if read[at] == b'A' { b'C' } else { b'A' },
                }
            }
            traced(&read, &contig, to - 1, NMode::Mismatch);
        }
        // More than half of the bases are edits.
        traced(&random.bases(690), &contig, 699, NMode::Mismatch);
        traced(&random.bases(650), b"ACGTACGT", 7, NMode::Match);
    }

    #[test]
    fn md_names_the_references_letters() {
        let reference = Reference::of(&[b"ACGTACGTNACGTACGTCC".to_vec()]);
        let mut queries = Queries::default();
        queries.push(b"ACGTACGANACGTGTCC", 4).unwrap();
        let of = &reference.contigs[0];
        let mut alignment = Alignment::default();
        let mode = NMode::Mismatch;
        alignment.trace(&queries.get(0), &reference.text(), of, 18, 4, mode);
        assert_eq!(operations(&alignment), b"=======XX====DD====");
        assert_eq!(std::str::from_utf8(&alignment.md), Ok("7T0N4^AC4"));
    }
}
