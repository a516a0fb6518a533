//! Sequences that are repeats: of one letter, of short and long units, and families of copies that differ.

#![allow(dead_code, reason = "each suite uses some of it")]

use super::reads::Random;

/// A sequence of so many bases that is a repeat of one kind or another, and what it is.
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

/// So many bases of copies of a unit, one behind the other, in which some bases are changed.
pub fn copies(random: &mut Random, length: usize, unit: usize, per_mille: usize) -> Vec<u8> {
    let unit = random.bases(unit);
    let mut copies: Vec<u8> = unit.into_iter().cycle().take(length).collect();
    for _ in 0..length * per_mille / 1000 {
        copies[random.below(length)] = b"ACGT"[random.below(4)];
    }
    copies
}

/// Puts a homopolymer, a satellite, a tandem repeat, a repeat of two letters and a dispersed family into a sequence of
/// 5,000 bases or more: a fifth of it at the most.
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
