//! Batches of packed bases for a device.

use super::kernels::{CUT_WORDS, TILE_BASES, TILE_WORDS};
use crate::fragments::Fragment;

/// Tiles of [`TILE_BASES`] bases of 2 bits. A second array has one bit per base (a cut), which is set if no
/// k-mer may contain both this base and the previous one: at the start of a fragment, and outside fragments.
pub(crate) struct TileBuffer {
    bases: Vec<u64>,
    cuts: Vec<u64>,
}

impl TileBuffer {
    /// Returns an empty buffer with room for `tiles` tiles.
    pub(crate) fn new(tiles: usize) -> TileBuffer {
        let room = |words| Vec::with_capacity(tiles * words);
        TileBuffer { bases: room(TILE_WORDS), cuts: room(CUT_WORDS) }
    }

    pub(crate) fn tiles(&self) -> usize {
        self.cuts.len() / CUT_WORDS
    }

    pub(crate) fn clear(&mut self) {
        self.bases.clear();
        self.cuts.clear();
    }

    /// The number of bytes of a tile.
    pub(crate) const TILE_BYTES: usize = 8 * (TILE_WORDS + CUT_WORDS);

    /// Appends a tile of packed bases. `fragments` are ranges of bases in the tile; cuts are set at the first base
    /// of each and at all bases outside them. Words of `packed` beyond the tile are padding and are not copied.
    pub(crate) fn push(&mut self, packed: &[u64], fragments: &[Fragment]) {
        let words = packed.len().min(TILE_WORDS);
        self.bases.extend_from_slice(&packed[..words]);
        self.bases.resize((self.tiles() + 1) * TILE_WORDS, 0);
        let mut cuts = [0; CUT_WORDS];
        let mut clean_to = 0;
        for fragment in fragments {
            set_bits(&mut cuts, clean_to, fragment.start + 1);
            clean_to = fragment.end;
        }
        set_bits(&mut cuts, clean_to, TILE_BASES);
        self.cuts.extend_from_slice(&cuts);
    }

    /// Copies the bases, then the cuts, to `out`.
    pub(crate) fn copy_to(&self, out: &mut [u64]) {
        let (bases, cuts) = out.split_at_mut(self.bases.len());
        bases.copy_from_slice(&self.bases);
        cuts[..self.cuts.len()].copy_from_slice(&self.cuts);
    }
}

/// Sets the bits from `from` up to, but not including, `to`.
fn set_bits(words: &mut [u64], mut from: usize, to: usize) {
    let to = to.min(64 * words.len());
    while from < to {
        let bits = (64 - from % 64).min(to - from);
        words[from / 64] |= (u64::MAX >> (64 - bits)) << (from % 64);
        from += bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_set_at_starts_and_in_gaps() {
        let mut batch = TileBuffer::new(1);
        let fragments = [
            Fragment { start: 0, end: 70 },
            Fragment { start: 70, end: 80 },
            Fragment { start: 85, end: 200 },
        ];
        batch.push(&[7; 9], &fragments);
        let set: Vec<usize> =
            (0..TILE_BASES).filter(|&i| batch.cuts[i / 64] >> (i % 64) & 1 == 1).collect();
        let expected: Vec<usize> =
            [0, 70].into_iter().chain(80..=85).chain(200..TILE_BASES).collect();
        assert_eq!(set, expected);
        assert_eq!(
            (batch.tiles(), batch.bases.len(), batch.bases[8..10].to_vec()),
            (1, TILE_WORDS, vec![7, 0])
        );
    }
}
