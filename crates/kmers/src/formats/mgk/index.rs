//! The index of a table: an entry for each block, in the order of the blocks.
//!
//! An entry is the block's first k-mer (⌈2k/8⌉ bytes, big-endian, so that entries compare as
//! bytes), its offset (u64), its number of k-mers (u16) and the CRC-32 of its bytes (u32).

use merganser_seq::kmer::Kmer;

/// The position and the content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<K> {
    pub(crate) first: K,
    pub(crate) offset: u64,
    pub(crate) len: u16,
    pub(crate) crc: u32,
}

/// Returns the size of a k-mer in the index, in bytes.
pub(crate) fn kmer_bytes(k: usize) -> usize {
    (2 * k).div_ceil(8)
}

/// Returns the size of an entry for k-mers of length `k`, in bytes.
pub(crate) fn entry_bytes(k: usize) -> usize {
    kmer_bytes(k) + 8 + 2 + 4
}

/// Returns a k-mer as it is stored in the index, and the number of bytes used.
pub(crate) fn key<K: Kmer>(kmer: K, k: usize) -> ([u8; 32], usize) {
    let (mut key, bytes) = ([0; 32], kmer_bytes(k));
    kmer.store(&mut key);
    key[..bytes].reverse();
    (key, bytes)
}

fn load_kmer<K: Kmer>(bytes: &[u8]) -> K {
    let mut little = [0; 32];
    for (to, from) in little.iter_mut().zip(bytes.iter().rev()) {
        *to = *from;
    }
    K::load(&little)
}

impl<K: Kmer> Entry<K> {
    pub(crate) fn store(&self, k: usize, out: &mut Vec<u8>) {
        let (key, bytes) = key(self.first, k);
        out.extend_from_slice(&key[..bytes]);
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.len.to_le_bytes());
        out.extend_from_slice(&self.crc.to_le_bytes());
    }

    /// Loads the entry at the start of `bytes`.
    pub(crate) fn load(bytes: &[u8], k: usize) -> Entry<K> {
        let (kmer, rest) = bytes.split_at(kmer_bytes(k));
        Entry {
            first: load_kmer(kmer),
            offset: u64::load(rest),
            len: u16::from_le_bytes([rest[8], rest[9]]),
            crc: u32::load(&rest[10..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_compare_as_bytes() {
        for k in [1usize, 5, 28, 32] {
            let entries: Vec<Entry<u64>> = [0, 1, u64::mask(k) / 2, u64::mask(k)]
                .map(|first| Entry { first, offset: 77, len: 256, crc: 9 })
                .to_vec();
            let bytes: Vec<Vec<u8>> = entries
                .iter()
                .map(|entry| {
                    let mut out = Vec::new();
                    entry.store(k, &mut out);
                    assert_eq!(out.len(), entry_bytes(k));
                    assert_eq!(Entry::load(&out, k), *entry);
                    out[..kmer_bytes(k)].to_vec()
                })
                .collect();
            assert!(bytes.is_sorted());
        }
    }
}
