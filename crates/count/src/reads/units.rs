//! Reads that are kept or dropped together: single ones, or pairs.

use merganser_io::Input;
use merganser_run::Cancel;

use super::records::{Record, Records};
use crate::Error;
use crate::tables::bad;

/// Gives units of reads in their order.
pub(super) struct Units {
    sources: Vec<Records>,
    /// Of each source, what was read and not given yet.
    queues: Vec<Vec<Record>>,
    /// Letters of the queues.
    letters: usize,
    /// Reads of a unit that come from one source.
    per_source: usize,
    given: u64,
    /// Bytes of input that were read and not told yet.
    bytes: u64,
}

impl Units {
    /// One list of inputs of single reads, or if `interleaved` of pairs; or two lists, of first and
    /// of second mates.
    pub(super) fn open(
        lists: &[Vec<Input>],
        interleaved: bool,
        cancel: &Cancel,
    ) -> Result<Units, Error> {
        let sources = lists.iter().map(|inputs| Records::open(inputs, cancel));
        Ok(Units {
            sources: sources.collect::<Result<_, _>>()?,
            queues: lists.iter().map(|_| Vec::new()).collect(),
            letters: 0,
            per_source: if interleaved { 2 } else { 1 },
            given: 0,
            bytes: 0,
        })
    }

    /// Reads of a unit.
    pub(super) fn reads(&self) -> usize {
        self.per_source * self.sources.len()
    }

    pub(super) fn bytes_total(&self) -> Option<u64> {
        self.sources.iter().map(Records::bytes_total).sum()
    }

    /// Bytes of input that were read since this was last asked.
    pub(super) fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    /// Units of `letters` letters in all or somewhat more, the reads of each side by side; none if
    /// there are no more.
    pub(super) fn next(&mut self, letters: usize) -> Result<Vec<Record>, Error> {
        while self.letters < letters && self.read_shortest()? {}
        let units = self.queues.iter().map(Vec::len).min().unwrap_or(0) / self.per_source;
        if units == 0 {
            self.end()?;
        }
        let reads = units * self.per_source;
        let batch: Vec<Record> = match &mut self.queues[..] {
            [queue] if queue.len() == reads => std::mem::take(queue),
            [queue] => queue.drain(..reads).collect(),
            queues => {
                let mut mates: Vec<_> =
                    queues.iter_mut().map(|queue| queue.drain(..reads)).collect();
                (0..units)
                    .flat_map(|_| mates.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>())
                    .collect()
            }
        };
        self.letters -= batch.iter().map(|read| read.sequence.len()).sum::<usize>();
        for unit in batch.chunks(self.reads()) {
            self.given += 1;
            self.belong_together(unit)?;
        }
        Ok(batch)
    }

    /// Reads on in the source of which the least is there; false if it has ended.
    fn read_shortest(&mut self) -> Result<bool, Error> {
        let shortest = (0..self.queues.len()).min_by_key(|&source| self.queues[source].len());
        self.read(shortest.unwrap_or(0))
    }

    fn read(&mut self, source: usize) -> Result<bool, Error> {
        let queue = &mut self.queues[source];
        let before = queue.len();
        let more = self.sources[source].next(queue, &mut self.bytes)?;
        self.letters += queue[before..].iter().map(|read| read.sequence.len()).sum::<usize>();
        Ok(more)
    }

    /// Nothing may be left over.
    fn end(&mut self) -> Result<(), Error> {
        for source in 0..self.sources.len() {
            while self.queues[source].is_empty() && self.read(source)? {}
        }
        let Some(longer) = self.queues.iter().position(|queue| !queue.is_empty()) else {
            return Ok(());
        };
        let given = self.given;
        let what =
            format!("it has a read without a mate behind {given} pairs: is a file truncated?");
        Err(bad(self.sources[longer].name().as_ref(), what))
    }

    fn belong_together(&self, unit: &[Record]) -> Result<(), Error> {
        let [first, second] = unit else { return Ok(()) };
        if first.pair_id() == second.pair_id() {
            return Ok(());
        }
        let ids = [first, second].map(|read| String::from_utf8_lossy(read.id()).into_owned());
        let name = self.sources[self.sources.len() - 1].name();
        let reason = format!(
            "pair {}: {} and {} are no mates; are reads missing or in another order?",
            self.given, ids[0], ids[1]
        );
        Err(bad(name.as_ref(), reason))
    }
}
