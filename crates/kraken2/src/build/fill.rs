//! The second pass over a library, which stores its minimizers.

use std::sync::atomic::{AtomicU64, Ordering};

use merganser_io::{RecordBatch, Records};
use merganser_run::engine::{Source, each_batch};
use merganser_run::{InOrder, Unit};

use super::super::library::{LibraryReader, first_sequence};
use super::super::options::Kraken2Options;
use super::blocks::{Blocks, blocks};
use super::cells::{self, BlockKeys, Cut, Filling, Keys, Rule};

use crate::Error;

/// The number of batches per thread whose keys may wait for their turn.
const AHEAD: usize = 2;

/// The results of the first pass that the second needs.
#[derive(Clone, Copy)]
pub(super) struct Sequences<'a> {
    /// The node of each sequence; 0 for sequences without a taxon.
    pub(super) nodes: &'a [u32],
    /// The number of letters of all sequences.
    pub(super) letters: u64,
}

/// The state of one pass over the library.
struct Pass<'a, 't> {
    reading: &'a LibraryReader<'a>,
    options: &'a Kraken2Options,
    sequences: Sequences<'a>,
    /// The number of letters read so far.
    letters: AtomicU64,
    cut: Cut,
    rule: Rule<'t>,
    records: Records,
    ranges: Vec<InOrder<Keys, Filling<'t>>>,
}

/// Returns the maximum memory of keys that wait to be stored, in bytes.
pub(super) fn bytes(threads: usize) -> u64 {
    threads as u64 * (AHEAD as u64 + 2) * (8 << 20)
}

/// Fills `cells`, all of them 0, and returns how many are in use afterwards.
///
/// # Errors
/// If reading fails; if the table is full.
pub(super) fn fill(
    reading: &LibraryReader<'_>,
    options: &Kraken2Options,
    sequences: Sequences<'_>,
    rule: Rule<'_>,
    cells: &mut [u32],
) -> Result<u64, Error> {
    let cut = Cut::of(cells.len() as u64);
    if let Some(size) = fill_cut(reading, options, sequences, (cut, rule), cells)? {
        return Ok(size);
    }
    cells.fill(0);
    let whole = (Cut::whole(cells.len() as u64), rule);
    Ok(fill_cut(reading, options, sequences, whole, cells)?.unwrap_or_default())
}

fn fill_cut(
    reading: &LibraryReader<'_>,
    options: &Kraken2Options,
    sequences: Sequences<'_>,
    (cut, rule): (Cut, Rule<'_>),
    cells: &mut [u32],
) -> Result<Option<u64>, Error> {
    let records = reading.open()?;
    reading.progress.stage("table", Unit::Bytes, records.bytes_total());
    let ahead = (AHEAD * reading.threads + 1) as u64;
    let in_order = |range| InOrder::new(range, u64::MAX, ahead);
    let ranges = cells::cut(cells, cut, rule).into_iter().map(in_order).collect();
    let letters = AtomicU64::new(0);
    let pass = Pass { reading, options, sequences, letters, cut, rule, records, ranges };
    let keys = || pass.ranges.iter().map(|_| Keys::default()).collect::<Vec<_>>();
    let own = || (Blocks::new(options), keys());
    let LibraryReader { threads, progress, cancel, .. } = *reading;
    each_batch(&pass, threads, progress, cancel, own, |(blocks, keys), batch| {
        pass.fill(batch, blocks, keys);
        Ok::<(), Error>(())
    })?;
    let letters = pass.letters.into_inner();
    let filled = pass.ranges.into_iter().map(|range| range.into_sink().map(Filling::end));
    let filled = filled.collect::<Result<Vec<_>, Error>>()?;
    if letters != sequences.letters {
        return Err(Error::Input(format!(
            "the library changed between its two readings, from {} to {letters} letters: build again",
            sequences.letters
        )));
    }
    reading.progress.finish();
    Ok(cells::finish(cells, cut, rule, filled))
}

impl Source for Pass<'_, '_> {
    type Batch = RecordBatch;
    type Error = Error;

    fn next(&self, batch: &mut RecordBatch) -> Result<Option<u64>, Error> {
        Ok(self.records.next(batch)?)
    }

    fn number(batch: &RecordBatch) -> u64 {
        batch.number()
    }

    fn stop(&self, _number: u64) {
        self.records.stop();
        self.ranges.iter().for_each(InOrder::stop);
    }
}

impl Pass<'_, '_> {
    /// Computes the keys of a batch and hands them to their ranges.
    fn fill(&self, batch: &mut RecordBatch, blocks: &mut Blocks, keys: &mut [Keys]) {
        self.reading.mask(batch);
        let new = |at| self.reading.new_letters(batch, at);
        self.letters.fetch_add((0..batch.len()).map(new).sum(), Ordering::Relaxed);
        self.distribute(batch, blocks, keys);
        // Workers begin with different ranges, so that they do not wait for each other.
        let (part, all) = (batch.number(), self.ranges.len());
        for at in (0..all).map(|range| (range + part as usize) % all) {
            let range = &self.ranges[at];
            let own = std::mem::replace(&mut keys[at], range.spare().unwrap_or_default());
            if !range.hand_in_some(part, own, 1, true) {
                // The range failed; it returns its error at the end.
                return self.stop(part);
            }
        }
    }

    /// Computes the keys of a batch for each range.
    fn distribute(&self, batch: &RecordBatch, lists: &mut Blocks, keys: &mut [Keys]) {
        for keys in &mut *keys {
            keys.clear();
            keys.part = batch.number();
        }
        let begins = batch.stretch().is_none_or(|stretch| stretch.begins);
        let first = first_sequence(batch);
        let mut number = 0;
        for at in 0..batch.len() {
            let node = self.sequences.nodes.get(first as usize + at).copied().unwrap_or(0);
            let letters = self.reading.letters(batch, at);
            if node == 0 {
                continue;
            }
            for block in blocks(self.options.k, letters.len()) {
                let is_first = begins && block.start == 0;
                let hashes = lists.hashes(&letters[block], is_first);
                self.put(hashes, (number, node), keys);
                number += 1;
            }
        }
    }

    /// Appends the hashes of a block to the keys of their ranges.
    fn put(&self, hashes: &[u64], (block, node): (u32, u32), keys: &mut [Keys]) {
        if let [only] = &mut *keys {
            only.hashes.extend_from_slice(hashes);
        } else {
            for &hash in hashes {
                let range = self.cut.range_of(self.rule.homes.of(hash));
                keys[range].hashes.push(hash);
            }
        }
        for keys in keys {
            let end = keys.hashes.len() as u32;
            if keys.runs.last().map_or(0, |run| run.end) < end {
                keys.runs.push(BlockKeys { block, node, end });
            }
        }
    }
}
