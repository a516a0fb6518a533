//! Panels: tables of which each k-mer has a counter, so that only these k-mers are counted.

use std::sync::{Mutex, MutexGuard};

use merganser_run::locks::lock;
use merganser_run::{Budget, Context, thousands};
use merganser_seq::kmer::Kmer;

use super::lines::Section;
use super::load::Loading;
use crate::Error;
use crate::algebra::{Cut, Session};
use crate::tables::AnyTable;

/// The bytes of a line of k-mers for each byte of its counters, at least.
const LINE_BYTES_PER_COUNTER_BYTE: u64 = 2;

/// The number of k-mers whose lines are prefetched at a time.
const AT_ONCE: usize = 64;

/// The k-mers of a table, each with a counter, in sections. In memory, a k-mer of up to 32 bases takes about 17 bytes.
#[derive(Debug)]
pub struct Panel<K> {
    pub(super) k: usize,
    /// The number of first bits of a k-mer that select its section, if they do.
    pub(super) bits: Option<u32>,
    sections: Vec<Mutex<PanelSection<K>>>,
    /// The bytes of temporary files that loading took.
    spilled: u64,
}

/// Some k-mers of a panel with their counters.
#[derive(Debug, Default)]
pub struct PanelSection<K> {
    pub(super) lines: Section<K>,
    /// A counter for each slot of the lines.
    counters: Box<[u32]>,
}

impl<K: Kmer> PanelSection<K> {
    /// Returns distinct k-mers, whose counts do not matter, with counters of 0.
    pub(super) fn new(lines: Section<K>) -> PanelSection<K> {
        let counters = vec![0; lines.slots()].into_boxed_slice();
        PanelSection { lines, counters }
    }

    /// Increases the counters of those of the k-mers that the section has. Counters stop at `u32::MAX`.
    pub fn add(&mut self, kmers: &[K]) {
        for kmers in kmers.chunks(AT_ONCE) {
            let mut lines = [0; AT_ONCE];
            for (line, &kmer) in lines.iter_mut().zip(kmers) {
                *line = self.lines.line_of(kmer);
                self.lines.prefetch(*line);
            }
            for (&line, &kmer) in lines.iter().zip(kmers) {
                if let Some(slot) = self.lines.slot(kmer, line) {
                    self.counters[slot] = self.counters[slot].saturating_add(1);
                }
            }
        }
    }

    /// Adds counts to the counters from slot `first` on. Counters stop at `u32::MAX`.
    pub(super) fn add_counts(&mut self, first: usize, counts: &[u32]) {
        for (counter, &count) in self.counters[first..].iter_mut().zip(counts) {
            *counter = counter.saturating_add(count);
        }
    }

    /// Sets each counter to the count that `count_of` returns for its k-mer.
    pub fn set(&mut self, count_of: impl Fn(K) -> u32) {
        let PanelSection { lines, counters } = self;
        lines.each_slot(|kmer, slot| counters[slot] = count_of(kmer));
    }

    /// Calls `take` with each k-mer and its counter, in no particular order.
    pub fn each(&self, mut take: impl FnMut(K, u32)) {
        self.lines.each_slot(|kmer, slot| take(kmer, self.counters[slot]));
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes() + 4 * self.counters.len() as u64
    }
}

impl<K: Kmer> Panel<K> {
    /// Loads the k-mers of a table, whatever their counts, with counters of 0, in sections by their first bits. `budget`
    /// has the memory of everything else.
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
        check_room(budget, loading.bytes(), ranges[0].kmers())?;
        let loaded = loading.all(u64::MAX, progress)?.unwrap_or_default();
        let sections = loaded.sections.into_iter().map(PanelSection::new).collect();
        Ok(Panel::new(session.k, Some(loaded.bits), sections))
    }

    pub(super) fn new(k: usize, bits: Option<u32>, sections: Vec<PanelSection<K>>) -> Panel<K> {
        let sections = sections.into_iter().map(Mutex::new).collect();
        Panel { k, bits, sections, spilled: 0 }
    }

    /// Adds what loading took of the disk.
    pub(super) fn loaded_with(self, spilled: u64) -> Panel<K> {
        Panel { spilled, ..self }
    }

    /// Returns the memory of the panel in bytes.
    pub fn bytes(&self) -> u64 {
        (0..self.sections()).map(|number| self.section(number).bytes()).sum()
    }

    /// Returns the size in bytes of the temporary files that loading took.
    pub fn spilled(&self) -> u64 {
        self.spilled
    }

    /// Returns the number of sections.
    pub fn sections(&self) -> usize {
        self.sections.len()
    }

    /// Returns a section; other threads wait for it until the guard is dropped.
    pub fn section(&self, number: usize) -> MutexGuard<'_, PanelSection<K>> {
        lock(&self.sections[number])
    }
}

/// Checks that lines of `bytes` bytes with `kmers` k-mers and their counters fit into the memory; returns the bytes that
/// are left.
pub(super) fn check_room(budget: Budget, bytes: u64, kmers: u64) -> Result<u64, Error> {
    let needed = bytes + bytes / LINE_BYTES_PER_COUNTER_BYTE;
    let what = format_args!("{} k-mers of the panel need", thousands(kmers));
    Ok(budget.with(needed).check(what, "or give a smaller panel")?)
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
        let section_of = |kmer: &u64| kmer.prefix(5, panel.bits.unwrap()) as usize;
        thread::scope(|scope| {
            for part in seen.chunks(700) {
                scope.spawn(|| {
                    part.chunk_by(|a, b| section_of(a) == section_of(b))
                        .for_each(|part| panel.section(section_of(&part[0])).add(part));
                });
            }
        });
        let mut expected: BTreeMap<u64, u32> = (0..1024).step_by(3).map(|kmer| (kmer, 0)).collect();
        for kmer in &seen {
            if let Some(count) = expected.get_mut(kmer) {
                *count += 1;
            }
        }
        let mut found = BTreeMap::new();
        for number in 0..panel.sections() {
            panel.section(number).each(|kmer, count| assert_eq!(found.insert(kmer, count), None));
        }
        assert_eq!(found, expected);
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
        let mut found = Vec::new();
        for number in 0..panel.sections() {
            let mut section = panel.section(number);
            section.set(|_| u32::MAX - 2);
            section.add(&[kmer; 5]);
            section.each(|kmer, count| found.push((kmer, count)));
        }
        assert_eq!(found, [(kmer, u32::MAX)]);
    }
}
