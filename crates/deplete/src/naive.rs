//! A literal implementation of minimizers, for tests: each window by itself.

use super::Params;

/// The seeds of ntHash for A, C, T and G (Mohamadi and others, 2016); low halves.
const SEEDS: [u32; 4] = [0x95c6_0474, 0x62a0_2b4c, 0x8257_2324, 0x4be2_4456];

/// Returns the code of a base in either case, A C T G = 0 1 2 3; `None` for all other letters, including U.
fn code(letter: u8) -> Option<usize> {
    b"ACTG".iter().position(|&base| base == letter.to_ascii_uppercase())
}

/// Returns the combined hash of a k-mer and its reverse complement; only its high half is used.
fn hash(kmer: &[usize]) -> u32 {
    let of = |codes: &mut dyn Iterator<Item = usize>| {
        codes.fold(0u32, |hash, code| hash.rotate_left(1) ^ SEEDS[code])
    };
    // The codes of A and T, and of C and G, differ by 2.
    let back = of(&mut kmer.iter().rev().map(|&code| code ^ 2));
    of(&mut kmer.iter().copied()).wrapping_add(back) & 0xffff_0000
}

/// Returns the k-mer or its reverse complement, whichever is smaller as a number with the first base in the lowest
/// bits.
fn value(kmer: &[usize]) -> u128 {
    let of = |codes: &mut dyn Iterator<Item = usize>| {
        codes.enumerate().fold(0u128, |value, (at, code)| value | (code as u128) << (2 * at))
    };
    let back = of(&mut kmer.iter().rev().map(|&code| code ^ 2));
    of(&mut kmer.iter().copied()).min(back)
}

/// Returns the complexity of a minimizer: all pairs of its triplets are compared.
pub fn complexity(params: Params, value: u128) -> f32 {
    let codes: Vec<u128> = (0..params.k()).map(|at| value >> (2 * at) & 3).collect();
    let triplets: Vec<&[u128]> = codes.windows(3).collect();
    if triplets.len() < 2 {
        return 1.0;
    }
    let equal_after = |at: usize| {
        let (this, others) = (triplets[at], &triplets[at + 1..]);
        others.iter().filter(|&&other| other == this).count()
    };
    let equal: usize = (0..triplets.len()).map(equal_after).sum();
    let all = triplets.len() * (triplets.len() - 1) / 2;
    1.0 - equal as f32 / all as f32
}

/// Returns the minimizer of each window of a sequence: the k-mer with the smallest hash. On a tie, it is the first
/// such k-mer if more than half of the window's bases are T or G, otherwise the last. Windows with letters that are
/// not bases have no minimizer.
pub fn minimizers(params: Params, sequence: &[u8]) -> Vec<u128> {
    let (k, w) = (params.k(), params.w());
    let mut found = Vec::new();
    for window in sequence.windows(params.bases()) {
        let Some(codes) = window.iter().map(|&letter| code(letter)).collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let kmer = |at: usize| &codes[at..at + k];
        let least = (0..w).map(|at| hash(kmer(at))).min();
        let mut places = (0..w).filter(|&at| Some(hash(kmer(at))) == least);
        let is_forward = 2 * codes.iter().filter(|&&code| code >= 2).count() > codes.len();
        let place = if is_forward { places.next() } else { places.next_back() };
        found.extend(place.map(|at| value(kmer(at))));
    }
    found
}
