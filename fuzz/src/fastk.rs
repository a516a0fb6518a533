//! Tables of FastK: a stub with an index by the first byte of the k-mers, and parts with the remaining bytes.

use crate::kmers::{Counts, code};

/// The largest count in a table.
pub const LARGEST: u32 = 32_767;

/// Returns the stub and the parts of a table of canonical k-mers of `k` bases, at least 4.
pub fn write(counts: &Counts, k: usize, parts: usize) -> Vec<Vec<u8>> {
    let entries: Vec<(Vec<u8>, u16)> =
        counts.iter().map(|(kmer, &count)| (packed(kmer), count as u16)).collect();
    let header = [k, parts, 1, 1].into_iter().flat_map(|number| (number as i32).to_le_bytes());
    let mut stub: Vec<u8> = header.collect();
    for byte in 0..=u8::MAX {
        let end = entries.partition_point(|(kmer, _)| kmer[0] <= byte) as i64;
        stub.extend(end.to_le_bytes());
    }
    let mut files = vec![stub];
    let share = entries.len().div_ceil(parts).max(1);
    let mut stretches = entries.chunks(share);
    for _ in 0..parts {
        let own = stretches.next().unwrap_or_default();
        let mut bytes = (k as i32).to_le_bytes().to_vec();
        bytes.extend((own.len() as i64).to_le_bytes());
        for (kmer, count) in own {
            bytes.extend_from_slice(&kmer[1..]);
            bytes.extend(count.to_le_bytes());
        }
        files.push(bytes);
    }
    files
}

/// Packs four bases per byte, the first one in the highest bits, padded with zeros.
fn packed(kmer: &[u8]) -> Vec<u8> {
    let place = |byte: u8, (at, base): (usize, &u8)| byte | code(*base, b"ACGT") << (6 - 2 * at);
    kmer.chunks(4).map(|bases| bases.iter().enumerate().fold(0, place)).collect()
}
