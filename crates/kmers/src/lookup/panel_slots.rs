//! Panels whose sections are chosen by the caller: all k-mers of a slot are in one section.

use std::marker::PhantomData;

use merganser_run::{Budget, Context, Unit, each};
use merganser_seq::kmer::Kmer;
use merganser_store::{BlockPool, Records, Scatter, Scattering, Spilling, Storage};

use super::lines::{Section, bytes_for};
use super::panel::{Panel, PanelSection, check_room};
use crate::Error;
use crate::algebra::{Engine, Place, Session, Work};
use crate::formats::mgk::section_bits;
use crate::tables::AnyTable;

/// The size of a block of scattered k-mers, in bytes.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 1 << 10..=16 << 10;

/// Assigns k-mers to slots, the units that are distributed over the sections of a panel.
pub trait AssignSlots<K>: Send {
    /// Replaces `slots` by the slot of each of the k-mers, all less than the number of slots.
    fn slots_of(&mut self, kmers: &[(K, u32)], slots: &mut Vec<u32>);
}

/// The distribution of slots over sections.
pub trait Distribution: Sync {
    /// Returns the section of a slot.
    fn section_of(&self, slot: u32) -> usize;
}

impl<K: Kmer> Panel<K> {
    /// Loads the k-mers of a table as [`Panel::load`] does, in sections by their slots: each worker assigns k-mers to
    /// `slots` slots by what `make` returns. `distribute` is called with the number of k-mers of each slot and returns
    /// the number of sections and the distribution, which is returned. k-mers wait in memory or on disk, as `storage` allows,
    /// until all of a section are known.
    ///
    /// # Errors
    /// If the table cannot be read, or there is too little memory, or no disk to wait on.
    ///
    /// # Panics
    /// If the table is not [sorted](AnyTable::sorted): it is read twice.
    pub fn load_by_slots<S: AssignSlots<K>, D: Distribution>(
        table: &AnyTable,
        slots: usize,
        make: impl Fn() -> S + Sync,
        distribute: impl FnOnce(&[u64]) -> (usize, D),
        (budget, storage): (Budget, Storage),
        context: &Context,
    ) -> Result<(Panel<K>, D), Error> {
        let (progress, cancel, threads) = (&*context.progress, &context.cancel, context.threads);
        assert!(!table.is_unsorted(), "gathered k-mers can be read once");
        let session = Session::new(std::slice::from_ref(table), 1, context)?;
        let ranges = session.ranges::<K>(progress, cancel)?;
        let (kmers, bits) = (ranges[0].kmers(), section_bits(ranges[0].kmers(), session.k));
        let engine = session.engine(&ranges, bits, progress, cancel);
        progress.stage("loading", Unit::Bytes, Some(2 * engine.total));

        let (sections, distribution) = distribute(&weigh(&engine, slots, &make)?);
        let left = check_room(budget, bytes_for::<K>(kmers, sections as u64), kmers)?;
        let block_bytes =
            (left / 8 / sections as u64).clamp(*BLOCK_BYTES.start(), *BLOCK_BYTES.end());
        let directory = context.temp_dir.clone();
        let limit = left.saturating_sub(sections as u64 * block_bytes);
        let spilling = Spilling { storage, limit, directory };
        let pool = BlockPool::new(block_bytes as usize, spilling);
        let scatter = Scatter::new(BySection { sections, width: PhantomData }, &pool);
        let make = || Scattered {
            slots_of: make(),
            slots: Vec::new(),
            distribution: &distribution,
            writer: scatter.writer(),
        };
        for worker in engine.run(make)? {
            worker.writer.finish()?;
        }
        let parts = each(threads, 0..sections, cancel, |numbers| {
            let (mut buffer, mut items, mut done) = (Vec::new(), Vec::new(), Vec::new());
            for number in numbers {
                scatter.take(number, &mut buffer, &mut items)?;
                let kmers: Vec<(K, u32)> = items.iter().map(|&(_, kmer)| (kmer, 1)).collect();
                done.push((number, PanelSection::new(Section::new(&kmers))));
            }
            Ok::<_, Error>(done)
        })?;
        let mut all: Vec<(usize, PanelSection<K>)> = parts.into_iter().flatten().collect();
        all.sort_unstable_by_key(|&(number, _)| number);
        let all = all.into_iter().map(|(_, section)| section).collect();
        let panel = Panel::new(session.k, None, all).loaded_with(pool.spilled());
        Ok((panel, distribution))
    }
}

/// Returns the number of k-mers of each slot.
fn weigh<K: Kmer, S: AssignSlots<K>>(
    engine: &Engine<'_, K>,
    slots: usize,
    make: &(impl Fn() -> S + Sync),
) -> Result<Vec<u64>, Error> {
    let make = || Weighing { slots_of: make(), slots: Vec::new(), weights: vec![0; slots] };
    let mut weights = vec![0; slots];
    for worker in engine.run(make)? {
        weights.iter_mut().zip(worker.weights).for_each(|(all, weight)| *all += weight);
    }
    Ok(weights)
}

/// A worker that counts the k-mers of each slot.
struct Weighing<S> {
    slots_of: S,
    slots: Vec<u32>,
    weights: Vec<u64>,
}

impl<K: Kmer, S: AssignSlots<K>> Work<K> for Weighing<S> {
    fn range(&mut self, _place: Place, tables: &mut [Vec<(K, u32)>]) -> Result<bool, Error> {
        self.slots_of.slots_of(&tables[0], &mut self.slots);
        self.slots.iter().for_each(|&slot| self.weights[slot as usize] += 1);
        Ok(true)
    }
}

/// A worker that scatters k-mers over sections.
struct Scattered<'s, 'p, K: Kmer, S, D> {
    slots_of: S,
    slots: Vec<u32>,
    distribution: &'s D,
    writer: Scattering<'s, 'p, BySection<K>>,
}

impl<K: Kmer, S: AssignSlots<K>, D: Distribution> Work<K> for Scattered<'_, '_, K, S, D> {
    fn range(&mut self, _place: Place, tables: &mut [Vec<(K, u32)>]) -> Result<bool, Error> {
        self.slots_of.slots_of(&tables[0], &mut self.slots);
        for (&(kmer, _), &slot) in tables[0].iter().zip(&self.slots) {
            self.writer.keep((self.distribution.section_of(slot), kmer))?;
        }
        Ok(true)
    }
}

/// Records of k-mers with the numbers of their sections.
#[derive(Clone, Copy)]
struct BySection<K> {
    sections: usize,
    width: PhantomData<K>,
}

impl<K: Kmer> Records for BySection<K> {
    type Item = (usize, K);

    const MAX: usize = K::BYTES;

    fn ranges(&self) -> usize {
        self.sections
    }

    #[inline(always)]
    fn range(&self, (section, _): (usize, K)) -> usize {
        section
    }

    fn bytes(&self) -> usize {
        K::BYTES
    }

    #[inline(always)]
    fn put(&self, (_, kmer): (usize, K), to: &mut [u8]) -> usize {
        kmer.store(to);
        K::BYTES
    }

    #[inline(always)]
    fn each(&self, section: usize, records: &[u8], mut take: impl FnMut((usize, K))) {
        records.chunks_exact(K::BYTES).for_each(|record| take((section, K::load(record))));
    }
}
