//! Rows: made by workers, written in the order of their k-mers.

use std::io::Write;
use std::path::Path;

use merganser_io::{Output, OutputSet, put_decimal};
use merganser_run::InOrder;
use merganser_seq::kmer::Kmer;
use merganser_store::shard::JobShard;

use super::dense::Dense;
use super::{Cells, MatrixConfig, MatrixFormat, MatrixOutcome};
use crate::Error;
use crate::algebra::{Cut, Place, Work};

/// How rows are written.
#[derive(Clone, Debug)]
pub(super) struct RowFormat {
    pub(super) k: usize,
    pub(super) canonical: bool,
    /// Bytes of a k-mer in a dense matrix.
    pub(super) kmer_bytes: usize,
    pub(super) names: Vec<String>,
    pub(super) cells: Cells,
    pub(super) format: MatrixFormat,
    /// If it is but a range.
    pub(super) range: Option<JobShard>,
}

/// Rows of a range.
#[derive(Default)]
pub(super) struct Part {
    pub(super) rows: u64,
    /// What is written of them; of Parquet the k-mers' letters alone.
    pub(super) bytes: Vec<u8>,
    /// Of Parquet the cells, row by row.
    pub(super) cells: Vec<u32>,
}

/// Makes rows of ranges.
pub(super) struct Rows<'r, K> {
    config: &'r MatrixConfig,
    format: &'r RowFormat,
    cuts: &'r [Cut],
    in_order: &'r InOrder<Part, Sink>,
    /// k-mers of a range with their sample and count.
    entries: Vec<(K, u32, u32)>,
    row: Vec<u32>,
    outcome: MatrixOutcome,
    done: bool,
}

impl<'r, K: Kmer> Rows<'r, K> {
    pub(super) fn new(
        config: &'r MatrixConfig,
        format: &'r RowFormat,
        cuts: &'r [Cut],
        in_order: &'r InOrder<Part, Sink>,
    ) -> Rows<'r, K> {
        let outcome = MatrixOutcome { filled: vec![0; cuts.len()], ..MatrixOutcome::default() };
        let row = vec![0; cuts.len()];
        Rows { config, format, cuts, in_order, entries: Vec::new(), row, outcome, done: false }
    }

    /// All ranges were taken.
    pub(super) fn finish(mut self) -> MatrixOutcome {
        self.done = true;
        std::mem::take(&mut self.outcome)
    }

    /// Fills the row with the counts of a k-mer; false if it is not solid in enough samples.
    fn fill(&mut self, entries: std::ops::Range<usize>) -> bool {
        let entries = &self.entries[entries];
        let least = self.config.solid;
        let solid = entries.iter().filter(|entry| entry.2 >= least).count();
        if solid < self.config.min_samples {
            return false;
        }
        let is_rescued = self.config.rescue.is_some_and(|samples| solid >= samples);
        self.row.fill(0);
        for &(_, sample, count) in entries {
            if count >= least || is_rescued {
                self.row[sample as usize] = if self.config.presence { 1 } else { count };
                self.outcome.filled[sample as usize] += 1;
            }
        }
        true
    }
}

impl<K: Kmer> Work<K> for Rows<'_, K> {
    fn range(&mut self, place: Place, tables: &mut [Vec<(K, u32)>]) -> Result<bool, Error> {
        self.entries.clear();
        for ((sample, run), cut) in (0..).zip(tables).zip(self.cuts) {
            let kept = run.iter().filter(|entry| cut.keeps(entry.1));
            self.entries.extend(kept.map(|&(kmer, count)| (kmer, sample, count)));
        }
        // Runs that are sorted already are merged; samples stay in order.
        self.entries.sort_by_key(|entry| entry.0);
        let mut part = Part::default();
        let mut from = 0;
        while from < self.entries.len() {
            let kmer = self.entries[from].0;
            let same = self.entries[from..].iter().take_while(|entry| entry.0 == kmer).count();
            self.outcome.kmers += 1;
            if self.fill(from..from + same) {
                self.format.put(kmer, &self.row, &mut part);
            }
            from += same;
        }
        self.outcome.rows += part.rows;
        let weight = (part.bytes.len() + 4 * part.cells.len()) / size_of::<(K, u32)>();
        Ok(self.in_order.hand_in_some(place.section as u64, part, weight as u64, place.last))
    }
}

