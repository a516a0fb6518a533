//! Loads sections of a table into memory, in parallel.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_run::{Cancel, Progress, Unit};
use merganser_seq::kmer::Kmer;

use super::lines::{Section, bytes_for};
use super::sliding::Sliding;
use crate::Error;
use crate::algebra::{Cut, Place, Session, Work};
use crate::formats::mgk::section_bits;
use crate::ranges::Ranges;

/// The number of k-mers whose lines are prefetched at a time.
const AT_ONCE: usize = 32;

/// Neighbouring sections.
#[derive(Debug, Default)]
pub(crate) struct Sections<K> {
    /// The number of first bits of a k-mer that select its section.
    pub(crate) bits: u32,
    /// The number of the first section.
    pub(crate) first: u32,
    pub(crate) sections: Vec<Section<K>>,
}

impl<K: Kmer> Sections<K> {
    /// Returns the size of all sections in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.sections.iter().map(Section::bytes).sum()
    }

    /// Returns the section of a k-mer, or `None` if it is not one of these.
    #[inline(always)]
    fn of(&self, kmer: K, k: usize) -> Option<&Section<K>> {
        self.sections.get(kmer.prefix(k, self.bits).wrapping_sub(self.first) as usize)
    }

    /// Prefetches the lines of up to [`AT_ONCE`] k-mers, and returns them.
    #[inline(always)]
    fn prefetched(&self, kmers: impl Iterator<Item = K>, k: usize) -> [usize; AT_ONCE] {
        let mut lines = [0; AT_ONCE];
        for (line, kmer) in lines.iter_mut().zip(kmers) {
            if let Some(section) = self.of(kmer, k) {
                *line = section.line_of(kmer);
                section.prefetch(*line);
            }
        }
        lines
    }

    /// Writes the counts of k-mers of `letters` that are in these sections to their positions in `counts`. Other
    /// positions are not changed; positions beyond the end of `counts` are ignored.
    pub(crate) fn look_up(&self, sliding: Sliding, letters: &[u8], counts: &mut [u32]) {
        let mut waiting = [(K::default(), 0usize); AT_ONCE];
        let mut number = 0;
        sliding.each(letters, |kmer: K, place| {
            if self.sections.len() >> self.bits == 0 && self.of(kmer, sliding.k).is_none() {
                return;
            }
            waiting[number] = (kmer, place);
            number += 1;
            if number == AT_ONCE {
                self.answer(sliding.k, &waiting, counts);
                number = 0;
            }
        });
        self.answer(sliding.k, &waiting[..number], counts);
    }

    /// Looks up k-mers of up to 32 bases that are given as integers.
    pub(crate) fn look_up_words(
        &self,
        k: usize,
        canonical: bool,
        kmers: &[u64],
        counts: &mut [u32],
    ) {
        let mut waiting = [(K::default(), 0usize); AT_ONCE];
        for (number, chunk) in kmers.chunks(AT_ONCE).enumerate() {
            let mut some = 0;
            for (at, &kmer) in chunk.iter().enumerate() {
                if k < 32 && kmer >> (2 * k) != 0 {
                    continue;
                }
                let kmer = K::from_low(kmer);
                let own = if canonical { kmer.least(kmer.reverse_complement(k)) } else { kmer };
                waiting[some] = (own, number * AT_ONCE + at);
                some += 1;
            }
            self.answer(k, &waiting[..some], counts);
        }
    }

    #[inline(always)]
    fn answer(&self, k: usize, waiting: &[(K, usize)], counts: &mut [u32]) {
        let lines = self.prefetched(waiting.iter().map(|&(kmer, _)| kmer), k);
        for (&line, &(kmer, place)) in lines.iter().zip(waiting) {
            if let (Some(section), Some(count)) = (self.of(kmer, k), counts.get_mut(place)) {
                *count = section.count(kmer, line);
            }
        }
    }
}

/// A table whose k-mers can be read in ascending order.
pub(super) struct Loading<'l, 's, K> {
    pub(super) session: &'l Session<'s>,
    pub(super) ranges: &'l [Box<dyn Ranges<K> + 'l>],
    pub(super) cut: Cut,
    /// Whether all counts are replaced by 1, so that none takes more than a byte.
    pub(super) without_counts: bool,
    pub(super) cancel: &'l Cancel,
}

