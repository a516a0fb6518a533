//! Counting only the k-mers of a panel: super-k-mers of the reads wait in bins, and those of a bin are looked up together, in
//! the section of the panel that has all k-mers with their signatures, so that it stays in a core's cache. Memory and time
//! do not depend on the k-mers of the reads.

use std::sync::atomic::{AtomicUsize, Ordering};

use merganser_kmers::lookup::{AssignSlots, Distribution, Panel};
use merganser_kmers::tables::AnyTable;
use merganser_run::{Budget, Context};
use merganser_seq::kmer::Kmer;
use merganser_seq::signature::Scanner;
use merganser_seq::simd::Level;
use merganser_store::{Bins, BlockPool, Writer};

use crate::binmap::{BinMap, Slots};
use crate::cpu::partition::{Partitioned, Partitioner};
use crate::cpu::windows::Windows;
use crate::fragments::{BATCH_BASES, Consumer, Fragment};
use crate::superkmer::{MAX_KMERS, records};
use crate::{Config, Error, plan};

/// The average number of k-mers in a section: lines and counters of 31-mers then take 0.8 MB.
const KMERS_PER_SECTION: u64 = 48 << 10;
/// The range of the number of sections. A worker keeps a section for itself for a while, so there are more than threads.
const SECTIONS: std::ops::RangeInclusive<u64> = 256..=16_384;
/// The number of k-mers that are looked up together.
const AT_ONCE: usize = 256;

/// A panel in sections by signatures.
pub(crate) struct SignaturePanel<K> {
    pub(crate) panel: Panel<K>,
    map: BinMap,
}

impl<K: Kmer> SignaturePanel<K> {
    /// Loads a panel; `budget` has the memory of everything else.
    pub(crate) fn load(
        config: &Config,
        table: &AnyTable,
        budget: Budget,
        context: &Context,
    ) -> Result<SignaturePanel<K>, Error> {
        let slots = Slots::new(config.signature_bases());
        let distribute = |weights: &[u64]| {
            let kmers: u64 = weights.iter().sum();
            let sections = (kmers / KMERS_PER_SECTION).clamp(*SECTIONS.start(), *SECTIONS.end());
            (sections as usize, BinMap::of_met(slots, weights, sections as usize))
        };
        let make = || SignatureSlots::new(config, slots);
        let room = (budget, config.storage);
        let loaded = Panel::load_by_slots(table, slots.count(), make, distribute, room, context)?;
        Ok(SignaturePanel { panel: loaded.0, map: loaded.1 })
    }
}

impl Distribution for BinMap {
    #[inline(always)]
    fn section_of(&self, slot: u32) -> usize {
        self.bin_of_slot(slot as usize)
    }
}

/// Assigns k-mers to the slots of their signatures.
struct SignatureSlots {
    k: usize,
    scanner: Scanner,
    slots: Slots,
    codes: Vec<u8>,
}

impl SignatureSlots {
    fn new(config: &Config, slots: Slots) -> SignatureSlots {
        let (k, p, canonical) = (config.k, config.signature_bases(), config.is_canonical());
        let scanner = Scanner::new(Level::best(), config.rule, k, p, canonical);
        SignatureSlots { k, scanner, slots, codes: Vec::new() }
    }
}

impl<K: Kmer> AssignSlots<K> for SignatureSlots {
    fn slots_of(&mut self, kmers: &[(K, u32)], slots: &mut Vec<u32>) {
        let k = self.k;
        slots.clear();
        for kmers in kmers.chunks(BATCH_BASES / k) {
            self.codes.clear();
            kmers.iter().for_each(|&(kmer, _)| append_codes(kmer, k, &mut self.codes));
            let own = self.scanner.scan(&self.codes).iter().step_by(k);
            slots.extend(own.map(|&signature| self.slots.of(signature) as u32));
        }
    }
}

/// The codes of the four bases of each byte.
const CODES: [[u8; 4]; 256] = {
    let mut codes = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let bases = byte as u8;
        codes[byte] = [bases >> 6, bases >> 4 & 3, bases >> 2 & 3, bases & 3];
        byte += 1;
    }
    codes
};

