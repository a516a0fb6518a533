//! Patterns in the memory of a device.

use std::ops::Range;

use merganser_gpu::{Device, DeviceBuffer, DeviceSlice, Result as GpuResult};

use super::kernels::{LetterSets, PackedPattern, packed, rows};
use crate::letters::text_bases;
use crate::pattern::MAX_PATTERN;

/// The number of patterns of a block of threads.
pub(super) const BLOCK_PATTERNS: usize = 8;
/// The maximum number of patterns: their numbers have 24 bits in records.
pub(crate) const MAX_PATTERNS: usize = 1 << 24;
/// The maximum number of letters of an anchor.
const MAX_ANCHOR: usize = 16;

/// A pattern to scan for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GpuPattern<'p> {
    /// The set of bases of each letter.
    pub(crate) sets: &'p [u8],
    /// The maximum number of edits, less than the number of letters.
    pub(crate) edits: usize,
}

/// Patterns on a device, which the scanners of all threads share.
#[derive(Debug)]
pub(crate) struct GpuPatterns {
    device: Device,
    /// Sorted by the number of rows of their kernel.
    packed: DeviceBuffer<PackedPattern>,
    /// The number of rows, and the patterns that have it.
    classes: Vec<(u32, Range<usize>)>,
    reach: usize,
    most_edits: usize,
    wanted: u16,
    letters: LetterSets,
    anchor: (u64, u32),
}

impl GpuPatterns {
    /// Copies patterns to a device. `anchor` has the sets of the letters that must follow an end, such as a PAM; N in a
    /// text matches everything if `n_matches`, otherwise nothing.
    ///
    /// # Errors
    /// If the device has too little memory, or fails.
    ///
    /// # Panics
    /// If a pattern has no letters, more than [`MAX_PATTERN`], an empty set, or not fewer edits than letters; if there
    /// are more than [`MAX_PATTERNS`] patterns; if the anchor has more than 16 letters.
    pub(crate) fn new(
        device: &Device,
        patterns: &[GpuPattern<'_>],
        n_matches: bool,
        anchor: &[u8],
    ) -> GpuResult<GpuPatterns> {
        assert!(patterns.len() <= MAX_PATTERNS && anchor.len() <= MAX_ANCHOR);
        // The empty set is that of rows above a pattern.
        let mut wanted = 1;
        for GpuPattern { sets, edits } in patterns {
            assert!(*edits < sets.len() && sets.len() <= MAX_PATTERN && !sets.contains(&0));
            wanted |= sets.iter().fold(0, |all, set| all | 1u16 << set);
        }
        let mut order: Vec<(u32, u32)> =
            (0..).zip(patterns).map(|(number, one)| (rows(one.sets.len()), number)).collect();
        order.sort_unstable();
        let record = |&(_, number): &(u32, u32)| {
            let GpuPattern { sets, edits } = patterns[number as usize];
            packed(number, sets, edits)
        };
        let records: Vec<PackedPattern> = order.iter().map(record).collect();
        let mut on_device = device.alloc(records.len())?;
        device.stream()?.upload_now(&records, on_device.view_mut())?;
        Ok(GpuPatterns {
            device: device.clone(),
            packed: on_device,
            classes: classes(&order),
            reach: patterns.iter().map(|one| one.sets.len() + one.edits).max().unwrap_or(1),
            most_edits: patterns.iter().map(|one| one.edits).max().unwrap_or(0),
            wanted,
            letters: letter_sets(n_matches),
            anchor: (
                (0..).zip(anchor).fold(0, |all, (at, &set)| all | u64::from(set) << (4 * at)),
                anchor.len() as u32,
            ),
        })
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn classes(&self) -> &[(u32, Range<usize>)] {
        &self.classes
    }

    pub(super) fn slice(&self, range: Range<usize>) -> DeviceSlice<'_, PackedPattern> {
        self.packed.slice(range)
    }

    /// Returns the number of blocks of threads that a tile takes.
    pub(super) fn blocks(&self) -> usize {
        self.classes.iter().map(|(_, range)| range.len().div_ceil(BLOCK_PATTERNS)).sum()
    }

    /// Returns the maximum number of letters of an alignment.
    pub(super) fn reach(&self) -> usize {
        self.reach
    }

    /// Returns the number of letters that separate pieces of a text.
    pub(crate) fn gap(&self) -> usize {
        self.most_edits + 1
    }

    /// Returns the sets of bases that patterns have, one bit each.
    pub(super) fn wanted(&self) -> u16 {
        self.wanted
    }

    pub(super) fn letters(&self) -> LetterSets {
        self.letters
    }

    /// Returns the sets of the anchor, four bits each, and its number of letters.
    pub(super) fn anchor(&self) -> (u64, u32) {
        self.anchor
    }
}

/// Returns the numbers of rows, each with the range of the patterns that have it.
fn classes(order: &[(u32, u32)]) -> Vec<(u32, Range<usize>)> {
    let mut end = 0;
    let same = order.chunk_by(|a, b| a.0 == b.0);
    same.map(|of| {
        let range = end..end + of.len();
        end = range.end;
        (of[0].0, range)
    })
    .collect()
}

/// Returns the sets of the letters 0x40 to 0x5f, which are those of 0x60 to 0x7f, too. No other byte has one.
fn letter_sets(n_matches: bool) -> LetterSets {
    let mut sets = [0; 2];
    for letter in 0x40..0x60u8 {
        let set = u64::from(text_bases(letter, n_matches));
        sets[usize::from(letter >> 4 & 1)] |= set << (4 * (letter & 15));
    }
    LetterSets { sets }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_have_their_sets() {
        for n_matches in [false, true] {
            let LetterSets { sets } = letter_sets(n_matches);
            for letter in 0..=255u8 {
                let set = (sets[usize::from(letter >> 4 & 1)] >> (4 * (letter & 15)) & 15) as u8;
                let set = if letter >> 6 == 1 { set } else { 0 };
                assert_eq!(set, text_bases(letter, n_matches), "byte {letter:#x}");
            }
        }
    }

    #[test]
    fn classes_have_all_patterns_of_their_rows() {
        assert_eq!(classes(&[(4, 1), (4, 7), (8, 0)]), [(4, 0..2), (8, 2..3)]);
        assert_eq!(classes(&[]), []);
    }
}