impl<K: Kmer> Loading<'_, '_, K> {
    fn bits(&self) -> u32 {
        section_bits(self.ranges[0].kmers(), self.session.k)
    }

    /// Returns an upper bound of the size of the loaded table in bytes, not including large counts.
    pub(super) fn bytes(&self) -> u64 {
        bytes_for::<K>(self.ranges[0].kmers(), 1 << self.bits())
    }

    /// Loads the whole table, or returns `None` if it takes more than `most` bytes.
    pub(super) fn all(
        &self,
        most: u64,
        progress: &dyn Progress,
    ) -> Result<Option<Sections<K>>, Error> {
        self.some(self.bits(), 0..1 << self.bits(), most, progress)
    }

    /// Loads those of the 2^`bits` sections that are in `range`, or returns `None` if they take more than
    /// `most` bytes.
    pub(super) fn some(
        &self,
        bits: u32,
        range: Range<usize>,
        most: u64,
        progress: &dyn Progress,
    ) -> Result<Option<Sections<K>>, Error> {
        let taken = AtomicU64::new(0);
        let make = || Ok(InMemory { done: Vec::new(), taken: &taken, most });
        let kept = self.each(bits, range.clone(), make, progress)?;
        if taken.load(Ordering::Relaxed) > most {
            return Ok(None);
        }
        let first = range.start;
        let mut sections = vec![Section::default(); range.len()];
        for (number, section) in kept.into_iter().flat_map(|kept| kept.done) {
            sections[number - first] = section;
        }
        Ok(Some(Sections { bits, first: first as u32, sections }))
    }

    /// Passes each section to the receiver of a worker; `make` creates the receivers, which are returned.
    pub(super) fn each<T: Keep<K>>(
        &self,
        bits: u32,
        range: Range<usize>,
        make: impl Fn() -> Result<T, Error> + Sync,
        progress: &dyn Progress,
    ) -> Result<Vec<T>, Error> {
        let engine = self.session.engine(self.ranges, bits, progress, self.cancel);
        progress.stage("loading", Unit::Bytes, Some(engine.total));
        let (cut, without_counts) = (self.cut, self.without_counts);
        let make = || Filling { cut, without_counts, open: Vec::new(), keeper: make() };
        engine.run_some(range, make)?.into_iter().map(|worker| worker.keeper).collect()
    }
}

/// A receiver of complete sections from one worker.
pub(super) trait Keep<K>: Send {
    /// Takes a section; returns false if no further ones are needed.
    fn keep(&mut self, number: usize, section: Section<K>) -> Result<bool, Error>;
}

/// A receiver that keeps sections in memory.
struct InMemory<'h, K> {
    done: Vec<(usize, Section<K>)>,
    /// The size of the sections of all workers in bytes.
    taken: &'h AtomicU64,
    most: u64,
}

impl<K: Kmer> Keep<K> for InMemory<'_, K> {
    fn keep(&mut self, number: usize, section: Section<K>) -> Result<bool, Error> {
        let taken = self.taken.fetch_add(section.bytes(), Ordering::Relaxed) + section.bytes();
        self.done.push((number, section));
        Ok(taken <= self.most)
    }
}

/// The state of a worker that makes sections.
struct Filling<K, T> {
    cut: Cut,
    without_counts: bool,
    /// The k-mers of the section that is not complete yet.
    open: Vec<(K, u32)>,
    keeper: Result<T, Error>,
}

impl<K: Kmer, T: Keep<K>> Work<K> for Filling<K, T> {
    fn range(&mut self, place: Place, tables: &mut [Vec<(K, u32)>]) -> Result<bool, Error> {
        let Ok(keeper) = &mut self.keeper else { return Ok(false) };
        let kept = tables[0].iter().filter(|(_, count)| self.cut.keeps(*count));
        match self.without_counts {
            true => self.open.extend(kept.map(|&(kmer, _)| (kmer, 1))),
            false => self.open.extend(kept),
        }
        if !place.last {
            return Ok(true);
        }
        let section = Section::new(&self.open);
        self.open.clear();
        keeper.keep(place.section, section)
    }
}
