//! Tables in memory, for programs that use them at once and want no file.

use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use crate::Header;

/// A table in memory: distinct k-mers with their counts, in the order of their bases. It takes
/// k / 4 bytes, rounded up, and 4 more for each k-mer.
#[derive(Clone, Debug)]
pub struct MemoryTable {
    header: Header,
    /// Of each k-mer its integer, without the bytes above 2k bits, and its count; little-endian.
    entries: Vec<u8>,
}

/// Bytes of a count.
const COUNT: usize = 4;

impl MemoryTable {
    /// A table that is to be filled.
    pub(crate) fn new(header: Header) -> MemoryTable {
        MemoryTable { header, entries: Vec::new() }
    }

    /// Appends entries that [`put`] made, which come after those that are there.
    pub(crate) fn append(&mut self, entries: &[u8]) {
        self.entries.extend_from_slice(entries);
    }

    /// The header, for what is known at the end.
    pub(crate) fn header_mut(&mut self) -> &mut Header {
        &mut self.header
    }

    /// What the table says of itself: k, whether k-mers are canonical, which counts it may hold.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The number of distinct k-mers.
    pub fn len(&self) -> usize {
        self.entries.len() / self.entry_bytes()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The k-mers as upper-case letters, with their counts, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (String, u32)> + '_ {
        self.entries().map(|(kmer, count)| (self.letters(kmer), count))
    }

    /// The k-mers as integers (A C G T = 0 1 2 3, the first base most significant), with their
    /// counts, in order.
    ///
    /// # Panics
    /// If the type does not hold so many bases: `u32` holds 16, `u64` 32, `u128` 64.
    pub fn kmers<K: Kmer>(&self) -> impl ExactSizeIterator<Item = (K, u32)> + '_ {
        let k = self.header.k;
        assert!(k <= K::MAX_K, "k-mers of {k} bases do not fit into {} bytes", K::BYTES);
        self.entries().map(|(kmer, count)| (load(kmer), count))
    }

    /// The count of a k-mer, in either case; of a canonical table also of its reverse complement. 0
    /// if the table does not have it, or these are not k bases.
    pub fn get(&self, kmer: &str) -> u32 {
        let k = self.header.k;
        if kmer.len() != k {
            return 0;
        }
        with_kmer!(k, K => K::from_letters(kmer.as_bytes()).map_or(0, |kmer: K| {
            let canonical = self.header.canonical;
            self.count(if canonical { kmer.least(kmer.reverse_complement(k)) } else { kmer })
        }))
    }

    fn count<K: Kmer>(&self, kmer: K) -> u32 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let (found, count) = self.entry(middle);
            match load::<K>(found).cmp(&kmer) {
                std::cmp::Ordering::Equal => return count,
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        0
    }

    fn entry_bytes(&self) -> usize {
        kmer_bytes(self.header.k) + COUNT
    }

    fn entry(&self, number: usize) -> (&[u8], u32) {
        let bytes = self.entry_bytes();
        split(&self.entries[number * bytes..][..bytes])
    }

    fn entries(&self) -> impl ExactSizeIterator<Item = (&[u8], u32)> {
        self.entries.chunks_exact(self.entry_bytes()).map(split)
    }

    fn letters(&self, kmer: &[u8]) -> String {
        let code = |from_end: usize| kmer[from_end / 4] >> (2 * (from_end % 4)) & 3;
        let letter = |at| char::from(merganser_seq::base::LETTERS[usize::from(code(at))]);
        (0..self.header.k).rev().map(letter).collect()
    }
}

/// Appends the entry of a k-mer of k bases.
pub(crate) fn put<K: Kmer>(k: usize, kmer: K, count: u32, entries: &mut Vec<u8>) {
    let mut whole = [0; MAX_BYTES];
    kmer.store(&mut whole[..K::BYTES]);
    entries.extend_from_slice(&whole[..kmer_bytes(k)]);
    entries.extend_from_slice(&count.to_le_bytes());
}

/// Bytes that hold the integer of a k-mer.
fn kmer_bytes(k: usize) -> usize {
    k.div_ceil(4)
}

fn split(entry: &[u8]) -> (&[u8], u32) {
    let (kmer, count) = entry.split_at(entry.len() - COUNT);
    let count = count.iter().rev().fold(0, |count, &byte| count << 8 | u32::from(byte));
    (kmer, count)
}

/// Bytes of the widest k-mer.
const MAX_BYTES: usize = merganser_seq::kmer::MAX_K / 4;

fn load<K: Kmer>(kmer: &[u8]) -> K {
    let mut whole = [0; MAX_BYTES];
    whole[..kmer.len()].copy_from_slice(kmer);
    K::load(&whole[..K::BYTES])
}
