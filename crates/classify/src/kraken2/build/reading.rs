//! Reading a library, which is done twice.

use merganser_io::{
    Header, Input, Keep, RecordBatch, RecordOptions, Records, Segment, check_letters,
};
use merganser_run::{Cancel, ConfigError, Progress};

use super::blocks::BLOCK;
use crate::Error;

/// Blocks of a stretch of a sequence, and about as many of short sequences in a batch.
const BLOCKS: usize = 32;

/// What is read, by whom.
pub(super) struct Reading<'a> {
    pub(super) inputs: &'a [Input],
    pub(super) k: usize,
    pub(super) threads: usize,
    pub(super) progress: &'a dyn Progress,
    pub(super) cancel: &'a Cancel,
}

impl Reading<'_> {
    /// Bytes of memory that reading takes, at the most: chunks on their way, and batches.
    pub(super) fn bytes(threads: usize, k: usize) -> u64 {
        threads as u64 * 6 * (BLOCKS * BLOCK + k) as u64 * 2
    }

    /// Opens the inputs. Sequences come in stretches that begin with a block, and end with the k - 1
    /// letters behind one.
    ///
    /// # Errors
    /// If one cannot be read, or not twice.
    pub(super) fn open(&self) -> Result<Records, Error> {
        let segments: Vec<Segment> = self.inputs.iter().cloned().map(Segment::Single).collect();
        let overlap = self.k - 1;
        let options = RecordOptions {
            keep: Keep { header: Header::Whole, qualities: false },
            batch_bytes: BLOCKS * BLOCK,
            chunk_bytes: BLOCKS * BLOCK,
            workers: self.threads,
            stretches: Some((BLOCKS * BLOCK + overlap, overlap)),
            cancel: self.cancel.clone(),
            ..RecordOptions::default()
        };
        let records = Records::open(&segments, options)?;
        if records.bytes_total().is_none() {
            return Err(Error::Config(ConfigError::new(
                "a library is read twice, which pipes and standard input cannot be: give files",
            )));
        }
        Ok(records)
    }

    /// Letters of a record that no batch before had.
    pub(super) fn new_letters(&self, batch: &RecordBatch, at: usize) -> u64 {
        let letters = batch.record(at).letters.len();
        let again = batch.stretch().is_some_and(|stretch| !stretch.begins);
        (letters - if again { self.k - 1 } else { 0 }) as u64
    }

    /// # Errors
    /// If a sequence has bytes that are no text.
    pub(super) fn check(&self, batch: &RecordBatch) -> Result<(), Error> {
        for at in 0..batch.len() {
            let letters = batch.record(at).letters;
            if let Some(place) = check_letters(letters) {
                let (file, record) = batch.place(at);
                return Err(Error::Input(format!(
                    "{file}: record {record} has the byte {} in its sequence: damaged, or no FASTA file",
                    merganser_io::shown_byte(letters[place])
                )));
            }
        }
        Ok(())
    }

    /// # Errors
    /// If the run was cancelled.
    pub(super) fn refuse_cancelled(&self) -> Result<(), Error> {
        if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// The error of a run: after a cancellation there is no other one.
    pub(super) fn or_cancelled(&self, error: Error) -> Error {
        self.refuse_cancelled().err().unwrap_or(error)
    }
}
