//! What a thread does: it takes batches, decides their reads, and hands in the texts.

use merganser_io::{Record, RecordBatch, Records};
use merganser_run::{Pipeline, Source};

use super::output::{Compressor, Name, Part, Writer};
use super::{Parts, Shape};
use crate::{Config, Error, Host, Minimizers, Names};

/// Text of a batch whose memory is worth keeping: one giant read's is not.
const MOST_KEPT: usize = 8 << 20;

/// Batches of reads.
pub(super) struct Reads {
    pub(super) records: Records,
}

impl Source for Reads {
    type Batch = RecordBatch;
    type Error = Error;

    fn next(&self, batch: &mut RecordBatch) -> Result<Option<u64>, Error> {
        Ok(self.records.next(batch)?)
    }

    fn number(batch: &RecordBatch) -> u64 {
        batch.number()
    }

    fn stop(&self) {
        self.records.stop();
    }
}

/// What a thread counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) records: u64,
    pub(super) bases: u64,
    pub(super) kept_records: u64,
    pub(super) kept_bases: u64,
}

impl Tally {
    pub(super) fn plus(self, other: Tally) -> Tally {
        Tally {
            records: self.records + other.records,
            bases: self.bases + other.bases,
            kept_records: self.kept_records + other.kept_records,
            kept_bases: self.kept_bases + other.kept_bases,
        }
    }
}

/// A thread's memory and counts.
pub(super) struct Worker<'r> {
    config: &'r Config,
    host: &'r Host,
    minimizers: Minimizers,
    values: Vec<u64>,
    bounds: Vec<usize>,
    /// The places of values that the host has.
    found: Vec<usize>,
    hits: Vec<u64>,
    scratch: Vec<u64>,
    /// Of what is kept, and of the others.
    compressors: [Vec<Compressor>; 2],
    tally: Tally,
}

impl<'r> Worker<'r> {
    pub(super) fn new(config: &'r Config, host: &'r Host, shape: &Shape) -> Worker<'r> {
        Worker {
            config,
            host,
            minimizers: Minimizers::new(host.params()),
            values: Vec::new(),
            bounds: Vec::new(),
            found: Vec::new(),
            hits: Vec::new(),
            scratch: Vec::new(),
            compressors: [&shape.kept, &shape.others]
                .map(|each| each.iter().map(|&compression| Compressor::new(compression)).collect()),
            tally: Tally::default(),
        }
    }

    /// Decides batches until there are none.
    pub(super) fn work(mut self, pipeline: &Pipeline<'_, Reads, Parts, Writer>) -> Tally {
        let mut batch = RecordBatch::default();
        while pipeline.next(&mut batch) && pipeline.wait_for_room(&batch) {
            let parts = pipeline.written().spare().unwrap_or_default();
            let done = self.decide(&batch, parts);
            if batch.is_long() {
                self.release();
                pipeline.hand_in_its_turn(batch.number(), done);
            } else {
                pipeline.hand_in(batch.number(), done);
            }
        }
        self.tally
    }

    /// Gives the memory of a long record back.
    fn release(&mut self) {
        self.minimizers = Minimizers::new(self.host.params());
        self.values = Vec::new();
        self.found = Vec::new();
        self.hits = Vec::new();
        self.scratch = Vec::new();
    }

    /// Makes what there is to write of a batch.
    fn decide(&mut self, batch: &RecordBatch, mut parts: Parts) -> Result<Parts, Error> {
        let count = self.compressors.iter().map(Vec::len).sum();
        parts.resize_with(count, Part::default);
        parts.iter_mut().for_each(|part| part.text.shrink_to(MOST_KEPT));
        self.look_up(batch);
        let mates = batch.mates();
        let (mut next, mut kept) = (0, 0);
        for read in 0..batch.reads() {
            let first = read * mates;
            let is_kept = self.is_match(first, mates, &mut next) == self.config.keep;
            let records = || (first..first + mates).map(|at| batch.record(at));
            let bases: usize = records().map(|record| record.letters.len()).sum();
            self.tally.records += mates as u64;
            self.tally.bases += bases as u64;
            let own = self.compressors[0].len();
            let targets = if is_kept {
                kept += 1;
                self.tally.kept_records += mates as u64;
                self.tally.kept_bases += bases as u64;
                &mut parts[..own]
            } else {
                &mut parts[own..]
            };
            if targets.is_empty() {
                continue;
            }
            let number = (is_kept && self.config.names == Names::Numbered).then_some(kept);
            for (mate, record) in records().enumerate() {
                let part = &mut targets[mate % targets.len().max(1)];
                put(part, &record, number, if mates == 2 { mate as u8 + 1 } else { 0 });
            }
        }
        let compressors = self.compressors.iter_mut().flatten();
        for (part, compressor) in parts.iter_mut().zip(compressors) {
            if part.names.is_empty() {
                compressor.compress(&mut part.text)?;
            }
        }
        Ok(parts)
    }

    /// Finds the minimizers of a batch, and which of them the host has.
    fn look_up(&mut self, batch: &RecordBatch) {
        let prefix = if self.config.prefix == 0 { usize::MAX } else { self.config.prefix };
        for at in 0..batch.len() {
            let letters = batch.record(at).letters;
            self.minimizers.push(&letters[..letters.len().min(prefix)]);
        }
        self.values.clear();
        self.bounds.clear();
        self.minimizers.take(&mut self.values, &mut self.bounds);
        self.found.clear();
        let found = &mut self.found;
        self.host.look_up(&self.values, |at| found.push(at));
    }

    /// Whether some records together match, of which the first place that was found is `next` or a later one.
    fn is_match(&mut self, first: usize, mates: usize, next: &mut usize) -> bool {
        let start = if first == 0 { 0 } else { self.bounds[first - 1] };
        let end = self.bounds[first + mates - 1];
        self.hits.clear();
        while let Some(&at) = self.found.get(*next).filter(|&&at| at < end) {
            self.hits.push(self.values[at]);
            *next += 1;
        }
        let all = &self.values[start..end];
        self.config.thresholds.is_match(all, &mut self.hits, &mut self.scratch)
    }
}

/// Appends a record; one that is numbered without its name.
fn put(part: &mut Part, record: &Record<'_>, number: Option<u64>, mate: u8) {
    let Some(number) = number else {
        record.write(&mut part.text);
        return;
    };
    let at = part.text.len() + 1;
    part.names.push(Name { at, number, mate });
    Record { name: b"", header: b"", ..*record }.write(&mut part.text);
}
