//! The histogram of a database.

use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use super::{Before, Database};
use crate::{Error, Histogram};

impl Database {
    /// Returns the number of k-mers with each count. The order of k-mers is checked although it does not
    /// matter, since overwritten records have counts, too.
    pub(crate) fn histogram(&self, threads: usize, cancel: &Cancel) -> Result<Histogram, Error> {
        with_kmer!(self.header.k, K => self.counts::<K>(threads, cancel))
    }

    fn counts<K: Kmer>(&self, threads: usize, cancel: &Cancel) -> Result<Histogram, Error> {
        let make = || (Histogram::default(), Vec::new());
        let parts =
            self.each_range(threads, cancel, make, |(histogram, bytes), bin, from, to| {
                let entries = self.entries(bin, from, to)?;
                let mut before = Before::new(entries[0]);
                self.scan::<K>(&entries, from, bytes, |kmer, count| {
                    before.check(self, kmer)?;
                    histogram.add(count);
                    Ok(())
                })
            })?;
        let mut histogram = Histogram::default();
        parts.iter().for_each(|(part, _)| histogram.merge(part));
        Ok(histogram)
    }
}
