//! Wrappers of the CUDA launchers: the only foreign functions of this crate.
#![allow(unsafe_code, reason = "foreign functions")]

use std::ops::Range;

use merganser_gpu::{DeviceSlice, DeviceSliceMut, RawStream, Result, Stream};

use super::layout::Layout;
use crate::pattern::MAX_PATTERN;

/// A pattern, `pattern` of `cuda/scan.cuh`, in words.
pub(super) type PackedPattern = [u32; 2 + MAX_PATTERN / 4];

/// Returns a pattern for the device. `number` is its number in the records of its ends.
pub(super) fn packed(number: u32, sets: &[u8], edits: usize) -> PackedPattern {
    let mut words = [0; 2 + MAX_PATTERN / 4];
    words[0] = number;
    words[1] = edits as u32 | (sets.len() as u32) << 16;
    for (word, sets) in words[2..].iter_mut().zip(sets.chunks(4)) {
        let mut bytes = [0; 4];
        bytes[..sets.len()].copy_from_slice(sets);
        *word = u32::from_le_bytes(bytes);
    }
    words
}

merganser_gpu::shared! {
    /// The division of a text to lanes; its fields are documented in `cuda/planes.cuh`.
    struct DeviceLayout = "mgpu::search::layout" {
        letters: u64,
        own: u32,
        before: u32,
    }

    /// The sets of bases of letters: see `cuda/planes.cuh`.
    pub(super) struct LetterSets = "mgpu::search::letter_sets" {
        pub(super) sets: [u64; 2],
    }

    /// The input and output of the kernel of planes.
    struct PlanesArguments = "mgpu::search::planes_arguments" {
        text: *const u8,
        planes: *mut u32,
        to: DeviceLayout,
        letters: LetterSets,
    }

    /// The input and output of the kernel of scans; its fields are documented in `cuda/scan.cuh`.
    struct ScanArguments = "mgpu::search::scan_arguments" {
        planes: *const u64,
        patterns: *const PackedPattern,
        ends: *mut u64,
        found: *mut u64,
        room: u64,
        to: DeviceLayout,
        text: *const u8,
        letters: LetterSets,
        anchor: u64,
        anchor_len: u32,
        count: u32,
        groups: u32,
        first_tile: u32,
        wanted: u32,
    }
}

merganser_gpu::foreign! {
    fn merganser_search_sizes(lanes: *mut u32, columns: *mut u32, patterns: *mut u32, bytes: *mut u32);
    fn merganser_search_rows(len: u32, rows: *mut u32);
    fn merganser_search_planes(arguments: *const PlanesArguments, tiles: u32, stream: RawStream);
    fn merganser_search_scan(rows: u32, arguments: *const ScanArguments, tiles: u32, stream: RawStream);
}

impl DeviceLayout {
    fn of(layout: &Layout) -> DeviceLayout {
        DeviceLayout {
            letters: layout.letters as u64,
            own: layout.own as u32,
            before: layout.before as u32,
        }
    }
}

/// Returns the number of rows that are computed for a pattern of `len` letters, 1 to [`MAX_PATTERN`].
pub(super) fn rows(len: usize) -> u32 {
    let mut rows = 0;
    // SAFETY: the pointer is to a local.
    let status = unsafe { merganser_search_rows(len as u32, &mut rows) };
    assert!(status == 0, "a pattern of {len} letters, or a build without CUDA");
    rows
}

/// Makes the planes of a text.
pub(super) fn make_planes(
    stream: &Stream,
    layout: &Layout,
    letters: LetterSets,
    text: DeviceSlice<'_, u8>,
    mut planes: DeviceSliceMut<'_, u64>,
) -> Result<()> {
    assert!(text.len() >= layout.letters && planes.len() >= layout.words());
    let arguments = PlanesArguments {
        text: text.as_ptr(),
        planes: planes.as_mut_ptr().cast(),
        to: DeviceLayout::of(layout),
        letters,
    };
    stream.launch("dividing a text into lanes", |raw| {
        // SAFETY: both memories have the sizes that the layout requires; the call copies the arguments.
        unsafe { merganser_search_planes(&arguments, layout.tiles as u32, raw) }
    })
}

/// The memory that all scans of a batch use.
pub(super) struct Scan<'s> {
    pub(super) layout: &'s Layout,
    pub(super) letters: LetterSets,
    /// The text, and its planes.
    pub(super) text: DeviceSlice<'s, u8>,
    pub(super) planes: DeviceSlice<'s, u64>,
    pub(super) ends: DeviceSliceMut<'s, u64>,
    /// The number of ends so far.
    pub(super) found: DeviceSliceMut<'s, u64>,
    /// The sets of the letters that must follow an end, four bits each, and their number.
    pub(super) anchor: (u64, u32),
    /// The sets of bases that patterns have, one bit each.
    pub(super) wanted: u16,
}

impl Scan<'_> {
    /// Enqueues the scan of some tiles for patterns, all of which have kernels of `rows` rows.
    ///
    /// # Safety
    /// The patterns must come from [`packed`], with letters and fewer edits than letters.
    pub(super) unsafe fn enqueue(
        &mut self,
        stream: &Stream,
        rows: u32,
        patterns: DeviceSlice<'_, PackedPattern>,
        tiles: Range<usize>,
    ) -> Result<()> {
        assert!(self.planes.len() >= self.layout.words() && tiles.end <= self.layout.tiles);
        assert!(self.text.len() >= self.layout.letters && self.found.len() == 1);
        let arguments = ScanArguments {
            planes: self.planes.as_ptr(),
            patterns: patterns.as_ptr(),
            ends: self.ends.as_mut_ptr(),
            found: self.found.as_mut_ptr(),
            room: self.ends.len() as u64,
            to: DeviceLayout::of(self.layout),
            text: self.text.as_ptr(),
            letters: self.letters,
            anchor: self.anchor.0,
            anchor_len: self.anchor.1,
            count: patterns.len() as u32,
            groups: 0,
            first_tile: tiles.start as u32,
            wanted: self.wanted.into(),
        };
        stream.launch("searching", |raw| {
            // SAFETY: the memories have the sizes that the layout requires; the patterns are valid, as the caller
            // guarantees; the call copies the arguments.
            unsafe { merganser_search_scan(rows, &arguments, tiles.len() as u32, raw) }
        })
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::super::layout::{CHUNK, LANES};
    use super::super::patterns::BLOCK_PATTERNS;
    use super::*;

    #[test]
    fn sizes_are_those_of_the_cpp() {
        let mut sizes = [0; 4];
        let [lanes, columns, patterns, bytes] = &mut sizes;
        // SAFETY: the pointers are to locals.
        let status = unsafe { merganser_search_sizes(lanes, columns, patterns, bytes) };
        let ours = [LANES, CHUNK, BLOCK_PATTERNS, size_of::<PackedPattern>()];
        assert_eq!((status, sizes), (0, ours.map(|size| size as u32)));
        let rows: Vec<u32> = (1..=MAX_PATTERN).map(rows).collect();
        assert!(rows.is_sorted() && (1..).zip(&rows).all(|(len, &rows)| len <= rows));
    }
}
