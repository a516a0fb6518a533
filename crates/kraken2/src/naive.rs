//! Kraken 2's rules in their simplest form, for tests.
#![cfg(test)]

use super::options::Kraken2Options;

/// Returns the value of an l-mer that is compared to find the minimizer.
fn candidate(options: &Kraken2Options, lmer: &[u8]) -> u64 {
    let code = |letter: u8| b"ACGT".iter().position(|&base| base == letter.to_ascii_uppercase());
    let codes: Vec<u64> =
        lmer.iter().filter_map(|&letter| code(letter)).map(|code| code as u64).collect();
    let word =
        |codes: &mut dyn Iterator<Item = u64>| codes.fold(0u64, |word, code| word << 2 | code);
    let bits = (1u64 << (2 * options.l)) - 1;
    let forward = word(&mut codes.iter().copied());
    let reverse = if options.old_complement {
        // All 32 pairs of bits of the word; the l-mer is in the lower ones.
        let pairs: Vec<u64> = (0..32).map(|pair| forward >> (2 * pair) & 3).collect();
        !word(&mut pairs.into_iter()) & bits
    } else {
        word(&mut codes.iter().rev().map(|code| 3 - code))
    };
    let mask = if options.spaced_mask == 0 { u64::MAX } else { options.spaced_mask };
    (forward.min(reverse) & mask) ^ (options.toggle_mask & bits)
}

/// Returns an entry for each k-mer: its minimizer, or `None` if it is ambiguous.
pub(super) fn entries(options: &Kraken2Options, letters: &[u8]) -> Vec<Option<u64>> {
    let (k, l) = (options.k, options.l);
    let is_base = |letter: &u8| b"ACGTacgt".contains(letter);
    let toggle = options.toggle_mask & ((1 << (2 * l)) - 1);
    // The number of bases in a row up to each letter, and the l-mer that ends there.
    let (mut run, mut candidates) = (0, vec![u64::MAX; letters.len()]);
    let mut entries = Vec::new();
    for (at, letter) in letters.iter().enumerate() {
        run = if is_base(letter) { run + 1 } else { 0 };
        if run >= l {
            candidates[at] = candidate(options, &letters[at + 1 - l..=at]);
        }
        if at + 1 < k {
            continue;
        }
        let enough = if k == l { k } else { k - 1 };
        entries.push((run >= enough).then(|| {
            let lmers = (run - l + 1).min(k - l + 1);
            let ends = &candidates[at + 1 - lmers..=at];
            ends.iter().copied().min().unwrap_or(0) ^ toggle
        }));
    }
    entries
}
