//! Distributes the ranges of all tables to workers.

use merganser_run::{Cancel, Numbers, Progress, each};
use merganser_seq::kmer::Kmer;

use super::merge::SortedKmers;
use crate::Error;
use crate::ranges::{RangeReader, Ranges};

/// The position of a range. k-mers that share their first bits form a section; a large section is divided into
/// several ranges, which go to one worker in ascending order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) section: usize,
    pub(crate) last: bool,
}

#[cfg(test)]
impl Place {
    /// Returns the place of a range, for tests.
    pub(crate) fn of(section: usize, last: bool) -> Place {
        Place { section, last }
    }
}

/// The work that is done with each range.
pub(crate) trait Work<K> {
    /// Takes a range of each table; returns false to end this worker because another one has failed.
    fn range(&mut self, place: Place, tables: &mut [SortedKmers<K>]) -> Result<bool, Error>;
}

/// The ranges of all tables, and the parameters of their distribution.
pub(crate) struct Engine<'e, K> {
    pub(super) tables: &'e [Box<dyn Ranges<K> + 'e>],
    pub(super) k: usize,
    /// The number of first bits of a k-mer that select its section.
    pub(super) section_bits: u32,
    /// The largest number of k-mers in a range, summed over all tables.
    pub(super) most: u64,
    pub(super) threads: usize,
    pub(super) progress: &'e dyn Progress,
    /// The amount of progress that all sections make together.
    pub(crate) total: u64,
    pub(super) cancel: &'e Cancel,
}

impl<K: Kmer> Engine<'_, K> {
    /// Passes every range to one of the workers that `make` creates, and returns the workers.
    pub(crate) fn run<W: Work<K> + Send>(
        &self,
        make: impl Fn() -> W + Sync,
    ) -> Result<Vec<W>, Error> {
        self.run_some(0..1 << self.section_bits, make)
    }

    /// Passes the ranges of the sections in `range` to workers, as [`Engine::run`] does.
    pub(crate) fn run_some<W: Work<K> + Send>(
        &self,
        range: std::ops::Range<usize>,
        make: impl Fn() -> W + Sync,
    ) -> Result<Vec<W>, Error> {
        let at_once = self.at_once();
        let firsts = range.start / at_once..range.end.div_ceil(at_once);
        each(self.threads, firsts, self.cancel, |firsts| self.worker(firsts, &range, make()))
    }

    /// Returns the number of neighbouring sections that a worker takes at a time: those that some table can
    /// only read together, if that leaves enough for all workers.
    fn at_once(&self) -> usize {
        let together = self.tables.iter().map(|table| table.together()).min();
        let finer = self.section_bits.saturating_sub(together.unwrap_or(u32::MAX));
        let enough = (1usize << self.section_bits) / (4 * self.threads.max(1));
        (1 << finer).min(enough.max(1))
    }

    fn worker<W: Work<K>>(
        &self,
        firsts: &mut Numbers<'_>,
        range: &std::ops::Range<usize>,
        work: W,
    ) -> Result<W, Error> {
        let (sections, at_once) = (1usize << self.section_bits, self.at_once());
        let mut worker = Worker {
            engine: self,
            readers: self.tables.iter().map(|table| table.reader()).collect(),
            runs: self.tables.iter().map(|_| Vec::new()).collect(),
            work,
        };
        for first in firsts.map(|number| number * at_once) {
            for section in first.max(range.start)..(first + at_once).min(range.end) {
                let place = Place { section, last: true };
                if !worker.range(K::from_low(section as u64), self.section_bits, place)? {
                    return Ok(worker.work);
                }
                let share = |section: usize| self.total * section as u64 / sections as u64;
                self.progress.advance(share(section + 1) - share(section));
            }
        }
        Ok(worker.work)
    }
}

struct Worker<'w, 'e, K, W> {
    engine: &'w Engine<'e, K>,
    readers: Vec<Box<dyn RangeReader<K> + 'w>>,
    runs: Vec<SortedKmers<K>>,
    work: W,
}

impl<K: Kmer, W: Work<K>> Worker<'_, '_, K, W> {
    /// Reads a range and works on it; a range with too many k-mers is halved until it fits.
    fn range(&mut self, prefix: K, bits: u32, place: Place) -> Result<bool, Error> {
        self.engine.cancel.check()?;
        let mut kmers = 0;
        for reader in &mut self.readers {
            kmers += reader.at_most(prefix, bits)?;
        }
        if kmers > self.engine.most && bits < 2 * self.engine.k as u32 {
            let lower = prefix.shl(1);
            let upper = lower.or(K::from_low(1));
            return Ok(self.range(lower, bits + 1, Place { last: false, ..place })?
                && self.range(upper, bits + 1, place)?);
        }
        for (reader, run) in self.readers.iter_mut().zip(&mut self.runs) {
            reader.read(prefix, bits, run)?;
        }
        self.work.range(place, &mut self.runs)
    }
}
