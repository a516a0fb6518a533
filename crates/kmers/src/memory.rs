//! Tables in memory, for programs that use them directly and need no file.

use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use crate::Header;

/// A table in memory: distinct k-mers with their counts, in the order of their bases. Each k-mer takes k / 4
/// bytes, rounded up, and 4 bytes for its count.
#[derive(Clone, Debug)]
pub struct MemoryTable {
    header: Header,
    /// The integer of each k-mer, without the bytes above 2k bits, and its count; little-endian.
    entries: Vec<u8>,
}

/// The size of a count in bytes.
const COUNT: usize = 4;

impl MemoryTable {
    /// Creates an empty table.
    pub(crate) fn new(header: Header) -> MemoryTable {
        MemoryTable { header, entries: Vec::new() }
    }

    /// Appends entries made by [`put`], which must come after the existing ones.
    pub(crate) fn append(&mut self, entries: &[u8]) {
        self.entries.extend_from_slice(entries);
    }

    /// Returns the header, for setting the numbers that are known at the end.
    pub(crate) fn header_mut(&mut self) -> &mut Header {
        &mut self.header
    }

    /// Returns the header: k, whether k-mers are canonical, which counts the table may have.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the number of distinct k-mers.
    pub fn len(&self) -> usize {
        self.entries.len() / self.entry_bytes()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the k-mers as upper-case letters, with their counts, in ascending order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (String, u32)> + '_ {
        self.entries().map(|(kmer, count)| (self.letters(kmer), count))
    }

    /// Returns the k-mers as integers (A C G T = 0 1 2 3, the first base most significant), with their counts,
    /// in ascending order.
    ///
    /// # Panics
    /// If the type is too narrow for k bases: `u32` holds 16, `u64` 32, `u128` 64.
    pub fn kmers<K: Kmer>(&self) -> impl ExactSizeIterator<Item = (K, u32)> + '_ {
        let k = self.header.k;
        assert!(k <= K::MAX_K, "k-mers of {k} bases do not fit into {} bytes", K::BYTES);
        self.entries().map(|(kmer, count)| (load(kmer), count))
    }

    /// Returns the count of a k-mer given in either case, or of its reverse complement if the table is
    /// canonical. Returns 0 if the table does not have it, or it does not have k bases.
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

/// Appends the entry of a k-mer of length `k`.
pub(crate) fn put<K: Kmer>(k: usize, kmer: K, count: u32, entries: &mut Vec<u8>) {
    let mut whole = [0; MAX_BYTES];
    kmer.store(&mut whole[..K::BYTES]);
    entries.extend_from_slice(&whole[..kmer_bytes(k)]);
    entries.extend_from_slice(&count.to_le_bytes());
}

/// Returns the size of the integer of a k-mer in bytes.
fn kmer_bytes(k: usize) -> usize {
    k.div_ceil(4)
}

fn split(entry: &[u8]) -> (&[u8], u32) {
    let (kmer, count) = entry.split_at(entry.len() - COUNT);
    let count = count.iter().rev().fold(0, |count, &byte| count << 8 | u32::from(byte));
    (kmer, count)
}

/// The size of the widest k-mer in bytes.
const MAX_BYTES: usize = merganser_seq::kmer::MAX_K / 4;

fn load<K: Kmer>(kmer: &[u8]) -> K {
    let mut whole = [0; MAX_BYTES];
    whole[..kmer.len()].copy_from_slice(kmer);
    K::load(&whole[..K::BYTES])
}

impl<'t> IntoIterator for &'t MemoryTable {
    type Item = (String, u32);
    type IntoIter = Box<dyn ExactSizeIterator<Item = (String, u32)> + 't>;

    /// Returns the k-mers with their counts, as [`MemoryTable::iter`].
    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}
