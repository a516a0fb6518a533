//! The worker of a thread: decides which reads of a batch are kept, and makes their texts.

use merganser_alignments::{Compressor, SinkForm, TemplatePass};
use merganser_io::{Record, RecordBatch};
use merganser_run::engine::{Turn, Work};

use super::confirm::Confirmer;
use super::mask::Masker;
use super::output::{Name, OutputText};
use super::{Parts, Shape};
use crate::lookup::Lookup;
use crate::{Config, Confirmed, Error, Minimizers};

/// The capacity of a text that is kept for reuse, in bytes; a larger text, of a single giant read, is freed.
const MAX_KEPT: usize = 8 << 20;

/// The counts of a worker.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) records: u64,
    pub(super) bases: u64,
    pub(super) kept_records: u64,
    pub(super) kept_bases: u64,
    pub(super) masked_records: u64,
    pub(super) masked_bases: u64,
}

impl Tally {
    /// Counts the mates of a read or pair, with the bases of all.
    fn add(&mut self, mates: usize, bases: usize, is_kept: bool) {
        let (mates, bases) = (mates as u64, bases as u64);
        self.records += mates;
        self.bases += bases;
        if is_kept {
            self.kept_records += mates;
            self.kept_bases += bases;
        }
    }

    pub(super) fn plus(self, other: Tally) -> Tally {
        Tally {
            records: self.records + other.records,
            bases: self.bases + other.bases,
            kept_records: self.kept_records + other.kept_records,
            kept_bases: self.kept_bases + other.kept_bases,
            masked_records: self.masked_records + other.masked_records,
            masked_bases: self.masked_bases + other.masked_bases,
        }
    }
}

/// The number of minimizers of a read or pair that are looked up first. They are mostly sufficient for a match.
const FIRST: u32 = 6;

/// A read or pair: the range of its minimizers, and whether it matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    start: u32,
    end: u32,
    pub(super) is_match: bool,
}

