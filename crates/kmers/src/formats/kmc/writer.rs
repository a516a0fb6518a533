//! Writes databases of version 0 ("KMC1"), as kmc_tools does.

use std::io::Write;
use std::time::{Duration, Instant};

use merganser_io::AtomicFile;
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::formats::mgk::Header;
use crate::formats::packed::{count_bytes, store_packed};
use crate::formats::{Encoder, Sink, Totals};

/// The layout of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    k: usize,
    /// The number of first bases of a k-mer that are in the look-up table.
    prefix_bases: usize,
    /// The size of a count in bytes.
    count_bytes: usize,
}

impl Layout {
    /// Returns the layout with the smallest files.
    pub(crate) fn best(k: usize, kmers: u64, largest_count: u32) -> Layout {
        let count_bytes = count_bytes(largest_count);
        let cost = |prefix: usize| {
            u128::from(kmers) * ((k - prefix) / 4) as u128 + 8 * (1u128 << (2 * prefix))
        };
        // The length L of prefixes must be 1 to 15, with k - L divisible by 4: one of each four lengths fits.
        let prefixes = (1..=k.min(15)).filter(|prefix| (k - prefix).is_multiple_of(4));
        let prefix_bases = prefixes.min_by_key(|&prefix| cost(prefix)).unwrap_or(1);
        Layout { k, prefix_bases, count_bytes }
    }
}

/// Encodes k-mers as suffix records, and counts the records of each prefix.
pub(crate) struct KmcFormat {
    pub(crate) layout: Layout,
}

/// Encoded records, and the number of records of each prefix that occurs.
pub(crate) struct Records {
    bytes: Vec<u8>,
    prefixes: Vec<(u32, u64)>,
}

impl<K: Kmer> Encoder<K> for KmcFormat {
    type Encoded = Records;

    fn encode(&self, kmers: &[(K, u32)]) -> Records {
        let Layout { k, prefix_bases, count_bytes } = self.layout;
        let suffix_bytes = (k - prefix_bases) / 4;
        let record = suffix_bytes + count_bytes;
        // Whole words are stored, so the last ones extend beyond the end.
        let mut bytes = vec![0; kmers.len() * record + K::BYTES + 4];
        let mut prefixes: Vec<(u32, u64)> = Vec::new();
        for (number, &(kmer, count)) in kmers.iter().enumerate() {
            let prefix = kmer.prefix(k, 2 * prefix_bases as u32);
            match prefixes.last_mut() {
                Some((last, number)) if *last == prefix => *number += 1,
                _ => prefixes.push((prefix, 1)),
            }
            let bytes = &mut bytes[number * record..];
            if suffix_bytes > 0 {
                store_packed(kmer, k - prefix_bases, bytes);
            }
            count.store(&mut bytes[suffix_bytes..]);
        }
        bytes.truncate(kmers.len() * record);
        Records { bytes, prefixes }
    }
}

/// Writes both files.
pub(crate) struct KmcSink {
    layout: Layout,
    header: Header,
    prefixes: AtomicFile,
    suffixes: AtomicFile,
    /// The number of records of each prefix; sums of smaller prefixes are written at the end.
    before: Vec<u64>,
}

impl KmcSink {
    pub(crate) fn new(
        [prefixes, mut suffixes]: [AtomicFile; 2],
        layout: Layout,
        header: Header,
    ) -> Result<KmcSink, Error> {
        write(&mut suffixes, b"KMCS")?;
        let before = vec![0; 1 << (2 * layout.prefix_bases)];
        Ok(KmcSink { layout, header, prefixes, suffixes, before })
    }

    /// Returns the 64 bytes of the header.
    fn header_bytes(&self) -> Vec<u8> {
        let Layout { k, prefix_bases, count_bytes } = self.layout;
        let mut bytes = Vec::with_capacity(64);
        for number in [k, 0, count_bytes, prefix_bases] {
            bytes.extend_from_slice(&(number as u32).to_le_bytes());
        }
        bytes.extend_from_slice(&self.header.min_count.to_le_bytes());
        bytes.extend_from_slice(&self.header.max_count.to_le_bytes());
        bytes.extend_from_slice(&self.header.kmers.to_le_bytes());
        bytes.push(u8::from(!self.header.canonical));
        // Three bytes of padding, the high half of max_count, 20 reserved bytes, version 0.
        bytes.resize(64, 0);
        bytes
    }
}

fn write(file: &mut AtomicFile, bytes: &[u8]) -> Result<(), Error> {
    Ok(file.write_all(bytes)?)
}

impl Sink<Records> for KmcSink {
    fn write(&mut self, part: Records) -> Result<(), Error> {
        for (prefix, number) in part.prefixes {
            self.before[prefix as usize] += number;
        }
        write(&mut self.suffixes, &part.bytes)
    }

    fn totals(&mut self, totals: &Totals) {
        totals.put(&mut self.header);
    }

    fn finish(mut self) -> Result<Duration, Error> {
        write(&mut self.suffixes, b"KMCS")?;
        write(&mut self.prefixes, b"KMCP")?;
        let mut sum = 0;
        for number in std::mem::take(&mut self.before) {
            write(&mut self.prefixes, &u64::to_le_bytes(sum))?;
            sum += number;
        }
        let header = self.header_bytes();
        write(&mut self.prefixes, &header)?;
        write(&mut self.prefixes, &64u32.to_le_bytes())?;
        write(&mut self.prefixes, b"KMCP")?;
        // Neither file appears before both are written. The suffix file comes first: without a prefix file, a
        // database is recognized as incomplete.
        let begun = Instant::now();
        self.suffixes.prepare()?;
        self.prefixes.prepare()?;
        self.suffixes.commit()?;
        self.prefixes.commit()?;
        Ok(begun.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_legal_and_small() {
        for k in 1..=128 {
            for (kmers, largest) in [(0, 0), (6_000_000, 255), (1 << 33, u32::MAX)] {
                let layout = Layout::best(k, kmers, largest);
                assert!((1..=15).contains(&layout.prefix_bases) && layout.prefix_bases <= k);
                assert!((k - layout.prefix_bases).is_multiple_of(4));
            }
        }
        assert_eq!(Layout::best(28, 6_000_000, 255).count_bytes, 1);
        assert_eq!(Layout::best(28, 6_000_000, 256).count_bytes, 2);
        assert_eq!(Layout::best(28, 6_000_000, 255).prefix_bases, 8);
    }
}
