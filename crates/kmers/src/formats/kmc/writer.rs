//! Writing databases of version 0 ("KMC1"), as kmc_tools does.

use std::io::Write;
use std::time::{Duration, Instant};

use merganser_io::AtomicFile;
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::formats::mgk::Header;
use crate::formats::packed::{count_bytes, store_packed};
use crate::formats::{Encoder, Sink, Totals};

/// How a database is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    k: usize,
    /// First bases of a k-mer, which the look-up table holds.
    prefix_bases: usize,
    /// Bytes of a count.
    count_bytes: usize,
}

impl Layout {
    /// The layout that makes the files smallest.
    pub(crate) fn best(k: usize, kmers: u64, largest_count: u32) -> Layout {
        let count_bytes = count_bytes(largest_count);
        let cost = |prefix: usize| {
            u128::from(kmers) * ((k - prefix) / 4) as u128 + 8 * (1u128 << (2 * prefix))
        };
        // k - L must be divisible by 4, and L lies in 1 to 15: one of each four is there.
        let prefixes = (1..=k.min(15)).filter(|prefix| (k - prefix).is_multiple_of(4));
        let prefix_bases = prefixes.min_by_key(|&prefix| cost(prefix)).unwrap_or(1);
        Layout { k, prefix_bases, count_bytes }
    }
}

/// Encodes k-mers as suffix records, with the number of records of each prefix.
pub(crate) struct KmcFormat {
    pub(crate) layout: Layout,
}

/// Records, and how many each prefix that occurs has.
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
        // Whole words are stored, the last ones beyond the end.
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
    /// Records with a smaller prefix, for each prefix.
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

    /// The 64 bytes before the end of the prefix file.
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
        // Neither appears before both are written, also where they are no set. The suffix file
        // first: a database without its prefix file is seen to be none.
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