/// A worker: the working space and counts of a thread.
pub(super) struct Worker<'r, L: Lookup> {
    config: &'r Config,
    pass: &'r TemplatePass<'r>,
    host: &'r L,
    /// The search of the reads that the minimizers keep, if there is one.
    confirmer: Option<Confirmer<'r>>,
    /// The masker of matching reads, if they are masked and not removed.
    masker: Option<Masker<L::Word>>,
    minimizers: Minimizers,
    values: Vec<L::Word>,
    bounds: Vec<usize>,
    /// The reads or pairs of the batch.
    units: Vec<Unit>,
    /// The indices of the units that are not decided yet.
    open: Vec<u32>,
    /// The indices of the values to look up.
    asked: Vec<u32>,
    /// The indices of the values that the host has: among the first minimizers of each unit, and among the others.
    found: [Vec<u32>; 2],
    hits: Vec<L::Word>,
    scratch: Vec<L::Word>,
    /// The outputs for kept reads and for other reads, with their compressors.
    outputs: [Vec<(&'r SinkForm, Compressor)>; 2],
    tally: Tally,
}

impl<'r, L: Lookup> Worker<'r, L> {
    pub(super) fn new(
        config: &'r Config,
        host: &'r L,
        pass: &'r TemplatePass<'r>,
        confirmer: Option<Confirmer<'r>>,
        shape: &'r Shape,
    ) -> Worker<'r, L> {
        let output = |form: &'r SinkForm| (form, form.compressor());
        Worker {
            config,
            pass,
            host,
            confirmer,
            masker: config.mask.map(|mask| Masker::new(mask, host.params())),
            minimizers: Minimizers::new(host.params()),
            values: Vec::new(),
            bounds: Vec::new(),
            units: Vec::new(),
            open: Vec::new(),
            asked: Vec::new(),
            found: Default::default(),
            hits: Vec::new(),
            scratch: Vec::new(),
            outputs: [&shape.kept, &shape.others].map(|each| each.iter().map(output).collect()),
            tally: Tally::default(),
        }
    }

    /// Returns the counts, and what the search in the host's haplotypes found.
    pub(super) fn into_counts(self) -> (Tally, Option<Confirmed>) {
        (self.tally, self.confirmer.map(|confirmer| confirmer.confirmed))
    }

    /// Frees the memory that a long record needed.
    fn release(&mut self) {
        self.minimizers = Minimizers::new(self.host.params());
        self.values = Vec::new();
        self.asked = Vec::new();
        self.found = Default::default();
        self.hits = Vec::new();
        self.scratch = Vec::new();
    }

    /// Decides the reads of a batch, and makes the texts for all outputs.
    fn decide(&mut self, batch: &RecordBatch, mut parts: Parts) -> Result<Parts, Error> {
        let count = self.outputs.iter().map(Vec::len).sum();
        parts.resize_with(count, OutputText::default);
        parts.iter_mut().for_each(|part| part.text.shrink_to(MAX_KEPT));
        self.pass.check(batch)?;
        self.find_minimizers(batch);
        self.judge();
        if let Some(confirmer) = &mut self.confirmer {
            confirmer.confirm(batch, &mut self.units)?;
        }
        let matching = (0..batch.reads()).filter(|&read| self.units[read].is_match);
        self.pass.note(batch, matching)?;
        let mates = batch.mates();
        let mut kept = 0;
        for read in 0..batch.reads() {
            let first = read * mates;
            let is_match = self.units[read].is_match;
            let is_kept = is_match == self.config.keep || self.masker.is_some();
            let records = || (first..first + mates).map(|at| batch.record(at));
            let bases: usize = records().map(|record| record.letters.len()).sum();
            self.tally.add(mates, bases, is_kept);
            let own = self.outputs[0].len();
            let (targets, forms) = match is_kept {
                true => (&mut parts[..own], &self.outputs[0]),
                false => (&mut parts[own..], &self.outputs[1]),
            };
            kept += u64::from(is_kept);
            if targets.is_empty() {
                continue;
            }
            let number = (is_kept && self.config.rename).then_some(kept);
            for (mate, record) in records().enumerate() {
                let at = mate % targets.len();
                let part = &mut targets[at];
                if let Some(alignments) = forms[at].0.alignments() {
                    alignments.put(batch, first + mate, &mut part.text)?;
                    continue;
                }
                let mate = if mates == 2 { mate as u8 + 1 } else { 0 };
                match self.masker.as_mut().filter(|_| is_match) {
                    None => put(part, &record, number, mate),
                    Some(masker) => {
                        let (letters, masked) = masker.mask(self.config, self.host, record.letters);
                        self.tally.masked_records += u64::from(masked > 0);
                        self.tally.masked_bases += masked;
                        put(part, &Record { letters, ..record }, number, mate);
                    }
                }
            }
        }
        let compressors = self.outputs.iter_mut().flatten().map(|(_, compressor)| compressor);
        for (part, compressor) in parts.iter_mut().zip(compressors) {
            if part.names.is_empty() {
                compressor.compress(&mut part.text)?;
            }
        }
        Ok(parts)
    }

    /// Finds the minimizers of the reads of a batch.
    fn find_minimizers(&mut self, batch: &RecordBatch) {
        let prefix =
            if self.config.prefix_length == 0 { usize::MAX } else { self.config.prefix_length };
        for at in 0..batch.len() {
            let letters = batch.record(at).letters;
            self.minimizers.push(&letters[..letters.len().min(prefix)]);
        }
        self.values.clear();
        self.bounds.clear();
        self.minimizers.take(&mut self.values, &mut self.bounds);
        let mut start = 0;
        let ends = self.bounds.chunks(batch.mates()).map(|mates| mates[mates.len() - 1] as u32);
        self.units.clear();
        self.units.extend(ends.map(|end| {
            let unit = Unit { start, end, is_match: false };
            start = end;
            unit
        }));
    }

    /// Decides which reads or pairs match, by their first minimizers if these suffice.
    fn judge(&mut self) {
        self.open.clear();
        self.open.extend(0..self.units.len() as u32);
        for step in 0..2 {
            self.asked.clear();
            for &number in &self.open {
                let Unit { start, end, .. } = self.units[number as usize];
                let middle = end.min(start + FIRST);
                self.asked.extend(if step == 0 { start..middle } else { middle..end });
            }
            self.found[step].clear();
            self.host.look_up(&self.values, &self.asked, &mut self.found[step]);
            let mut open = std::mem::take(&mut self.open);
            let mut next = [0; 2];
            open.retain(|&number| {
                let is_match = self.is_match(number as usize, step, &mut next);
                self.units[number as usize].is_match = is_match;
                !is_match
            });
            self.open = open;
        }
    }

    /// Whether a unit matches, given the hits of the steps so far. `next` points to the first hits after those of the
    /// units before.
    fn is_match(&mut self, number: usize, step: usize, next: &mut [usize; 2]) -> bool {
        let Unit { start, end, .. } = self.units[number];
        self.hits.clear();
        for (found, next) in self.found[..=step].iter().zip(next) {
            while let Some(&at) = found.get(*next).filter(|&&at| at < end) {
                // Smaller indices belong to units that were decided before.
                let value = self.values[at as usize];
                if at >= start && self.config.counts(self.host.params(), value) {
                    self.hits.push(value);
                }
                *next += 1;
            }
        }
        let all = &self.values[start as usize..end as usize];
        let thresholds = &self.config.thresholds;
        match step {
            0 => thresholds.is_match_already(all.len(), &mut self.hits),
            _ => thresholds.is_match(all, &mut self.hits, &mut self.scratch),
        }
    }
}

impl<L: Lookup> Work for Worker<'_, L> {
    type Batch = RecordBatch;
    type Output = Parts;
    type Error = Error;

    fn work(
        &mut self,
        batch: &mut RecordBatch,
        turn: &Turn<'_, Parts, Error>,
    ) -> Result<Parts, Error> {
        let parts = self.decide(batch, turn.spare().unwrap_or_default());
        if batch.is_long() {
            self.release();
        }
        parts
    }
}

/// Appends a record; if it is numbered, without its name.
fn put(part: &mut OutputText, record: &Record<'_>, number: Option<u64>, mate: u8) {
    let Some(number) = number else {
        record.write(&mut part.text);
        return;
    };
    let at = part.text.len() + 1;
    part.names.push(Name { at, number, mate });
    Record { name: b"", header: b"", ..*record }.write(&mut part.text);
}
