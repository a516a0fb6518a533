//! The header of Jellyfish's files: its length in 9 digits, JSON, and NUL bytes up to a multiple of 8 bytes.

use serde::{Deserialize, Serialize};

use merganser_seq::kmer::Kmer;

/// The format of sorted binary tables.
pub(super) const FORMAT: &str = "binary/sorted";
/// The number of digits of the length.
pub(super) const DIGITS: usize = 9;
/// Records begin at a multiple of this number of bytes.
const ALIGNMENT: usize = 8;
/// The number of rows of the matrix that is written, at most. Jellyfish's positions have less than 64 bits.
const MAX_ROWS: usize = 62;

/// Whether a file that begins with these bytes has such a header.
pub(crate) fn is_header(start: &[u8]) -> bool {
    let digits = start.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && start.get(digits) == Some(&b'{')
}

/// The fields of a header that Jellyfish's commands and PanGenie use, in the order in which they are written.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Header {
    #[serde(default)]
    pub(super) alignment: usize,
    #[serde(default)]
    pub(super) canonical: bool,
    #[serde(default)]
    pub(super) cmdline: Vec<String>,
    /// The size of a count in bytes.
    #[serde(default)]
    pub(super) counter_len: usize,
    #[serde(default)]
    pub(super) format: String,
    /// The size of a k-mer in bits.
    pub(super) key_len: usize,
    pub(super) matrix1: Matrix,
    /// The largest number of steps from the slot of a k-mer in Jellyfish's hash map to a free one.
    #[serde(default)]
    max_reprobe: usize,
    #[serde(default)]
    reprobes: Vec<u64>,
    /// The number of slots of Jellyfish's hash map, a power of two.
    pub(super) size: u64,
    /// The size of a count in the hash map in bits.
    #[serde(default)]
    val_len: usize,
}

/// The matrix of the hash.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Matrix {
    /// The number of columns, one for each bit of a k-mer, the most significant one first.
    c: usize,
    /// The columns, unless the matrix is an identity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<u64>,
    /// Whether the matrix selects the last `r` bits of a k-mer.
    #[serde(default)]
    identity: bool,
    /// The number of rows, one for each bit of the hash.
    r: usize,
}

impl Header {
    /// Returns the header of a table in the order of the bases of its k-mers: the hash is the first bits of a k-mer.
    pub(super) fn in_order_of_bases(k: usize, canonical: bool, counter_len: usize) -> Header {
        let (c, r) = (2 * k, MAX_ROWS.min(2 * k));
        let identity = c == r;
        let column = |at: usize| if at < r { 1 << (r - 1 - at) } else { 0 };
        let columns = if identity { Vec::new() } else { (0..c).map(column).collect() };
        Header {
            alignment: ALIGNMENT,
            canonical,
            cmdline: vec!["merganser".to_owned()],
            counter_len,
            format: FORMAT.to_owned(),
            key_len: c,
            matrix1: Matrix { c, columns, identity, r },
            max_reprobe: 0,
            reprobes: vec![1],
            size: 1 << r,
            val_len: 8 * counter_len,
        }
    }

    /// Returns the bytes of the header, with its length and padding.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let json = serde_json::to_string(self).expect("a header is representable as JSON");
        let length = (DIGITS + json.len()).next_multiple_of(ALIGNMENT) - DIGITS;
        let mut bytes = format!("{length:0DIGITS$}{json}").into_bytes();
        bytes.resize(DIGITS + length, 0);
        bytes
    }

    /// Returns the function that orders k-mers, or `None` if the header is inconsistent.
    pub(super) fn hash(&self) -> Option<Hash> {
        let Matrix { c, ref columns, identity, r } = self.matrix1;
        let sound = c == self.key_len && (1..=64).contains(&r) && self.size.is_power_of_two();
        let column = |bit: usize| match identity {
            true => (bit < r).then(|| 1 << bit).or(Some(0)),
            false => columns.get(c - 1 - bit).copied(),
        };
        let columns = if sound { (0..c).map(column).collect() } else { None }?;
        Some(Hash { columns, mask: self.size - 1 })
    }
}

/// The function by which Jellyfish orders k-mers. Those with the same value are in the order of their bases.
pub(super) struct Hash {
    /// The column of each bit of a k-mer, the least significant one first.
    columns: Vec<u64>,
    mask: u64,
}

impl Hash {
    /// Returns the value of a k-mer.
    pub(super) fn of<K: Kmer>(&self, kmer: K) -> u64 {
        let (mut hash, mut rest) = (0, kmer);
        for words in self.columns.chunks(64) {
            let mut bits = rest.low();
            while bits != 0 {
                hash ^= words.get(bits.trailing_zeros() as usize).copied().unwrap_or(0);
                bits &= bits - 1;
            }
            rest = rest.shr(64);
        }
        hash & self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of a header, by the definition of the product of a matrix and a vector.
    fn product(header: &Header, kmer: u128) -> u64 {
        let c = header.key_len;
        let bit = |at: usize| kmer >> (c - 1 - at) & 1 == 1;
        let used = (0..c).filter(|&at| bit(at));
        used.fold(0, |sum, at| sum ^ header.matrix1.columns[at]) & (header.size - 1)
    }

    #[test]
    fn the_written_hash_keeps_the_order_of_bases() {
        for k in 1..=64 {
            let header = Header::in_order_of_bases(k, true, 4);
            let hash = header.hash().unwrap();
            let some =
                (0..200u128).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
            let mut kmers: Vec<u128> = some.map(|kmer| kmer & u128::mask(k)).collect();
            kmers.sort_unstable();
            assert!(kmers.is_sorted_by_key(|&kmer| hash.of(kmer)), "k {k}");
            if !header.matrix1.identity {
                assert!(kmers.iter().all(|&kmer| hash.of(kmer) == product(&header, kmer)));
            }
        }
    }

    #[test]
    fn records_are_aligned_and_headers_come_back() {
        for k in 1..=128 {
            let bytes = Header::in_order_of_bases(k, k % 2 == 0, 4).bytes();
            assert!(is_header(&bytes) && bytes.len().is_multiple_of(8));
            let length: usize = std::str::from_utf8(&bytes[..DIGITS]).unwrap().parse().unwrap();
            assert_eq!(length + DIGITS, bytes.len());
            let end = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
            let header: Header = serde_json::from_slice(&bytes[DIGITS..end]).unwrap();
            assert_eq!((header.key_len, header.canonical), (2 * k, k % 2 == 0));
            assert!(header.hash().is_some());
        }
    }

    #[test]
    fn inconsistent_matrices_have_no_hash() {
        let header = || Header::in_order_of_bases(40, true, 4);
        let few = Matrix { c: 80, columns: vec![1; 79], identity: false, r: 62 };
        assert!(Header { matrix1: few, ..header() }.hash().is_none());
        let narrow = Matrix { c: 78, columns: vec![1; 80], identity: false, r: 62 };
        assert!(Header { matrix1: narrow, ..header() }.hash().is_none());
        assert!(Header { size: 3, ..header() }.hash().is_none());
        assert!(Header { size: 0, ..header() }.hash().is_none());
    }
}
