//! KMC databases of both versions: a file of prefixes, which locate records, and a file of suffixes with counts.

use merganser_seq::signature::Rule;

use crate::kmers::{Counts, code};

/// The length of a signature: the minimum, so that the table of signatures is small.
const SIGNATURE: usize = 3;
/// The size of the header in bytes.
const HEADER: usize = 64;

/// The layout of a database.
#[derive(Clone, Copy)]
pub struct Layout {
    /// The number of bins of version 0x200; `None` for version 0, which is sorted as a whole.
    pub bins: Option<usize>,
    /// The size of a count in bytes, 1 to 4.
    pub count_bytes: usize,
}

impl Layout {
    /// Returns the largest count that fits.
    pub fn largest(self) -> u32 {
        u32::MAX >> (32 - 8 * self.count_bytes)
    }
}

/// Returns the files of prefixes and suffixes of a database of canonical k-mers of `k` bases, at least 3.
pub fn write(counts: &Counts, k: usize, layout: Layout) -> Vec<Vec<u8>> {
    let prefix = if k.is_multiple_of(4) { 4 } else { k % 4 };
    let (mut prefixes, mut suffixes) = (b"KMCP".to_vec(), b"KMCS".to_vec());
    let mut records = 0u64;
    for bin in 0..layout.bins.unwrap_or(1) {
        let own =
            |kmer: &[u8]| layout.bins.is_none_or(|bins| signature(kmer) as usize % bins == bin);
        let mut own = counts.iter().filter(|(kmer, _)| own(kmer)).peekable();
        for number in 0..1usize << (2 * prefix) {
            prefixes.extend(records.to_le_bytes());
            while let Some((kmer, count)) =
                own.next_if(|(kmer, _)| value(&kmer[..prefix]) == number)
            {
                suffixes.extend(kmer[prefix..].chunks(4).map(|four| value(four) as u8));
                suffixes.extend_from_slice(&count.to_le_bytes()[..layout.count_bytes]);
                records += 1;
            }
        }
    }
    if let Some(bins) = layout.bins {
        prefixes.extend(records.to_le_bytes());
        let bin = |norm: u32| (norm % bins as u32).to_le_bytes();
        prefixes.extend((0..=1u32 << (2 * SIGNATURE)).flat_map(bin));
    }
    prefixes.extend(header(k, prefix, records, layout));
    prefixes.extend((HEADER as u32).to_le_bytes());
    prefixes.extend(b"KMCP");
    suffixes.extend(b"KMCS");
    vec![prefixes, suffixes]
}

fn header(k: usize, prefix: usize, records: u64, layout: Layout) -> Vec<u8> {
    let mut header = Vec::new();
    let mut put = |number: usize| header.extend((number as u32).to_le_bytes());
    [k, 0, layout.count_bytes, prefix].into_iter().for_each(&mut put);
    if layout.bins.is_some() {
        put(SIGNATURE);
    }
    put(1);
    put(layout.largest() as usize);
    header.extend(records.to_le_bytes());
    // A zero: k-mers are canonical.
    header.resize(HEADER - 4, 0);
    let version = if layout.bins.is_some() { 0x200u32 } else { 0 };
    header.extend(version.to_le_bytes());
    header
}

/// Packs two bits per base, the first one highest.
fn value(bases: &[u8]) -> usize {
    bases.iter().fold(0, |value, &base| value << 2 | usize::from(code(base, b"ACGT")))
}

/// Returns the minimum norm of the substrings of a k-mer that can be its signature.
fn signature(kmer: &[u8]) -> u32 {
    let norm = |bases: &[u8]| Rule::Kmc2.norm(value(bases) as u32, SIGNATURE, true);
    kmer.windows(SIGNATURE).map(norm).min().expect("k is at least 3")
}
