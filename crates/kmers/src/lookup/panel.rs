//! Panels: tables of which each k-mer has a counter, so that only these k-mers are counted.

use std::sync::atomic::{AtomicU32, Ordering};

use merganser_run::{Budget, Context, thousands};
use merganser_seq::kmer::Kmer;

use super::load::{Loading, Sections};
use crate::Error;
use crate::algebra::{Cut, Session};
use crate::tables::AnyTable;

/// The bytes of a line of k-mers for each byte of its counters, at least.
const LINE_BYTES_PER_COUNTER_BYTE: u64 = 2;

/// The k-mers of a table, each with a counter that any number of threads may increase. In memory, a k-mer of up to 32
/// bases takes about 17 bytes.
#[derive(Debug)]
pub struct Panel<K> {
    pub(super) k: usize,
    pub(super) kmers: Sections<K>,
    /// A counter for each slot of each section.
    pub(super) counters: Vec<Box<[AtomicU32]>>,
}

impl<K: Kmer> Panel<K> {
    /// Loads the k-mers of a table, whatever their counts, with counters of 0. `budget` has the memory of everything else.
    ///
    /// The progress stages are `gathering` and `loading`, in bytes of the table.
    ///
    /// # Errors
    /// If the table cannot be read, or there is too little memory.
    pub fn load(table: &AnyTable, budget: Budget, context: &Context) -> Result<Panel<K>, Error> {
        let (progress, cancel) = (&*context.progress, &context.cancel);
        let session = Session::new(std::slice::from_ref(table), 1, context)?;
        let ranges = session.ranges::<K>(progress, cancel)?;
        let loading = Loading {
            session: &session,
            ranges: &ranges,
            cut: Cut::NONE,
            without_counts: true,
            cancel,
        };
        let needed = loading.bytes() + loading.bytes() / LINE_BYTES_PER_COUNTER_BYTE;
        let what = format_args!("{} k-mers of the panel need", thousands(ranges[0].kmers()));
        budget.with(needed).check(what, "or give a smaller panel")?;
        let kmers = loading.all(u64::MAX, progress)?.unwrap_or_default();
        let zeros = |slots| (0..slots).map(|_| AtomicU32::new(0)).collect();
        let counters = kmers.sections.iter().map(|section| zeros(section.slots())).collect();
        Ok(Panel { k: session.k, kmers, counters })
    }

    /// Increases the counters of those of the k-mers that the panel has. Counters stop at `u32::MAX`.
    pub fn add(&self, kmers: &[K]) {
        self.kmers.each_slot_of(kmers, self.k, |section, slot| {
            let counter = &self.counters[section][slot];
            // Each counter is independent of all others, and is read after all threads have ended: no order is needed.
            if counter.fetch_add(1, Ordering::Relaxed) == u32::MAX {
                // Any later addition wraps around too, so the last change of such a counter is this one.
                counter.store(u32::MAX, Ordering::Relaxed);
            }
        });
    }

    /// Adds counts to the counters of a section from slot `first` on. Counters stop at `u32::MAX`. No other thread adds
    /// to them at the same time.
    pub(super) fn add_counts(&self, section: usize, first: usize, counts: &[u32]) {
        for (counter, &count) in self.counters[section][first..].iter().zip(counts) {
            if count > 0 {
                let all = counter.load(Ordering::Relaxed).saturating_add(count);
                counter.store(all, Ordering::Relaxed);
            }
        }
    }

    /// Returns the memory of the panel in bytes.
    pub fn bytes(&self) -> u64 {
        let counters: usize = self.counters.iter().map(|counters| 4 * counters.len()).sum();
        self.kmers.bytes() + counters as u64
    }

    /// Returns the number of the section that a k-mer belongs to.
    pub fn section_of(&self, kmer: K) -> usize {
        kmer.prefix(self.k, self.kmers.bits) as usize
    }

    /// Returns the number of first bits of a k-mer that select its section.
    pub fn section_bits(&self) -> u32 {
        self.kmers.bits
    }

    /// Replaces `kmers` by the k-mers of a section, in order, with their counters.
    pub fn section(&self, number: usize, kmers: &mut Vec<(K, u32)>) {
        kmers.clear();
        let (section, counters) = (&self.kmers.sections[number], &self.counters[number]);
        section.each_slot(|kmer, slot| {
            kmers.push((kmer, counters[slot].load(Ordering::Relaxed)));
        });
        kmers.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::thread;

    use super::*;

    #[test]
    fn all_threads_count_the_k_mers_of_the_panel() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("panel.tsv");
        // Every third of the 5-mers, with counts that do not matter.
        let letters = |kmer: u64| {
            let mut letters = Vec::new();
            kmer.write_letters(5, &mut letters);
            String::from_utf8(letters).unwrap()
        };
        let lines = (0..1024).step_by(3).map(|kmer| format!("{}\t{}\n", letters(kmer), kmer + 200));
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        let context = Context::new().threads(2);
        let table = AnyTable::open_with(&path, false, &context).unwrap();
        let panel = Panel::<u64>::load(&table, Budget::new(1 << 30), &context).unwrap();
        let mut random = merganser_test_random::Random(3);
        let seen: Vec<u64> = (0..5000).map(|_| random.below(1024) as u64).collect();
        thread::scope(|scope| {
            for part in seen.chunks(700) {
                scope.spawn(|| panel.add(part));
            }
        });
        let mut expected: BTreeMap<u64, u32> = (0..1024).step_by(3).map(|kmer| (kmer, 0)).collect();
        for kmer in &seen {
            if let Some(count) = expected.get_mut(kmer) {
                *count += 1;
            }
        }
        let (mut found, mut section) = (Vec::new(), Vec::new());
        for number in 0..1 << panel.section_bits() {
            panel.section(number, &mut section);
            found.append(&mut section);
        }
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn counters_stop_at_the_largest_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("panel.tsv");
        std::fs::write(&path, "ACG\t1\n").unwrap();
        let context = Context::new().threads(1);
        let table = AnyTable::open(&path).unwrap();
        let panel = Panel::<u64>::load(&table, Budget::new(1 << 30), &context).unwrap();
        let kmer = u64::from_letters(b"ACG").unwrap();
        for counters in &panel.counters {
            counters.iter().for_each(|counter| counter.store(u32::MAX - 2, Ordering::Relaxed));
        }
        panel.add(&[kmer; 5]);
        let mut section = Vec::new();
        let count = |number| {
            panel.section(number, &mut section);
            section.first().copied()
        };
        assert_eq!((0..1 << panel.section_bits()).find_map(count), Some((kmer, u32::MAX)));
    }
}
