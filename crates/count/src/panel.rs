//! Counting only the k-mers of a panel: each is looked up in a table in memory that has a counter for each k-mer, so that
//! memory and time do not depend on the k-mers of the reads.

use merganser_kmers::Histogram;
use merganser_kmers::lookup::Panel;
use merganser_run::{Cancel, each, prefer_huge_pages};
use merganser_seq::kmer::Kmer;

use crate::emit::{Sections, Stretch, Stretches, TableContents};
use crate::fragments::{Consumer, Fragment};
use crate::{Config, Error};

/// The number of k-mers that are looked up in one call, if they are not grouped.
const AT_ONCE: usize = 256;
/// The size of a panel in bytes from which on k-mers are grouped: smaller ones are in the cache.
const MIN_GROUPED_BYTES: u64 = 32 << 20;
/// The number of k-mers that is worth grouping, and the maximum.
const MIN_GROUPED: usize = 1 << 18;
const MAX_GROUPED: usize = 4 << 20;

/// The k-mers that wait to be looked up, grouped by their sections, so that few pages of memory are in use at a time: with
/// 16 threads and a panel of 100 million k-mers, 10 Gbases take 43 s instead of 57 s.
struct Waiting<K> {
    kmers: Vec<K>,
    /// The number of k-mers at which they are looked up.
    most: usize,
    grouped: Vec<K>,
    /// The next position in `grouped` for each section; empty if k-mers are not grouped.
    places: Vec<u32>,
}

impl<K: Kmer> Waiting<K> {
    fn new(panel: &Panel<K>, most: usize) -> Waiting<K> {
        let is_grouped = most > AT_ONCE;
        let reserved = |most: usize| {
            let mut kmers = Vec::with_capacity(most);
            prefer_huge_pages(kmers.spare_capacity_mut());
            kmers
        };
        Waiting {
            kmers: reserved(most),
            most,
            grouped: reserved(if is_grouped { most } else { 0 }),
            places: vec![0; if is_grouped { 1 << panel.section_bits() } else { 0 }],
        }
    }

    /// Returns the k-mers, grouped if they are.
    fn in_order(&mut self, panel: &Panel<K>) -> &[K] {
        if self.places.is_empty() {
            return &self.kmers;
        }
        self.places.fill(0);
        self.kmers.iter().for_each(|&kmer| self.places[panel.section_of(kmer)] += 1);
        let mut sum = 0;
        for place in &mut self.places {
            sum += std::mem::replace(place, sum);
        }
        self.grouped.resize(self.kmers.len(), K::default());
        for &kmer in &self.kmers {
            let place = &mut self.places[panel.section_of(kmer)];
            self.grouped[*place as usize] = kmer;
            *place += 1;
        }
        &self.grouped
    }
}

/// Returns the number of k-mers that each of `threads` workers should look up in one call, if `left` bytes are left.
pub(crate) fn at_once<K: Kmer>(panel: &Panel<K>, left: u64, threads: usize) -> usize {
    let room = left / 2 / threads as u64 / (2 * size_of::<K>() as u64);
    let most = (room as usize).min(MAX_GROUPED);
    match panel.bytes() > MIN_GROUPED_BYTES && most >= MIN_GROUPED {
        true => most,
        false => AT_ONCE,
    }
}

/// A worker that counts the k-mers of reads which a panel has.
pub(crate) struct PanelCounter<'p, K> {
    panel: &'p Panel<K>,
    k: usize,
    canonical: bool,
    waiting: Waiting<K>,
    /// The number of k-mers of the reads, whether the panel has them or not.
    pub(crate) kmers: u64,
}

impl<'p, K: Kmer> PanelCounter<'p, K> {
    /// Returns a worker that looks up `at_once` k-mers in one call.
    pub(crate) fn new(panel: &'p Panel<K>, config: &Config, at_once: usize) -> PanelCounter<'p, K> {
        let (k, canonical) = (config.k, config.is_canonical());
        PanelCounter { panel, k, canonical, waiting: Waiting::new(panel, at_once), kmers: 0 }
    }

    /// Looks up the k-mers that wait; to be called at the end, too.
    pub(crate) fn send(&mut self) {
        self.panel.add(self.waiting.in_order(self.panel));
        self.kmers += self.waiting.kmers.len() as u64;
        self.waiting.kmers.clear();
    }
}

impl<K: Kmer> Consumer for PanelCounter<'_, K> {
    fn batch(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error> {
        let (k, mask) = (self.k, K::mask(self.k));
        for fragment in fragments {
            let (mut forward, mut reverse) = (K::default(), K::default());
            for (at, &code) in codes[fragment.start..fragment.end].iter().enumerate() {
                forward = forward.push(code, mask);
                reverse = reverse.push_complement(code, k);
                if at + 1 < k {
                    continue;
                }
                let kmer = if self.canonical { forward.least(reverse) } else { forward };
                self.waiting.kmers.push(kmer);
                if self.waiting.kmers.len() == self.waiting.most {
                    self.send();
                }
            }
        }
        Ok(())
    }
}

/// The results of a panel: its k-mers whose counts are within the limits of the configuration.
pub(crate) struct PanelResults<'p, K> {
    panel: &'p Panel<K>,
    least: u32,
    most: u32,
}

