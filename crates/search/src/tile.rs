//! Tiles: up to 512 stretches of a text side by side, one in each lane, as one vector per letter and column.
//!
//! A column of a tile is one letter of each lane. For every set of bases that a pattern may ask for, a tile has the
//! vector of the lanes whose letter has a base of the set. So a pattern, whose letters are the same for all lanes,
//! finds the comparison of a letter with a column ready in memory.

use merganser_seq::lanes::{Bits, LANES, each, transpose};
use merganser_seq::planes::{BASES_PER_WORD, TextPlanes};
use merganser_seq::simd::Level;

use crate::letters::text_bases;

/// The number of columns that a kernel processes together; the columns of tiles are a multiple of it.
pub(crate) const BLOCK: usize = 4;

/// A stretch of a text for one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch<'t> {
    pub(crate) letters: &'t [u8],
    /// Whether it begins where its text begins.
    pub(crate) begins: bool,
}

/// A tile. Refilling it reuses its memory.
#[derive(Debug, Default)]
pub(crate) struct Tile {
    columns: usize,
    /// The lanes that begin where their text begins.
    begins: Bits,
    /// By set of bases: the lanes whose letter has one of them, by column; empty if no pattern needs the set.
    sets: [Vec<Bits>; 16],
    /// The planes of a lane: low bits, high bits, and whether the letter is a base, transposed after loading.
    loaded: [Vec<Bits>; 3],
    planes: TextPlanes,
    words: Vec<u64>,
    /// The letters that are not bases, each with its column and lane.
    others: Vec<(usize, usize, u8)>,
}

impl Tile {
    /// Returns the number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the lanes that begin where their text begins.
    pub(crate) fn begins(&self) -> &Bits {
        &self.begins
    }

    /// Returns the lanes that have a base of a set, by column.
    pub(crate) fn set(&self, bases: u8) -> &[Bits] {
        &self.sets[usize::from(bases)]
    }

    /// Refills the tile with up to 512 stretches, and makes the vectors of the sets of bases in `wanted` (bit s for set
    /// s). Columns after the end of a stretch match nothing.
    pub(crate) fn load(
        &mut self,
        level: Level,
        stretches: &[Stretch<'_>],
        wanted: u16,
        n_matches: bool,
    ) {
        let longest = stretches.iter().map(|stretch| stretch.letters.len()).max().unwrap_or(0);
        self.columns = longest.next_multiple_of(BLOCK);
        let rows = longest.next_multiple_of(BASES_PER_WORD);
        for plane in &mut self.loaded {
            plane.clear();
            plane.resize(rows, Bits::NONE);
        }
        self.others.clear();
        self.begins = Bits::NONE;
        for (lane, stretch) in stretches.iter().take(LANES).enumerate() {
            self.put(level, lane, stretch.letters, n_matches);
            if stretch.begins {
                self.begins.insert(lane);
            }
        }
        for plane in &mut self.loaded {
            plane
                .as_chunks_mut::<BASES_PER_WORD>()
                .0
                .iter_mut()
                .for_each(|block| transpose(level, block));
        }
        self.make_bases();
        self.make_sets(wanted);
    }

    /// Writes the planes of a stretch to the rows of its lane.
    fn put(&mut self, level: Level, lane: usize, letters: &[u8], n_matches: bool) {
        self.planes.scan(level, letters);
        self.words.clear();
        self.planes.stretch(0, letters.len(), &mut self.words);
        let count = letters.len().div_ceil(BASES_PER_WORD);
        let (low, high) = self.words.split_at(count);
        let (row, g) = (lane % 64, lane / 64);
        for w in 0..count {
            let at = BASES_PER_WORD * w + row;
            self.loaded[0][at][g] = low[w];
            self.loaded[1][at][g] = high[w];
            let left = (letters.len() - BASES_PER_WORD * w).min(BASES_PER_WORD);
            self.loaded[2][at][g] = u64::MAX >> (BASES_PER_WORD - left);
        }
        let mut at = self.planes.next_other(0);
        while at < letters.len() {
            self.loaded[2][at / BASES_PER_WORD * BASES_PER_WORD + row][g] &=
                !(1 << (at % BASES_PER_WORD));
            let bases = text_bases(letters[at], n_matches);
            if bases != 0 {
                self.others.push((at, lane, bases));
            }
            at = self.planes.next_other(at + 1);
        }
    }

    /// Makes the vectors of the four bases.
    fn make_bases(&mut self) {
        let [low, high, is_base] = &self.loaded;
        for code in 0..4usize {
            let flip = [0, 1].map(|bit| if code >> bit & 1 == 1 { 0 } else { u64::MAX });
            let set = &mut self.sets[1 << code];
            set.clear();
            let columns = low.iter().zip(high).zip(is_base).take(self.columns);
            set.extend(columns.map(|((low, high), is_base)| {
                each(|g| (low[g] ^ flip[0]) & (high[g] ^ flip[1]) & is_base[g])
            }));
            for &(column, lane, bases) in &self.others {
                if bases >> code & 1 == 1 {
                    set[column].insert(lane);
                }
            }
        }
    }

    /// Makes the vectors of other sets of bases.
    fn make_sets(&mut self, wanted: u16) {
        for bases in 0..16usize {
            if bases.is_power_of_two() || wanted >> bases & 1 == 0 {
                continue;
            }
            let mut set = std::mem::take(&mut self.sets[bases]);
            set.clear();
            set.resize(self.columns, Bits::NONE);
            for base in (0..4).filter(|base| bases >> base & 1 == 1) {
                let one = &self.sets[1 << base];
                set.iter_mut().zip(one).for_each(|(all, one)| *all = each(|g| all[g] | one[g]));
            }
            self.sets[bases] = set;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tile_has_the_letters_of_its_stretches(
            texts in proptest::collection::vec(
                proptest::collection::vec(proptest::sample::select(b"ACGTACGTACGTacgtuNRyXv-".to_vec()), 0..150), 1..70),
            n_matches: bool,
        ) {
            for level in Level::available() {
                let mut tile = Tile::default();
                tile.load(level, &[Stretch { letters: b"ACCGNTAGA", begins: true }; 512], u16::MAX, true);
                let stretches: Vec<_> = texts.iter().map(|letters| Stretch { letters, begins: false }).collect();
                tile.load(level, &stretches, u16::MAX, n_matches);
                for bases in 1..16 {
                    for column in 0..tile.columns() {
                        for lane in 0..LANES {
                            let letter = texts.get(lane).and_then(|text| text.get(column)).copied();
                            let expected = letter.map_or(0, |letter| text_bases(letter, n_matches)) & bases != 0;
                            prop_assert_eq!(tile.set(bases)[column].has(lane), expected);
                        }
                    }
                }
            }
        }
    }
}