/// Appends the code of each base of a k-mer.
fn append_codes<K: Kmer>(kmer: K, k: usize, codes: &mut Vec<u8>) {
    let mut bytes = [0; 32];
    kmer.shl((8 * K::BYTES - 2 * k) as u32).store(&mut bytes[..K::BYTES]);
    let end = codes.len() + k;
    for &byte in bytes[..K::BYTES].iter().rev().take(k.div_ceil(4)) {
        codes.extend_from_slice(&CODES[usize::from(byte)]);
    }
    codes.truncate(end);
}

/// The super-k-mers that wait to be looked up.
pub(crate) struct Waiting<'p, K> {
    panel: &'p SignaturePanel<K>,
    pool: &'p BlockPool,
    bins: Bins<'p>,
    /// The number of bins that were taken because memory was full.
    taken: AtomicUsize,
}

impl<'p, K: Kmer> Waiting<'p, K> {
    /// Returns empty bins, which are emptied when they take more than half the limit of `pool`.
    pub(crate) fn new(panel: &'p SignaturePanel<K>, pool: &'p BlockPool) -> Waiting<'p, K> {
        let bins = Bins::new(pool, panel.panel.sections());
        Waiting { panel, pool, bins, taken: AtomicUsize::new(0) }
    }

    pub(crate) fn bins(&self) -> usize {
        self.bins.bins()
    }

    fn is_full(&self) -> bool {
        self.pool.held_bytes() > self.pool.limit() / 2
    }

    fn next(&self) -> usize {
        // Any bin will do, so no order with other memory accesses is needed.
        self.taken.fetch_add(1, Ordering::Relaxed) % self.bins()
    }
}

/// A worker that looks up super-k-mers.
pub(crate) struct PanelLookup<'w, 'p, K> {
    waiting: &'w Waiting<'p, K>,
    windows: Windows<K>,
    kmers: Vec<K>,
    buffer: Vec<u8>,
}

impl<'w, 'p, K: Kmer> PanelLookup<'w, 'p, K> {
    pub(crate) fn new(config: &Config, waiting: &'w Waiting<'p, K>) -> PanelLookup<'w, 'p, K> {
        let windows = Windows::new(config.k, config.is_canonical());
        let kmers = Vec::with_capacity(AT_ONCE + MAX_KMERS);
        PanelLookup { waiting, windows, kmers, buffer: Vec::new() }
    }

    /// Looks up the k-mers of a bin, and empties it.
    pub(crate) fn look_up(&mut self, bin: usize) -> Result<(), Error> {
        let PanelLookup { waiting, windows, kmers, buffer } = self;
        let contents = waiting.bins.take(bin);
        let mut section = waiting.panel.panel.section(bin);
        contents.read(buffer, |block| {
            for record in records(block, windows.k()) {
                windows.each(record.bases(), record.kmers, |kmer, _| kmers.push(kmer));
                if kmers.len() >= AT_ONCE {
                    section.add(kmers);
                    kmers.clear();
                }
            }
            Ok::<_, Error>(())
        })?;
        section.add(kmers);
        kmers.clear();
        Ok(())
    }
}

/// A worker that cuts reads into super-k-mers, and looks some up whenever too many wait.
pub(crate) struct PanelCounter<'w, 'p, K> {
    partitioner: Partitioner<'w, 'w, 'p>,
    lookup: PanelLookup<'w, 'p, K>,
}

impl<'w, 'p, K: Kmer> PanelCounter<'w, 'p, K> {
    pub(crate) fn new(config: &Config, waiting: &'w Waiting<'p, K>) -> PanelCounter<'w, 'p, K> {
        let writer = Writer::new(&waiting.bins, plan::stride(waiting.bins()));
        let partitioner = Partitioner::new(config, &waiting.panel.map, writer);
        PanelCounter { partitioner, lookup: PanelLookup::new(config, waiting) }
    }

    /// Leaves all super-k-mers of this worker in the bins; returns what was sent there.
    pub(crate) fn finish(self) -> Result<Partitioned, Error> {
        self.partitioner.finish()
    }
}

