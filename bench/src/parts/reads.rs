//! Reads in memory, and a pass over all of them.

use anyhow::{Result, ensure};
use merganser_alignments::ReaderOptions;
use merganser_io::{Chunk, Reader, Sink, expand_inputs};
use merganser_seq::base;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;

/// Bases of a batch, as counting has them.
pub(crate) const BATCH_BASES: usize = 4096;

/// What a pass gives each stretch of bases to, with the number of its record.
type Visit<'v> = dyn FnMut(u64, &[u8]) -> ControlFlow<()> + 'v;

/// Gives `visit` the stretches of at least k bases of all reads, in order. Long sequences come in
/// pieces that share k-1 bases.
///
/// # Errors
///
/// What reading returned.
pub(crate) fn pass(files: &[PathBuf], k: usize, visit: &mut Visit<'_>) -> Result<()> {
    let options = ReaderOptions { overlap: k - 1, ..ReaderOptions::default() };
    let reader = Reader::open(&expand_inputs(files)?, options)?;
    let mut chunk = Chunk::default();
    let mut letters =
        Letters { k, records: 0, open: Vec::new(), visit, flow: ControlFlow::Continue(()) };
    while letters.flow.is_continue() && reader.next_chunk(&mut chunk)? {
        chunk.parse(&mut letters)?;
        letters.close();
    }
    reader.stop();
    Ok(())
}

/// Gathers a record's letters and cuts them at those that are no bases.
struct Letters<'a, 'v> {
    k: usize,
    records: u64,
    open: Vec<u8>,
    visit: &'a mut Visit<'v>,
    flow: ControlFlow<()>,
}

impl Letters<'_, '_> {
    fn close(&mut self) {
        for stretch in self.open.split(|&letter| !base::is_base(letter)) {
            if stretch.len() >= self.k && self.flow.is_continue() {
                self.flow = (self.visit)(self.records, stretch);
            }
        }
        self.open.clear();
    }
}

impl Sink for Letters<'_, '_> {
    fn begin(&mut self, _header: &[u8]) {
        self.close();
        self.records += 1;
    }

    fn resume(&mut self) {
        self.close();
    }

    fn sequence(&mut self, line: &[u8], _quality: Option<&[u8]>) {
        self.open.extend_from_slice(line);
    }

    fn end(&mut self) {
        self.close();
    }
}

/// The first bases of the reads.
pub(crate) struct Sample {
    /// All stretches, one behind the other.
    pub(crate) letters: Vec<u8>,
    ends: Vec<usize>,
}

impl Sample {
    /// Reads until there are `bases` bases.
    ///
    /// # Errors
    ///
    /// What reading returned, or if there is no base.
    pub(crate) fn load(files: &[PathBuf], bases: usize) -> Result<Self> {
        let mut sample = Self { letters: Vec::new(), ends: Vec::new() };
        pass(files, 1, &mut |_, stretch| {
            sample.letters.extend_from_slice(stretch);
            sample.ends.push(sample.letters.len());
            match sample.letters.len() < bases {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        ensure!(!sample.letters.is_empty(), "the reads have no bases");
        Ok(sample)
    }

    /// The reads in batches: whole stretches, of [`BATCH_BASES`] together if they are short.
    pub(crate) fn batches(&self) -> Vec<Batch> {
        let mut batches = vec![Batch::default()];
        let mut from = 0;
        for &end in &self.ends {
            let batch = batches.len() - 1;
            if !batches[batch].has_room(end - from) {
                batches.push(Batch::default());
            }
            let batch = batches.len() - 1;
            batches[batch].push(0, &self.letters[from..end]);
            from = end;
        }
        batches
    }
}

/// Codes of several stretches.
#[derive(Default)]
pub(crate) struct Batch {
    /// One byte a base, 0 to 3.
    pub(crate) codes: Vec<u8>,
    /// The record of each stretch, and where it is.
    pub(crate) stretches: Vec<(u64, Range<usize>)>,
}

impl Batch {
    /// Whether a stretch of `bases` bases should join this batch.
    pub(crate) fn has_room(&self, bases: usize) -> bool {
        self.codes.is_empty() || self.codes.len() + bases <= BATCH_BASES
    }

    pub(crate) fn push(&mut self, record: u64, letters: &[u8]) {
        let from = self.codes.len();
        base::encode_best(letters, &mut self.codes);
        self.stretches.push((record, from..self.codes.len()));
    }

    pub(crate) fn clear(&mut self) {
        self.codes.clear();
        self.stretches.clear();
    }
}