impl<'p, K: Kmer> PanelResults<'p, K> {
    pub(crate) fn new(panel: &'p Panel<K>, config: &Config) -> PanelResults<'p, K> {
        PanelResults { panel, least: config.least(), most: config.most() }
    }

    /// Returns the histogram of all k-mers that occur, and the number of those that do not.
    pub(crate) fn histogram(
        &self,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<(Histogram, u64), Error> {
        let parts = each(threads, 0..1 << self.panel.section_bits(), cancel, |numbers| {
            let (mut histogram, mut absent, mut kmers) = (Histogram::default(), 0, Vec::new());
            for number in numbers {
                self.panel.section(number, &mut kmers);
                for &(_, count) in &kmers {
                    match count {
                        0 => absent += 1,
                        _ => histogram.add(count),
                    }
                }
            }
            Ok::<_, Error>((histogram, absent))
        })?;
        let mut all = (Histogram::default(), 0);
        for (histogram, absent) in parts {
            all.0.merge(&histogram);
            all.1 += absent;
        }
        Ok(all)
    }
}

impl<K: Kmer> TableContents<K> for PanelResults<'_, K> {
    fn sections(&self) -> Box<dyn Sections<K> + Send + '_> {
        Box::new(PanelSections { results: self, kmers: Vec::new() })
    }
}

/// A worker that reads sections out.
struct PanelSections<'r, 'p, K> {
    results: &'r PanelResults<'p, K>,
    kmers: Vec<(K, u32)>,
}

impl<K: Kmer> Sections<K> for PanelSections<'_, '_, K> {
    fn section(
        &mut self,
        section: usize,
        section_bits: u32,
        each: Stretches<'_, K>,
    ) -> Result<(), Error> {
        let PanelResults { panel, least, most } = *self.results;
        // The table has at most the k-mers of the panel, and so no more sections.
        let parts = 1 << (panel.section_bits() - section_bits);
        for part in 0..parts {
            panel.section(section * parts + part, &mut self.kmers);
            self.kmers.retain(|&(_, count)| (least..=most).contains(&count));
            each(Stretch::Kmers(&self.kmers), part + 1 == parts)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use merganser_kmers::tables::AnyTable;
    use merganser_run::Context;
    use merganser_test_random::Random;

    use super::*;

    #[test]
    fn grouped_k_mers_are_counted_like_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("panel.tsv");
        let lines = (0..1 << 14).step_by(3).map(|kmer: u64| {
            let mut letters = Vec::new();
            kmer.write_letters(7, &mut letters);
            format!("{}\t1\n", String::from_utf8(letters).unwrap())
        });
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        let config = Config { forward_only: true, ..Config::new(7) };
        let context = Context::new().threads(1);
        let table = AnyTable::open_with(&path, false, &context).unwrap();
        let mut random = Random(5);
        let codes: Vec<u8> = (0..9000).map(|_| random.below(4) as u8).collect();
        let fragments = [Fragment { start: 0, end: 4000 }, Fragment { start: 4001, end: 9000 }];
        let mut expected: BTreeMap<u64, u32> =
            (0..1 << 14).step_by(3).map(|kmer| (kmer, 0)).collect();
        for Fragment { start, end } in fragments {
            for window in codes[start..end].windows(7) {
                let kmer = window.iter().fold(0, |kmer, &code| kmer << 2 | u64::from(code));
                expected.entry(kmer).and_modify(|count| *count += 1);
            }
        }
        for most in [AT_ONCE, AT_ONCE + 1, 1000, 20_000] {
            let budget = merganser_run::Budget::new(1 << 30);
            let panel = Panel::<u64>::load(&table, budget, &context).unwrap();
            let mut counter = PanelCounter::new(&panel, &config, most);
            counter.batch(&codes, &fragments).unwrap();
            counter.send();
            assert_eq!(counter.kmers, 4000 - 6 + 4999 - 6);
            let (mut found, mut section) = (Vec::new(), Vec::new());
            for number in 0..1 << panel.section_bits() {
                panel.section(number, &mut section);
                found.append(&mut section);
            }
            assert!(found.into_iter().eq(expected.clone()), "{most}");
        }
    }
}
