//! Histograms: the exact number of distinct k-mers with each count.

mod fastk;
mod file;

use std::collections::BTreeMap;
use std::io::{self, Write};

pub use file::{BadLine, HistogramFile, HistogramLines};

/// Counts below this are stored in an array.
const DENSE: usize = 1 << 12;

/// The largest count with its own row in the default output of `jellyfish histo` (without `-h`).
const JELLYFISH_MAX: u32 = 10_000;

merganser_run::named! {
    /// The output format of a histogram.
    #[derive(Default)]
    pub enum HistogramFormat {
        /// `COUNT<TAB>NUMBER` lines; counts above the requested maximum are omitted.
        #[default]
        Tsv = "tsv",
        /// `COUNT NUMBER` lines as `jellyfish histo` writes them. One row after the requested maximum (by
        /// default 10,000) has the number of k-mers with all larger counts.
        Jellyfish = "jellyfish",
        /// FastK's binary `.hist` with counts up to 32,767 or the requested maximum; the last row includes all
        /// larger counts.
        FastK = "fastk",
    }
}

/// The number of distinct k-mers for each count from 1.
#[derive(Clone, Debug)]
pub struct Histogram {
    dense: Vec<u64>,
    sparse: BTreeMap<u32, u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { dense: vec![0; DENSE], sparse: BTreeMap::new() }
    }
}

impl Histogram {
    /// Adds one distinct k-mer that occurred `count` times.
    #[inline(always)]
    pub fn add(&mut self, count: u32) {
        match self.dense.get_mut(count as usize) {
            Some(number) => *number += 1,
            None => *self.sparse.entry(count).or_insert(0) += 1,
        }
    }

    /// Adds `number` distinct k-mers that each occurred `count` times. Sums are limited to `u64::MAX`, since
    /// files can have any numbers.
    #[inline]
    pub fn add_many(&mut self, count: u32, number: u64) {
        match self.dense.get_mut(count as usize) {
            Some(sum) => add_to(sum, number),
            None if number > 0 => add_to(self.sparse.entry(count).or_insert(0), number),
            None => {}
        }
    }

    /// Adds one distinct k-mer with a count that may be 0, which is ignored, without a branch for it.
    #[inline(always)]
    pub fn add_or_ignore(&mut self, count: u32) {
        match self.dense.get_mut(count as usize) {
            // Index 0 collects the counts of 0; it is never read.
            Some(number) => *number += 1,
            None => self.add(count),
        }
    }

    /// Adds the numbers of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for (number, more) in self.dense.iter_mut().zip(&other.dense) {
            add_to(number, *more);
        }
        for (&count, &more) in &other.sparse {
            add_to(self.sparse.entry(count).or_insert(0), more);
        }
    }

    /// Returns `(count, distinct k-mers)` in ascending order of counts, without zeros.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let dense =
            self.dense.iter().enumerate().skip(1).map(|(count, &number)| (count as u32, number));
        let sparse = self.sparse.iter().map(|(&count, &number)| (count, number));
        dense.chain(sparse).filter(|&(_, number)| number > 0)
    }

    /// Returns the number of distinct k-mers whose counts are within the bounds.
    pub fn distinct(&self, least: u32, most: u32) -> u64 {
        self.within(least, most).map(|(_, number)| number).fold(0, u64::saturating_add)
    }

    /// Returns the number of occurrences of k-mers whose counts are within the bounds.
    pub fn total(&self, least: u32, most: u32) -> u64 {
        let occurrences = |(count, number): (u32, u64)| number.saturating_mul(u64::from(count));
        self.within(least, most).map(occurrences).fold(0, u64::saturating_add)
    }

    /// Returns the largest count, or 0 if the histogram is empty.
    pub fn max(&self) -> u32 {
        self.iter().last().map_or(0, |(count, _)| count)
    }

    fn within(&self, least: u32, most: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.iter().filter(move |&(count, _)| (least..=most).contains(&count))
    }

    /// Parses the bytes of a `.hist` file of FastK; `None` if they are not valid. The last row, of count
    /// 32,767, includes all larger counts.
    pub fn of_fastk(bytes: &[u8]) -> Option<HistogramFile> {
        fastk::parse(bytes)
    }

    /// Writes a line for each count up to `most`, if given, for k-mers of length `k`, and returns the number of
    /// distinct k-mers that were omitted.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write(
        &self,
        format: HistogramFormat,
        k: usize,
        most: Option<u32>,
        out: &mut impl Write,
    ) -> io::Result<u64> {
        let (between, most) = match format {
            HistogramFormat::FastK => {
                let high = most.unwrap_or(u32::MAX).min(fastk::HIGH);
                out.write_all(&fastk::bytes(self, k, high))?;
                return Ok(0);
            }
            HistogramFormat::Tsv => ('\t', most.unwrap_or(u32::MAX)),
            HistogramFormat::Jellyfish => (' ', most.unwrap_or(JELLYFISH_MAX)),
        };
        for (count, number) in self.within(1, most) {
            writeln!(out, "{count}{between}{number}")?;
        }
        let Some(beyond) = most.checked_add(1) else { return Ok(0) };
        let larger = self.distinct(beyond, u32::MAX);
        if format == HistogramFormat::Tsv {
            return Ok(larger);
        }
        if larger > 0 {
            writeln!(out, "{beyond} {larger}")?;
        }
        Ok(0)
    }
}

fn add_to(sum: &mut u64, number: u64) {
    *sum = sum.saturating_add(number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sums_and_text_of_small_and_large_counts() {
        let (mut h, mut other) = (Histogram::default(), Histogram::default());
        [1, 1, 3, 70_000].into_iter().for_each(|c| h.add(c));
        [3, 70_000, u32::MAX].into_iter().for_each(|c| other.add(c));
        h.merge(&other);
        let all: Vec<_> = h.iter().collect();
        assert_eq!(all, [(1, 2), (3, 2), (70_000, 2), (u32::MAX, 1)]);
        assert_eq!((h.distinct(2, 70_000), h.total(2, 70_000)), (4, 140_006));
        assert_eq!(h.max(), u32::MAX);
        let mut text = Vec::new();
        assert_eq!(h.write(HistogramFormat::Tsv, 21, Some(3), &mut text).expect("memory"), 3);
        assert_eq!(text, b"1\t2\n3\t2\n");
        let jellyfish = |most: Option<u32>| {
            let mut text = Vec::new();
            assert_eq!(
                h.write(HistogramFormat::Jellyfish, 21, most, &mut text).expect("memory"),
                0
            );
            String::from_utf8(text).expect("digits")
        };
        assert_eq!(jellyfish(None), "1 2\n3 2\n10001 3\n");
        assert_eq!(jellyfish(Some(1)), "1 2\n2 5\n");
        assert_eq!(jellyfish(Some(u32::MAX)), format!("1 2\n3 2\n70000 2\n{} 1\n", u32::MAX));
    }

    #[test]
    fn numbers_beyond_all_are_the_largest() {
        let text = "1 18446744073709551615\n70000 9223372036854775808\n";
        let mut histogram = Histogram::parse(text).unwrap().histogram;
        histogram.merge(&histogram.clone());
        assert_eq!(histogram.distinct(1, 1), u64::MAX);
        assert_eq!(histogram.distinct(70_000, 70_000), u64::MAX);
        assert_eq!(histogram.total(2, u32::MAX), u64::MAX);
        assert_eq!(histogram.distinct(1, u32::MAX), u64::MAX);
    }
}
