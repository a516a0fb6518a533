//! Finds the positions of a table's k-mers on sequences.

use std::sync::Mutex;

use merganser_io::{Input, Output, ReadInput, Stretch};
use merganser_run::locks::{into_inner, lock};
use merganser_seq::base::{self, Homopolymers};

use super::Job;
use super::batch::{self, OfReads, Read};
use crate::Error;

/// An event along a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark<'m> {
    /// The start of a sequence.
    Begin {
        /// The first word of its header.
        name: &'m [u8],
    },
    /// k-mers with the same count in the table that begin at consecutive bases. A long run may be divided into
    /// several marks, each beginning where the previous one ended. In a homopolymer-compressed sequence, each
    /// k-mer has its own mark, at its position in the original sequence.
    Run {
        /// The position of the first base of the first k-mer, 0-based.
        start: u64,
        /// The number of k-mers.
        kmers: u64,
        /// The number of bases that each k-mer covers.
        bases: u64,
        /// The count, at least 1.
        count: u32,
    },
    /// The end of a sequence.
    End {
        /// The number of letters of the sequence.
        bases: u64,
        /// The number of its k-mers, without those with a letter that is not a base.
        kmers: u64,
    },
}

/// Passes all sequences of `inputs`, in the order of the input, and the positions of the table's k-mers on them to
/// `take`.
///
/// The progress stage is `looking up`, in bytes of input.
///
/// # Errors
/// If an input is invalid, or `take` fails.
pub fn marks(
    job: Job<'_>,
    inputs: &[Input],
    take: &mut (dyn FnMut(Mark<'_>) -> Result<(), Error> + Send),
) -> Result<(), Error> {
    let segments: Vec<ReadInput> = inputs.iter().cloned().map(ReadInput::Single).collect();
    let (k, compressed) = (job.lookup.k(), job.homopolymer_compressed);
    let marking = Marking { k, compressed, state: Mutex::new(MarkedSequence { at: None, take }) };
    batch::run(job, &marking, &segments, "looking up", &mut [])?;
    let MarkedSequence { at, .. } = into_inner(marking.state);
    debug_assert!(at.is_none());
    Ok(())
}

struct Marking<'m> {
    k: usize,
    compressed: bool,
    state: Mutex<MarkedSequence<'m>>,
}

/// The current sequence, and the receiver of marks.
struct MarkedSequence<'m> {
    at: Option<Sums>,
    take: &'m mut (dyn FnMut(Mark<'_>) -> Result<(), Error> + Send),
}

#[derive(Clone, Copy, Default)]
struct Sums {
    /// The number of positions of k-mers so far.
    places: u64,
    /// The number of k-mers so far.
    kmers: u64,
    /// The number of letters so far.
    bases: u64,
}

/// The number of integers in an encoded sequence or stretch, before its name and its runs.
const NUMBERS: usize = 5;

impl OfReads for Marking<'_> {
    type Tally = ();

    fn texts(&self) -> usize {
        1
    }

    fn takes_stretches(&self) -> bool {
        true
    }

    /// Returns the copies for runs of one k-mer each and, in compressed sequences, for the starts of homopolymers.
    fn more_copies(&self) -> u64 {
        32 + if self.compressed { 8 } else { 0 }
    }

    fn unit(
        &self,
        reads: &mut [Read<'_>],
        texts: &mut [Vec<u8>],
        _done: &mut (),
    ) -> Result<(), Error> {
        let text = &mut texts[0];
        for Read { record, stretch, counts, .. } in reads {
            let stretch = stretch.unwrap_or(Stretch { begins: true, ends: true });
            // The last letters of a stretch are repeated in the next one.
            let repeated = if stretch.begins { 0 } else { self.k - 1 };
            let flags = u64::from(stretch.begins) | u64::from(stretch.ends) << 1;
            let bases = record.letters.len() - repeated.min(record.letters.len());
            let start = text.len();
            let kmers = match self.compressed {
                false => windows(record.letters.iter().copied(), self.k),
                true => windows(Homopolymers::compressed(record.letters), self.k),
            };
            let numbers = [flags, bases as u64, counts.len() as u64, kmers, 0];
            numbers.iter().for_each(|number| put(*number, text));
            put(record.name.len() as u64, text);
            text.extend_from_slice(record.name);
            let runs = match self.compressed {
                false => runs(counts, self.k, text),
                true => compressed_runs(record.letters, counts, self.k, text),
            };
            let at = start + 8 * (NUMBERS - 1);
            text[at..at + 8].copy_from_slice(&runs.to_le_bytes());
        }
        Ok(())
    }

    fn settle(&self, texts: &mut [Vec<u8>], _outputs: &mut [Output]) -> Result<(), Error> {
        let mut state = lock(&self.state);
        let mut left = &texts[0][..];
        while !left.is_empty() {
            let [flags, bases, places, kmers, runs] = std::array::from_fn(|_| next(&mut left));
            let len = next(&mut left) as usize;
            let (name, rest) = left.split_at(len);
            left = rest;
            if flags & 1 != 0 {
                state.at = Some(Sums::default());
                (state.take)(Mark::Begin { name })?;
            }
            let mut sums = state.at.unwrap_or_default();
            for _ in 0..runs {
                let [start, kmers, bases, count] = std::array::from_fn(|_| next(&mut left));
                let start = sums.places + start;
                (state.take)(Mark::Run { start, kmers, bases, count: count as u32 })?;
            }
            sums.places += places;
            sums.kmers += kmers;
            sums.bases += bases;
            state.at = Some(sums);
            if flags & 2 != 0 {
                (state.take)(Mark::End { bases: sums.bases, kmers: sums.kmers })?;
                state.at = None;
            }
        }
        texts[0].clear();
        Ok(())
    }
}

fn put(number: u64, text: &mut Vec<u8>) {
    text.extend_from_slice(&number.to_le_bytes());
}

fn next(text: &mut &[u8]) -> u64 {
    let Some((bytes, rest)) = text.split_first_chunk() else { return 0 };
    *text = rest;
    u64::from_le_bytes(*bytes)
}

/// Appends the runs of equal counts other than 0, and returns their number.
fn runs(counts: &[u32], k: usize, text: &mut Vec<u8>) -> u64 {
    let (mut at, mut runs) = (0, 0);
    for run in counts.chunk_by(|one, other| one == other) {
        if run[0] != 0 {
            [at as u64, run.len() as u64, k as u64, run[0].into()]
                .iter()
                .for_each(|&number| put(number, text));
            runs += 1;
        }
        at += run.len();
    }
    runs
}

/// Appends each k-mer of compressed letters with its position in `letters`, and returns the number of k-mers.
fn compressed_runs(letters: &[u8], counts: &[u32], k: usize, text: &mut Vec<u8>) -> u64 {
    let mut runs = Homopolymers::default();
    let begins = (0..letters.len()).filter(|&at| runs.begins(letters[at]));
    let places: Vec<u64> = begins.map(|at| at as u64).chain([letters.len() as u64]).collect();
    let mut number = 0;
    for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count != 0) {
        let (start, end) = (places[at], places[at + k]);
        [start, 1, end - start, count.into()].iter().for_each(|&number| put(number, text));
        number += 1;
    }
    number
}

/// Returns the number of k-mers whose letters are all bases.
fn windows(letters: impl Iterator<Item = u8>, k: usize) -> u64 {
    let (mut bases, mut windows) = (0, 0);
    for letter in letters {
        bases = if base::code(letter).is_some() { bases + 1 } else { 0 };
        windows += u64::from(bases >= k);
    }
    windows
}
