//! A table that is in memory as a whole.

use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;

use super::Lookup;
use super::load::Sections;
use super::sliding::Sliding;
use crate::Error;
use crate::tables::AnyTable;

/// The number of letters that a worker looks up at a time: the letters, their counts and the results stay in
/// the second-level cache.
const LETTERS_AT_ONCE: usize = 128 << 10;

pub(crate) struct Resident<K> {
    k: usize,
    canonical: bool,
    sections: Sections<K>,
    cancel: Cancel,
}

impl<K: Kmer> Resident<K> {
    pub(super) fn new(table: &AnyTable, sections: Sections<K>, cancel: &Cancel) -> Resident<K> {
        let (k, canonical) = (table.description().k, table.description().canonical);
        Resident { k, canonical, sections, cancel: cancel.clone() }
    }
}

impl<K: Kmer> Lookup for Resident<K> {
    fn k(&self) -> usize {
        self.k
    }

    fn letters_at_once(&self) -> usize {
        LETTERS_AT_ONCE
    }

    fn resident_bytes(&self) -> Option<u64> {
        Some(self.sections.bytes())
    }

    fn takes_all_threads(&self) -> bool {
        false
    }

    fn counts(&self, letters: &[u8], stride: usize, counts: &mut Vec<u32>) -> Result<(), Error> {
        self.cancel.check()?;
        let sliding = Sliding { k: self.k, canonical: self.canonical, stride };
        sliding.begin(letters, counts);
        self.sections.look_up(sliding, letters, counts);
        Ok(())
    }

    fn counts_of_words(&self, kmers: &[u64], counts: &mut Vec<u32>) -> Result<(), Error> {
        self.cancel.check()?;
        counts.clear();
        counts.resize(kmers.len(), 0);
        let (k, canonical) = (self.k, self.canonical);
        self.sections.look_up_words(k, canonical, kmers, counts);
        Ok(())
    }
}
