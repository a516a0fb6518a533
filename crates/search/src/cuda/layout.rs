//! The division of a text into lanes.

/// The lanes of a tile.
pub(super) const LANES: usize = 1024;
/// The columns that the kernels load together; the lengths of lanes are multiples of it.
pub(super) const CHUNK: usize = 16;
/// The number of 64-bit words of a column of a tile: one bit for each lane and base.
const COLUMN_WORDS: usize = LANES * 4 / 64;
/// The maximum number of letters that a lane has to itself: with more, the overlap of lanes takes little less time.
const MAX_OWN: usize = 4096;
/// The minimum number of a lane's own letters, in overlaps: fewer would waste the time of the device.
const MIN_OVERLAPS: usize = 4;
/// The number of blocks of threads that occupy a device well: four times as many as an H100 holds at once.
const BLOCKS: usize = 1056;

/// The division of a text: lane l reports the ends of `own` letters from l * own on. It has `before` letters before
/// them, so that it has all alignments of its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// The number of letters of the text, a multiple of [`CHUNK`].
    pub(super) letters: usize,
    pub(super) own: usize,
    pub(super) before: usize,
    pub(super) tiles: usize,
}

impl Layout {
    /// Divides a text of `letters` letters, where alignments have up to `reach` letters, and each tile takes `blocks`
    /// blocks of threads. A lane has at most as many own letters as there is room for their ends, if all letters of a
    /// tile are ends: see [`min_room`].
    pub(super) fn new(letters: usize, reach: usize, blocks: usize, room: usize) -> Layout {
        let before = reach.next_multiple_of(CHUNK);
        let least = MIN_OVERLAPS * before;
        let most = (room / LANES / CHUNK * CHUNK).min(MAX_OWN).max(least);
        let wanted = (letters * blocks / (LANES * BLOCKS)).clamp(least, most);
        let tiles = letters.div_ceil(LANES * wanted).max(1);
        let own = letters.div_ceil(LANES * tiles).next_multiple_of(CHUNK).clamp(least, most);
        let tiles = letters.div_ceil(LANES * own).max(1);
        Layout { letters: letters.next_multiple_of(CHUNK), own, before, tiles }
    }

    /// Returns the number of 64-bit words of the planes.
    pub(super) fn words(&self) -> usize {
        self.tiles * (self.own + self.before) * COLUMN_WORDS
    }
}

/// Returns the maximum number of words of the planes of a text of up to `letters` letters.
pub(super) fn max_words(letters: usize, reach: usize) -> usize {
    let before = reach.next_multiple_of(CHUNK);
    // A tile has at most a quarter more columns than own letters; one tile may have few letters. The lengths of lanes
    // are rounded up by less than a quarter.
    let columns = letters.div_ceil(LANES) * 25 / 16;
    (columns + 2 * (MIN_OVERLAPS + 1) * before) * COLUMN_WORDS
}

/// Returns the minimum number of ends that there must be room for: those of one tile and pattern.
pub(super) fn min_room(reach: usize) -> usize {
    MIN_OVERLAPS * reach.next_multiple_of(CHUNK) * LANES
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lanes_have_all_letters(
            letters in prop_oneof![0usize..1 << 16, 0usize..1 << 32], reach in 1usize..256, blocks in 1usize..3000,
            room in 0usize..1 << 24, more in 0usize..10_000_000,
        ) {
            let room = room.max(min_room(reach));
            let layout = Layout::new(letters, reach, blocks, room);
            prop_assert!(layout.tiles * LANES * layout.own >= letters);
            prop_assert!(layout.before >= reach && LANES * layout.own <= room);
            prop_assert_eq!((layout.own % CHUNK, layout.before % CHUNK, layout.letters % CHUNK), (0, 0, 0));
            prop_assert!(layout.words() <= max_words(letters, reach), "{:?}", layout);
            prop_assert!(layout.words() <= max_words(letters + more, reach), "{:?}", layout);
        }
    }

    #[test]
    fn lanes_are_long_if_that_occupies_the_device() {
        let layout = |letters, blocks| Layout::new(letters, 27, blocks, 32 << 20);
        assert_eq!(
            layout(3_100_000_000, 250),
            Layout { letters: 3_100_000_000, own: 4096, before: 32, tiles: 740 }
        );
        assert_eq!(layout(64 << 20, 250).own, 4096);
        assert_eq!(layout(64 << 20, 1).own, 128);
        assert_eq!(layout(1, 1), Layout { letters: 16, own: 128, before: 32, tiles: 1 });
    }
}
