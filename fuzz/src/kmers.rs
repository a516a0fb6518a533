//! k-mers with counts, as letters: the content of tables, and the expected results.

use std::collections::BTreeMap;

/// Canonical k-mers with their counts, ordered by letters.
pub type Counts = BTreeMap<Vec<u8>, u32>;

/// The maximum number of k-mers, enough to reach every branch.
const MAX: usize = 200;

/// Returns k-mers of `k` bases made from these seeds, with counts of at least 1.
pub fn counts(k: usize, seeds: &[(u64, u16)]) -> Counts {
    let kmer = |seed: u64| -> Vec<u8> {
        let bits = |at: usize| seed.rotate_left(2 * at as u32 + 2).wrapping_add(at as u64 / 32);
        (0..k).map(|at| b"ACGT"[bits(at) as usize & 3]).collect()
    };
    let entries = seeds.iter().take(MAX);
    entries.map(|&(seed, count)| (canonical(kmer(seed)), u32::from(count).max(1))).collect()
}

/// Returns the smaller of a k-mer and its reverse complement.
fn canonical(kmer: Vec<u8>) -> Vec<u8> {
    let complement = |letter: &u8| b"TGCA"[code(*letter, b"ACGT") as usize];
    let reverse: Vec<u8> = kmer.iter().rev().map(complement).collect();
    kmer.min(reverse)
}

/// Returns the index of a base in an order of all four.
pub fn code(letter: u8, order: &[u8; 4]) -> u8 {
    order.iter().position(|&base| base == letter).expect("a base") as u8
}

/// Formats lines `KMER<TAB>COUNT`.
pub fn lines(counts: &Counts) -> String {
    let line = |(kmer, count): (&Vec<u8>, &u32)| format!("{}\t{count}\n", kmer.escape_ascii());
    counts.iter().map(line).collect()
}
