//! Writes FastK tables from the definition of their layout.

use std::fs;
use std::path::Path;

use super::oracle::Counts;

/// Packs a k-mer like FastK: four bases a byte, the first base in the highest bits, padded with zeros.
fn packed(kmer: &[u8]) -> Vec<u8> {
    let code = |base: u8| b"ACGT".iter().position(|&other| other == base).unwrap() as u8;
    let byte = |bases: &[u8]| {
        bases.iter().enumerate().fold(0, |byte, (at, &base)| byte | code(base) << (6 - 2 * at))
    };
    kmer.chunks(4).map(byte).collect()
}

/// Writes `name.ktab` and its parts to a folder.
pub fn write_table(
    folder: &Path,
    name: &str,
    counts: &Counts,
    k: usize,
    parts: usize,
    prefix: usize,
) {
    let entries: Vec<(Vec<u8>, u16)> =
        counts.iter().map(|(kmer, &count)| (packed(kmer), count.min(32_767) as u16)).collect();
    let mut stub: Vec<u8> =
        [k, parts, 1, prefix].iter().flat_map(|&number| (number as i32).to_le_bytes()).collect();
    let mut index = vec![0i64; 256usize.pow(prefix as u32)];
    for (kmer, _) in &entries {
        let at = kmer[..prefix].iter().fold(0, |at, &byte| at << 8 | usize::from(byte));
        index[at] += 1;
    }
    let mut sum = 0;
    for entry in &index {
        sum += entry;
        stub.extend(sum.to_le_bytes());
    }
    fs::write(folder.join(format!("{name}.ktab")), stub).unwrap();
    let share = entries.len().div_ceil(parts);
    for part in 0..parts {
        let own =
            &entries[(part * share).min(entries.len())..((part + 1) * share).min(entries.len())];
        let mut bytes = (k as i32).to_le_bytes().to_vec();
        bytes.extend((own.len() as i64).to_le_bytes());
        for (kmer, count) in own {
            bytes.extend_from_slice(&kmer[prefix..]);
            bytes.extend(count.to_le_bytes());
        }
        fs::write(folder.join(format!(".{name}.ktab.{}", part + 1)), bytes).unwrap();
    }
}