impl<K> Drop for Rows<'_, K> {
    fn drop(&mut self) {
        // After an error or a panic, nobody must wait for this worker's section.
        if !self.done {
            self.in_order.stop();
        }
    }
}

impl RowFormat {
    /// Adds a row.
    pub(super) fn put<K: Kmer>(&self, kmer: K, row: &[u32], part: &mut Part) {
        part.rows += 1;
        match self.format {
            MatrixFormat::Tsv => {
                kmer.write_letters(self.k, &mut part.bytes);
                for &cell in row {
                    part.bytes.push(b'\t');
                    put_decimal(cell.into(), &mut part.bytes);
                }
                part.bytes.push(b'\n');
            }
            MatrixFormat::Dense => self.put_dense(kmer, row, &mut part.bytes),
            MatrixFormat::Parquet => {
                kmer.write_letters(self.k, &mut part.bytes);
                part.cells.extend_from_slice(row);
            }
        }
    }

    fn put_dense<K: Kmer>(&self, kmer: K, row: &[u32], bytes: &mut Vec<u8>) {
        let mut whole = [0; merganser_seq::kmer::MAX_K / 4];
        kmer.store(&mut whole[..K::BYTES]);
        bytes.extend_from_slice(&whole[..self.kmer_bytes]);
        match self.cells {
            Cells::Counts => {
                row.iter().for_each(|cell| bytes.extend_from_slice(&cell.to_le_bytes()))
            }
            Cells::Presence => {
                let bits = row.chunks(8).map(|eight| {
                    eight.iter().enumerate().fold(0, |bits, (at, &cell)| bits | (cell as u8) << at)
                });
                bytes.extend(bits);
            }
        }
    }

    /// The first line of a text.
    fn header(&self) -> Vec<u8> {
        let mut line = b"kmer".to_vec();
        for name in &self.names {
            line.push(b'\t');
            line.extend_from_slice(name.as_bytes());
        }
        line.push(b'\n');
        line
    }
}

/// Writes rows.
pub(super) enum Sink {
    Text(Output),
    Dense(Box<Dense>),
    #[cfg(feature = "parquet")]
    Parquet(Box<super::parquet::Columns>),
}

impl Sink {
    pub(super) fn create(
        format: &RowFormat,
        path: &Path,
        outputs: &OutputSet,
    ) -> Result<Sink, Error> {
        match format.format {
            MatrixFormat::Tsv => {
                let mut output = outputs.output(path)?;
                output.write_all(&format.header())?;
                Ok(Sink::Text(output))
            }
            MatrixFormat::Dense => {
                Ok(Sink::Dense(Box::new(Dense::new(format, outputs.file(path)?)?)))
            }
            #[cfg(feature = "parquet")]
            MatrixFormat::Parquet => {
                let columns = super::parquet::Columns::new(format, outputs.file(path)?)?;
                Ok(Sink::Parquet(Box::new(columns)))
            }
            #[cfg(not(feature = "parquet"))]
            MatrixFormat::Parquet => {
                let problem = merganser_run::ConfigError::new(crate::formats::NO_PARQUET);
                Err(Error::Config(problem))
            }
        }
    }

    pub(super) fn put(&mut self, part: &Part) -> Result<(), Error> {
        match self {
            Sink::Text(output) => Ok(output.write_all(&part.bytes)?),
            Sink::Dense(dense) => dense.put(&part.bytes),
            #[cfg(feature = "parquet")]
            Sink::Parquet(columns) => columns.put(part),
        }
    }

    pub(super) fn finish(self, outcome: &MatrixOutcome) -> Result<(), Error> {
        match self {
            Sink::Text(output) => output.finish().map(drop).map_err(Error::from),
            Sink::Dense(dense) => dense.finish(outcome.rows),
            #[cfg(feature = "parquet")]
            Sink::Parquet(columns) => columns.finish(),
        }
    }
}
