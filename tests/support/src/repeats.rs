//! Repetitive sequences: homopolymers, short and long units, and families of diverged copies.

#![allow(dead_code, reason = "each suite uses only a part")]

use super::reads::Random;

/// Returns a description and a sequence of `length` bases that consists of a random kind of repeat.
pub fn repeats(random: &mut Random, length: usize) -> (String, Vec<u8>) {
    let unit = match random.below(5) {
        0 | 1 => 1,
        2 => 2 + random.below(4),
        3 => 171,
        _ => 300 + random.below(1000),
    };
    let per_mille = [0, 0, 5, 30][random.below(4)];
    let copies = copies(random, length, unit, per_mille);
    (format!("a unit of {unit} with {per_mille} of 1000 bases changed"), copies)
}

/// Returns `length` bases of tandem copies of a random unit, with `per_mille` of 1000 bases replaced.
pub fn copies(random: &mut Random, length: usize, unit: usize, per_mille: usize) -> Vec<u8> {
    let unit = random.bases(unit);
    let mut copies: Vec<u8> = unit.into_iter().cycle().take(length).collect();
    for _ in 0..length * per_mille / 1000 {
        copies[random.below(length)] = b"ACGT"[random.below(4)];
    }
    copies
}

/// Places a homopolymer, a satellite, a tandem repeat, a dinucleotide repeat and a dispersed family into a sequence of
/// at least 5,000 bases; they cover at most a fifth of it.
pub fn strew(random: &mut Random, sequence: &mut [u8], family: &[u8]) {
    let length = sequence.len();
    let mut put = |random: &mut Random, copies: &[u8]| {
        let at = random.below(length - copies.len());
        sequence[at..at + copies.len()].copy_from_slice(copies);
    };
    for (unit, most) in [(1, 300), (2, 300), (171, 8000), (length / 100, 5000)] {
        let copies = copies(random, most.min(length / 25), unit, 5);
        put(random, &copies);
    }
    for _ in 0..(length / 25 / family.len()).min(60) {
        let mut copy = family.to_vec();
        for _ in 0..family.len() / 20 {
            copy[random.below(family.len())] = b"ACGT"[random.below(4)];
        }
        put(random, &copy);
    }
}