impl<K: Kmer> Consumer for PanelCounter<'_, '_, K> {
    fn batch(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error> {
        self.partitioner.batch(codes, fragments)?;
        let waiting = self.lookup.waiting;
        if waiting.is_full() {
            self.lookup.look_up(waiting.next())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use merganser_seq::kmer::Wide;
    use merganser_store::{Spilling, Storage};
    use merganser_test_random::Random;

    use super::*;

    /// Counts k-mers one by one.
    fn plain(codes: &[u8], fragments: &[Fragment], k: usize, canonical: bool) -> Counts {
        let mut counts = Counts::new();
        for window in fragments.iter().flat_map(|f| codes[f.start..f.end].windows(k)) {
            let reverse: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
            let own = if canonical { reverse.min(window.to_vec()) } else { window.to_vec() };
            *counts.entry(own).or_insert(0) += 1;
        }
        counts
    }

    type Counts = BTreeMap<Vec<u8>, u32>;

    /// How often each stretch is counted.
    const REPEATS: u32 = 30;

    fn check<K: Kmer>(k: usize, canonical: bool, limit: u64) {
        let mut random = Random(k as u64 + 7);
        let genome: Vec<u8> = (0..3000).map(|_| random.below(4) as u8).collect();
        let whole = Fragment { start: 0, end: genome.len() };
        let kmers: Vec<Vec<u8>> = plain(&genome, &[whole], k, canonical).into_keys().collect();
        let panel: Vec<&Vec<u8>> = kmers.iter().step_by(3).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("panel.tsv");
        let line = |kmer: &&Vec<u8>| {
            let letters = kmer.iter().map(|&code| char::from(b"ACGT"[usize::from(code)]));
            letters.chain("\t9\n".chars()).collect::<String>()
        };
        std::fs::write(&path, panel.iter().map(line).collect::<String>()).unwrap();
        let context = Context::new().threads(2);
        let table = AnyTable::open_with(&path, canonical, &context).unwrap();
        let table = table.sorted(&context).unwrap();
        let config = Config { forward_only: !canonical, ..Config::new(k) };
        let loaded =
            SignaturePanel::<K>::load(&config, &table, Budget::new(1 << 30), &context).unwrap();
        let directory = folder.path().to_owned();
        let spilling = Spilling { storage: Storage::Auto, limit, directory };
        let pool = BlockPool::new(1 << 10, spilling);
        let waiting = Waiting::new(&loaded, &pool);
        let mut counter = PanelCounter::new(&config, &waiting);
        let mut expected: Counts = panel.iter().map(|&kmer| (kmer.clone(), 0)).collect();
        let mut total = 0;
        for _ in 0..100 {
            let from = random.below(2000);
            let codes = &genome[from..from + 900];
            let fragments = [Fragment { start: 0, end: 350 }, Fragment { start: 351, end: 900 }];
            // Enough for the buffers of workers to overflow.
            for _ in 0..REPEATS {
                counter.batch(codes, &fragments).unwrap();
            }
            for (kmer, count) in plain(codes, &fragments, k, canonical) {
                total += u64::from(REPEATS * count);
                expected.entry(kmer).and_modify(|all| *all += REPEATS * count);
            }
        }
        assert_eq!(counter.finish().unwrap().kmers, total);
        assert_eq!(waiting.taken.load(Ordering::Relaxed) > 0, limit < 1 << 20);
        let mut lookup = PanelLookup::new(&config, &waiting);
        (0..waiting.bins()).for_each(|bin| lookup.look_up(bin).unwrap());
        let mut found = Counts::new();
        for number in 0..loaded.panel.sections() {
            loaded.panel.section(number).each(|kmer, count| {
                let codes = (0..k).map(|at| kmer.base(at, k)).collect();
                assert_eq!(found.insert(codes, count), None);
            });
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn panels_count_what_a_plain_count_of_their_k_mers_finds() {
        for canonical in [true, false] {
            // With little memory, bins are emptied while reads come.
            for limit in [8 << 10, 1 << 30] {
                check::<u64>(11, canonical, limit);
                check::<u64>(31, canonical, limit);
                check::<u128>(40, canonical, limit);
                check::<Wide>(101, canonical, limit);
            }
        }
    }
}
