//! The minimizers of a block of a sequence, in the order in which `kraken2-build` stores them.
//!
//! `kraken2-build` cuts a sequence into blocks of 16,384 letters plus the k - 1 letters that follow, and
//! stores the distinct minimizers of one block after the other. With one thread, it scans the whole block
//! and then its last k - 1 letters again. Except at the beginning of a sequence, each scan treats its first
//! k - 1 letters as a complete k-mer: their smallest l-mer is stored too, although it may not be a minimizer
//! of the sequence.

use merganser_store::distribute;

use super::super::library::{LEAD, STRETCH};
use super::super::minimizers::{Entries, Minimizers};
use super::super::options::Kraken2Options;
use super::super::table::hash;

/// Letters from the beginning of a block to the beginning of the next one.
pub(super) const BLOCK: usize = 16384;
// A stretch always begins at the beginning of a block.
const _: () = assert!(STRETCH.is_multiple_of(BLOCK) && LEAD.is_multiple_of(BLOCK));
/// The number of zones. Minimizers are stored in the order of (hash mod zones, minimizer).
pub(super) const ZONES: usize = 256;

/// Returns the ranges of letters of each block in a sequence, or in a stretch that begins with a block, of
/// `letters` letters.
pub(super) fn blocks(k: usize, letters: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..letters).step_by(BLOCK).map(move |start| start..(start + BLOCK + k - 1).min(letters))
}

/// Lists the minimizers of blocks; keeps its memory from block to block.
#[derive(Debug)]
pub(super) struct Blocks {
    k: usize,
    minimum_hash: u64,
    scanner: Minimizers,
    entries: Entries,
    /// A letter that is not a base, followed by the letters to scan.
    letters: Vec<u8>,
    /// The minimizers, grouped by zone.
    zoned: Vec<u64>,
    hashes: Vec<u64>,
}

impl Blocks {
    pub(super) fn new(options: &Kraken2Options) -> Blocks {
        Blocks {
            k: options.k,
            minimum_hash: options.minimum_hash,
            scanner: Minimizers::new(options),
            entries: Entries::default(),
            letters: Vec::new(),
            zoned: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Returns the hashes of the distinct minimizers of a block, in the order in which they are stored.
    /// `first` is whether the block is the first of its sequence.
    pub(super) fn hashes(&mut self, block: &[u8], first: bool) -> &[u64] {
        self.entries.minimizers.clear();
        if first {
            self.scan_own(block);
        } else {
            self.scan_short(block);
        }
        if block.len() > BLOCK {
            self.scan_short(&block[BLOCK..]);
        }
        self.arrange();
        &self.hashes
    }

    /// Scans letters so that their first k - 1 also count as a k-mer: the scanner does this after a letter
    /// that is not a base, so one is put in front.
    fn scan_short(&mut self, letters: &[u8]) {
        let mut behind = std::mem::take(&mut self.letters);
        behind.clear();
        behind.push(b'N');
        behind.extend_from_slice(letters);
        self.scan_own(&behind);
        self.letters = behind;
    }

    fn scan_own(&mut self, letters: &[u8]) {
        if letters.len() < self.k {
            return;
        }
        let keep = |entries: &mut Entries| {
            entries.runs.clear();
            Ok::<(), std::convert::Infallible>(())
        };
        let Ok(()) = self.scanner.scan(letters, &mut self.entries, keep);
        self.entries.runs.clear();
    }

    /// Sorts the minimizers, drops duplicates and those below the minimum hash, and lists their hashes.
    fn arrange(&mut self) {
        let minimizers = &self.entries.minimizers;
        self.hashes.clear();
        self.hashes.extend(minimizers.iter().map(|&minimizer| hash(minimizer)));
        let all = self.hashes.iter().zip(minimizers);
        let kept = all.filter(|&(&hash, _)| hash >= self.minimum_hash);
        let zoned = kept.map(|(&hash, &minimizer)| (hash as usize % ZONES, minimizer));
        let mut ends = [0; ZONES];
        distribute(zoned, &mut ends, &mut self.zoned);
        self.hashes.clear();
        let mut start = 0;
        for end in ends {
            let zone = &mut self.zoned[start..end as usize];
            zone.sort_unstable();
            let mut last = None;
            for &minimizer in &*zone {
                if last.replace(minimizer) != Some(minimizer) {
                    self.hashes.push(hash(minimizer));
                }
            }
            start = end as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::naive;
    use super::*;
    use merganser_test_random::Random;
    use std::collections::BTreeSet;

    /// Computes the hashes as `kraken2-build` does: its scanner starts anew at each sub-block.
    fn naive_hashes(options: &Kraken2Options, block: &[u8], first: bool) -> Vec<u64> {
        let mut found = BTreeSet::new();
        for start in (0..block.len()).step_by(BLOCK) {
            let letters = &block[start..];
            let whole = naive::entries(options, letters);
            let short = Kraken2Options { k: options.k - 1, ..*options };
            let begins = !(first && start == 0) && options.k > options.l;
            let head = letters.get(..options.k - 1).filter(|_| begins);
            let head = head.map(|head| naive::entries(&short, head)).unwrap_or_default();
            let head = head.into_iter().filter(|_| {
                letters[..options.k - 1].iter().all(|letter| b"ACGTacgt".contains(letter))
            });
            let all = head.chain(whole).flatten().map(|minimizer| (hash(minimizer), minimizer));
            let kept = all.filter(|&(hash, _)| hash >= options.minimum_hash);
            found.extend(kept.map(|(hash, minimizer)| (hash % 256, minimizer)));
        }
        found.into_iter().map(|(_, minimizer)| hash(minimizer)).collect()
    }

    #[test]
    fn hashes_are_those_of_the_definition() {
        let mut random = Random(3);
        let mut letter = |rare: usize| match random.below(rare) {
            0 => b'x',
            _ => b"ACGT"[random.below(4)],
        };
        for (k, l, minimum_hash) in [(35, 31, 0), (31, 31, 0), (45, 21, 1 << 63), (12, 5, 7 << 60)]
        {
            let options = Kraken2Options {
                k,
                l,
                spaced_mask: 0,
                toggle_mask: 0xe37e_28c4_271b_5a2d,
                minimum_hash,
                old_complement: false,
            };
            for letters in [0, 1, k - 1, k, 200, BLOCK, BLOCK + k - 2, BLOCK + k - 1] {
                for rare in [40, 1 << 20] {
                    let block: Vec<u8> = (0..letters).map(|_| letter(rare)).collect();
                    for first in [false, true] {
                        let expected = naive_hashes(&options, &block, first);
                        let mut blocks = Blocks::new(&options);
                        assert_eq!(blocks.hashes(&block, first), expected, "{k} {l} {letters}");
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_begin_as_long_as_there_are_letters() {
        let all = |letters| -> Vec<(usize, usize)> {
            blocks(35, letters).map(|block| (block.start, block.end)).collect()
        };
        assert_eq!(all(0), []);
        assert_eq!(all(20), [(0, 20)]);
        assert_eq!(all(BLOCK), [(0, BLOCK)]);
        assert_eq!(all(BLOCK + 1), [(0, BLOCK + 1), (BLOCK, BLOCK + 1)]);
        assert_eq!(all(40_000), [(0, 16_418), (16_384, 32_802), (32_768, 40_000)]);
    }
}
