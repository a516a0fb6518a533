//! k-mers with counts, by the letters: what tables are made of, and what they must give back.

use std::collections::BTreeMap;

/// Canonical k-mers by their letters, with their counts.
pub type Counts = BTreeMap<Vec<u8>, u32>;

/// As many are enough for every branch.
const MAX: usize = 200;

/// The k-mers of `k` bases that begin with these bits, with counts of 1 and more.
pub fn counts(k: usize, seeds: &[(u64, u16)]) -> Counts {
    let kmer = |seed: u64| -> Vec<u8> {
        let bits = |at: usize| seed.rotate_left(2 * at as u32 + 2).wrapping_add(at as u64 / 32);
        (0..k).map(|at| b"ACGT"[bits(at) as usize & 3]).collect()
    };
    let entries = seeds.iter().take(MAX);
    entries.map(|&(seed, count)| (canonical(kmer(seed)), u32::from(count).max(1))).collect()
}

/// The smaller of a k-mer and its reverse complement.
fn canonical(kmer: Vec<u8>) -> Vec<u8> {
    let complement = |letter: &u8| b"TGCA"[code(*letter, b"ACGT") as usize];
    let reverse: Vec<u8> = kmer.iter().rev().map(complement).collect();
    kmer.min(reverse)
}

/// The number of a base by an order of all four.
pub fn code(letter: u8, order: &[u8; 4]) -> u8 {
    order.iter().position(|&base| base == letter).expect("a base") as u8
}

/// Lines `KMER<TAB>COUNT`.
pub fn lines(counts: &Counts) -> String {
    let line = |(kmer, count): (&Vec<u8>, &u32)| format!("{}\t{count}\n", kmer.escape_ascii());
    counts.iter().map(line).collect()
}
