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
    /// k-mers with the same counts that begin at consecutive bases. A long run may be divided into several marks, each
    /// beginning where the previous one ended. In a homopolymer-compressed sequence, each k-mer has its own mark, at
    /// its position in the original sequence.
    Run {
        /// The position of the first base of the first k-mer, 0-based.
        start: u64,
        /// The number of k-mers.
        kmers: u64,
        /// The number of bases that each k-mer covers.
        bases: u64,
        /// The count in the table; 0 only with [`Marked::All`].
        count: u32,
        /// The count in the second table of a [`Pair`](crate::lookup::Pair), otherwise 0.
        other: u32,
    },
    /// The end of a sequence.
    End {
        /// The number of letters of the sequence.
        bases: u64,
        /// The number of its k-mers, without those with a letter that is not a base.
        kmers: u64,
    },
}

/// The k-mers of sequences that are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    /// The k-mers that the table has.
    Found,
    /// All k-mers without a letter that is not a base.
    All,
}

/// Passes all sequences of `inputs`, in the order of the input, and the positions and counts of their k-mers to `take`.
///
/// The progress stage is `looking up`, in bytes of input.
///
/// # Errors
/// If an input is invalid, or `take` fails.
pub fn marks(
    job: Job<'_>,
    marked: Marked,
    inputs: &[Input],
    take: &mut (dyn FnMut(Mark<'_>) -> Result<(), Error> + Send),
) -> Result<(), Error> {
    let segments: Vec<ReadInput> = inputs.iter().cloned().map(ReadInput::Single).collect();
    let (k, compressed) = (job.lookup.k(), job.homopolymer_compressed);
    let kind = RunKind { k, width: job.lookup.width(), compressed, marked };
    let marking = Marking { kind, state: Mutex::new(MarkedSequence { at: None, take }) };
    batch::run(job, &marking, &segments, "looking up", &mut [])?;
    let MarkedSequence { at, .. } = into_inner(marking.state);
    debug_assert!(at.is_none());
    Ok(())
}

struct Marking<'m> {
    kind: RunKind,
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

impl OfReads for Marking<'_> {
    type Tally = ();

    fn texts(&self) -> usize {
        1
    }

    fn takes_stretches(&self) -> bool {
        true
    }

    /// Returns the copies for the counts in a second table, for the letters and the starts of a compressed sequence,
    /// and for encoded runs of one k-mer each.
    fn more_copies(&self) -> u64 {
        let RunKind { width, compressed, .. } = self.kind;
        12 * (width as u64 - 1) + if compressed { 9 } else { 0 } + 16
    }

    fn unit(
        &self,
        reads: &mut [Read<'_>],
        texts: &mut [Vec<u8>],
        _done: &mut (),
    ) -> Result<(), Error> {
        for Read { record, stretch, counts, .. } in reads {
            let stretch = stretch.unwrap_or(Stretch { begins: true, ends: true });
            self.kind.encode(record.name, record.letters, stretch, counts, &mut texts[0]);
        }
        Ok(())
    }

    fn settle(&self, texts: &mut [Vec<u8>], _outputs: &mut [Output]) -> Result<(), Error> {
        let mut state = lock(&self.state);
        let MarkedSequence { at, take } = &mut *state;
        let mut left = &texts[0][..];
        while !left.is_empty() {
            let [flags, bases, places, kmers, name] = std::array::from_fn(|_| next(&mut left));
            let (name, rest) = left.split_at(name as usize);
            left = rest;
            if flags & 1 != 0 {
                *at = Some(Sums::default());
                take(Mark::Begin { name })?;
            }
            let mut sums = at.unwrap_or_default();
            self.kind.decode(&mut left, |start, kmers, bases, [count, other]| {
                take(Mark::Run { start: sums.places + start, kmers, bases, count, other })
            })?;
            sums.places += places;
            sums.kmers += kmers;
            sums.bases += bases;
            *at = Some(sums);
            if flags & 2 != 0 {
                take(Mark::End { bases: sums.bases, kmers: sums.kmers })?;
                *at = None;
            }
        }
        texts[0].clear();
        Ok(())
    }
}

/// The properties of runs, on which their encoding depends.
#[derive(Clone, Copy)]
struct RunKind {
    k: usize,
    /// The number of counts for each k-mer.
    width: usize,
    compressed: bool,
    marked: Marked,
}

impl RunKind {
    /// Appends a sequence or stretch: its properties, its name, and its runs with a 0 after the last one.
    fn encode(
        self,
        name: &[u8],
        letters: &[u8],
        stretch: Stretch,
        counts: &[u32],
        text: &mut Vec<u8>,
    ) {
        // The last letters of a stretch are repeated in the next one.
        let repeated = if stretch.begins { 0 } else { self.k - 1 };
        let flags = u64::from(stretch.begins) | u64::from(stretch.ends) << 1;
        let bases = letters.len() - repeated.min(letters.len());
        let compressed: Vec<u8> = match self.compressed {
            false => Vec::new(),
            true => Homopolymers::compressed(letters).collect(),
        };
        let looked_up = if self.compressed { &compressed } else { letters };
        let places = counts.len() / self.width;
        let kmers = windows(looked_up, self.k).filter(|&is_kmer| is_kmer).count();
        let numbers = [flags, bases as u64, places as u64, kmers as u64, name.len() as u64];
        numbers.iter().for_each(|&number| put(number, text));
        text.extend_from_slice(name);
        let of = |at: usize| match self.width {
            1 => [counts[at], 0],
            _ => [counts[2 * at], counts[2 * at + 1]],
        };
        let all = (0..places).map(of);
        match (self.marked, self.compressed) {
            (Marked::Found, false) => self.runs(all.map(found), text),
            (Marked::Found, true) => self.compressed_runs(letters, all.map(found), text),
            (Marked::All, is_compressed) => {
                let all = windows(looked_up, self.k).zip(all);
                let all = all.map(|(is_kmer, counts)| is_kmer.then_some(counts));
                match is_compressed {
                    false => self.runs(all, text),
                    true => self.compressed_runs(letters, all, text),
                }
            }
        }
        put(0, text);
    }

    /// Appends the runs of equal counts.
    fn runs(self, all: impl Iterator<Item = Option<[u32; 2]>>, text: &mut Vec<u8>) {
        // The start of the current run, the position after the one before it, and the counts of the current run.
        let (mut start, mut done, mut own) = (0, 0, None);
        let mut end = |start: usize, at: usize, own: Option<[u32; 2]>| {
            if let Some(counts) = own {
                put((at - start) as u64, text);
                put((start - done) as u64, text);
                self.put_counts(counts, text);
                done = at;
            }
        };
        let mut places = 0;
        for (at, counts) in all.enumerate() {
            if counts != own {
                end(start, at, own);
                (start, own) = (at, counts);
            }
            places = at + 1;
        }
        end(start, places, own);
    }

    /// Appends each k-mer of compressed letters with its position in `letters`.
    fn compressed_runs(
        self,
        letters: &[u8],
        all: impl Iterator<Item = Option<[u32; 2]>>,
        text: &mut Vec<u8>,
    ) {
        let mut runs = Homopolymers::default();
        let begins = (0..letters.len()).filter(|&at| runs.begins(letters[at]));
        let places: Vec<u64> = begins.map(|at| at as u64).chain([letters.len() as u64]).collect();
        let mut done = 0;
        for (at, counts) in all.enumerate() {
            let Some(counts) = counts else { continue };
            let (start, end) = (places[at], places[at + self.k]);
            [1, start - done, end - start].iter().for_each(|&number| put(number, text));
            self.put_counts(counts, text);
            done = start + 1;
        }
    }

    fn put_counts(self, counts: [u32; 2], text: &mut Vec<u8>) {
        counts[..self.width].iter().for_each(|&count| put(count.into(), text));
    }

    /// Passes the start, the number of k-mers, their bases and the counts of each encoded run to `take`.
    fn decode(
        self,
        left: &mut &[u8],
        mut take: impl FnMut(u64, u64, u64, [u32; 2]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut done = 0;
        loop {
            let kmers = next(left);
            if kmers == 0 {
                return Ok(());
            }
            let start = done + next(left);
            let bases = if self.compressed { next(left) } else { self.k as u64 };
            let count = next(left) as u32;
            let other = if self.width == 2 { next(left) as u32 } else { 0 };
            take(start, kmers, bases, [count, other])?;
            done = start + kmers;
        }
    }
}

/// Returns the counts of a k-mer that the first table has.
fn found(counts: [u32; 2]) -> Option<[u32; 2]> {
    (counts[0] != 0).then_some(counts)
}

/// Appends a number, 7 bits a byte from the lowest on; all bytes but the last have the highest bit.
fn put(mut number: u64, text: &mut Vec<u8>) {
    while number >= 0x80 {
        text.push(number as u8 | 0x80);
        number >>= 7;
    }
    text.push(number as u8);
}

/// Removes a number, and returns it.
fn next(text: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((&byte, rest)) = text.split_first() {
        *text = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    number
}

/// Returns, for each position at which k letters begin, whether all of them are bases.
fn windows(letters: &[u8], k: usize) -> impl Iterator<Item = bool> {
    let mut bases = 0;
    let is_kmer = letters.iter().map(move |&letter| {
        bases = if base::is_base(letter) { bases + 1 } else { 0 };
        bases >= k
    });
    is_kmer.skip(k - 1)
}
