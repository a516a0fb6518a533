//! The definition of a minimizer, word by word, for tests: each window by itself.

use super::Params;

/// ntHash's numbers of A, C, T and G (Mohamadi and others, 2016), their low halves.
const SEEDS: [u32; 4] = [0x95c6_0474, 0x62a0_2b4c, 0x8257_2324, 0x4be2_4456];

/// The code of a base, A C T G = 0 1 2 3 in either case; whatever else there is, U too, has none.
fn code(letter: u8) -> Option<usize> {
    b"ACTG".iter().position(|&base| base == letter.to_ascii_uppercase())
}

/// The hash of a k-mer and of its reverse complement together, of which the high half counts.
fn hash(kmer: &[usize]) -> u32 {
    let of = |codes: &mut dyn Iterator<Item = usize>| {
        codes.fold(0u32, |hash, code| hash.rotate_left(1) ^ SEEDS[code])
    };
    // A and T, and C and G, are two apart.
    let back = of(&mut kmer.iter().rev().map(|&code| code ^ 2));
    of(&mut kmer.iter().copied()).wrapping_add(back) & 0xffff_0000
}

/// The k-mer or its reverse complement, whichever is the smaller number, its first base in the lowest bits.
fn value(kmer: &[usize]) -> u64 {
    let of = |codes: &mut dyn Iterator<Item = usize>| {
        codes.enumerate().fold(0u64, |value, (at, code)| value | (code as u64) << (2 * at))
    };
    let back = of(&mut kmer.iter().rev().map(|&code| code ^ 2));
    of(&mut kmer.iter().copied()).min(back)
}

/// The minimizer of each window of a sequence: of its k-mers one with the least hash, the first one if more than half
/// of the window's bases are T or G, else the last one. Windows with letters that are no bases have none.
pub fn minimizers(params: Params, sequence: &[u8]) -> Vec<u64> {
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
