//! Safe functions for the kernels that inflate blocks and pack text.
#![allow(unsafe_code, reason = "launches kernels, with buffers whose sizes were checked")]

use std::ops::Range;

use super::TextRules;
use crate::stream::fits;
use crate::{DeviceSlice, DeviceSliceMut, RawStream, Result, Stream};

/// The number of bytes of a tile of text.
pub(super) const TILE: usize = 4096;
/// The number of bytes after a compressed block that must be readable.
pub(super) const SLACK: usize = 256;

/// A compressed block: the position of its DEFLATE data, which its CRC-32 follows, that of its text, and the sizes of
/// both (size | text << 32).
pub(super) type BlockPlace = [u64; 3];

/// The totals that packing adds up.
pub(super) const TOTALS: usize = 4;

crate::shared! {
    /// The blocks and buffers of an inflation.
    pub(crate) struct InflateArguments = "mgpu::inflate_arguments" {
        pub(crate) bytes: *const u32,
        pub(crate) blocks: *const BlockPlace,
        pub(crate) text: *mut u8,
        pub(crate) damaged: *mut u32,
    }

    /// A text, its tiles, and the buffers of the kernels that read it.
    pub(crate) struct TextArguments = "mgpu::text_arguments" {
        pub(crate) text: *const u8,
        pub(crate) start: u32,
        pub(crate) end: u32,
        pub(crate) first_tile: u32,
        pub(crate) format: u32,
        pub(crate) in_line: bool,
        pub(crate) least_quality: u8,
        pub(crate) lines_before: *const u64,
        pub(crate) line_ends: *mut u32,
        pub(crate) line_room: u32,
        pub(crate) counts: *mut u32,
        pub(crate) letters_before: *const u64,
        pub(crate) bases: *mut u64,
        pub(crate) cuts: *mut u64,
        pub(crate) totals: *mut u64,
    }
}

crate::foreign! {
    fn mgpu_inflate(arguments: *const InflateArguments, count: u32, stream: RawStream);
    fn mgpu_count_lines(arguments: *const TextArguments, stream: RawStream);
    fn mgpu_line_ends(arguments: *const TextArguments, stream: RawStream);
    fn mgpu_check_records(arguments: *const TextArguments, records: u32, stream: RawStream);
    fn mgpu_count_letters(arguments: *const TextArguments, stream: RawStream);
    fn mgpu_pack_letters(arguments: *const TextArguments, stream: RawStream);
}

/// Inflates blocks to `text`. The number of blocks that are not accepted is added to `damaged[0]`.
pub(super) fn inflate(
    stream: &Stream,
    bytes: DeviceSlice<'_, u8>,
    blocks: DeviceSlice<'_, BlockPlace>,
    mut text: DeviceSliceMut<'_, u8>,
    mut damaged: DeviceSliceMut<'_, u32>,
) -> Result<()> {
    fits("inflating", "the counter", damaged.len(), 1)?;
    if blocks.is_empty() {
        return Ok(());
    }
    let arguments = InflateArguments {
        bytes: bytes.as_ptr().cast(),
        blocks: blocks.as_ptr(),
        text: text.as_mut_ptr(),
        damaged: damaged.as_mut_ptr(),
    };
    stream.launch("inflating", |raw| {
        // SAFETY: the caller's blocks are within `bytes`, with `SLACK` bytes after the last, and their texts within
        // `text`; the kernel writes nothing beyond the size of a text.
        unsafe { mgpu_inflate(&arguments, blocks.len() as u32, raw) }
    })
}

/// A text in device memory and the buffers of the kernels that read it.
pub(super) struct Tiles<'t> {
    /// The buffer; the text is its bytes `range`.
    pub(super) text: DeviceSlice<'t, u8>,
    pub(super) range: Range<usize>,
    pub(super) rules: TextRules,
}

/// The lines of a text: the number of line ends before each tile, and the positions of all of them.
#[derive(Clone, Copy)]
pub(super) struct LinesOfText<'t> {
    pub(super) before: DeviceSlice<'t, u64>,
    pub(super) ends: DeviceSlice<'t, u32>,
}

impl Tiles<'_> {
    /// Returns the number of tiles.
    pub(super) fn count(&self) -> usize {
        self.range.end.saturating_sub(1).max(self.range.start) / TILE - self.range.start / TILE + 1
    }

    fn arguments(&self) -> TextArguments {
        TextArguments {
            text: self.text.as_ptr(),
            start: self.range.start as u32,
            end: self.range.end as u32,
            first_tile: (self.range.start / TILE) as u32,
            format: self.rules.format as u32,
            in_line: self.rules.in_line,
            least_quality: self.rules.least_quality.unwrap_or(0),
            lines_before: std::ptr::null(),
            line_ends: std::ptr::null_mut(),
            line_room: 0,
            counts: std::ptr::null_mut(),
            letters_before: std::ptr::null(),
            bases: std::ptr::null_mut(),
            cuts: std::ptr::null_mut(),
            totals: std::ptr::null_mut(),
        }
    }

    /// Checks that the text, and a number for each tile and one more, are there.
    fn check(&self, doing: &'static str, numbers: usize) -> Result<()> {
        fits(doing, "the text", self.text.len(), self.range.end + SLACK)?;
        fits(doing, "the numbers of tiles", numbers, self.count() + 1)
    }

    /// Counts the line ends of each tile; a last item is 0.
    pub(super) fn count_lines(
        &self,
        stream: &Stream,
        mut counts: DeviceSliceMut<'_, u32>,
    ) -> Result<()> {
        let doing = "counting lines";
        self.check(doing, counts.len())?;
        let arguments = TextArguments { counts: counts.as_mut_ptr(), ..self.arguments() };
        stream.launch(doing, |raw| {
            // SAFETY: `check` has verified the text and the counts.
            unsafe { mgpu_count_lines(&arguments, raw) }
        })
    }

    /// Writes the position of each line end for which there is room.
    pub(super) fn line_ends(
        &self,
        stream: &Stream,
        lines_before: DeviceSlice<'_, u64>,
        mut line_ends: DeviceSliceMut<'_, u32>,
    ) -> Result<()> {
        let doing = "finding lines";
        self.check(doing, lines_before.len())?;
        let arguments = TextArguments {
            lines_before: lines_before.as_ptr(),
            line_room: line_ends.len() as u32,
            line_ends: line_ends.as_mut_ptr(),
            ..self.arguments()
        };
        stream.launch(doing, |raw| {
            // SAFETY: as above; the kernel writes only `line_room` positions.
            unsafe { mgpu_line_ends(&arguments, raw) }
        })
    }

    /// Checks `records` FASTQ records, and counts the letters of each tile; a last item is 0.
    pub(super) fn count_letters(
        &self,
        stream: &Stream,
        records: usize,
        lines: &LinesOfText<'_>,
        mut counts: DeviceSliceMut<'_, u32>,
        mut totals: DeviceSliceMut<'_, u64>,
    ) -> Result<()> {
        let (doing, &LinesOfText { before, ends }) = ("counting letters", lines);
        self.check(doing, before.len())?;
        self.check(doing, counts.len())?;
        fits(doing, "the line ends", ends.len(), 4 * records)?;
        fits(doing, "the totals", totals.len(), TOTALS)?;
        let arguments = TextArguments {
            lines_before: before.as_ptr(),
            line_ends: ends.as_ptr().cast_mut(),
            counts: counts.as_mut_ptr(),
            totals: totals.as_mut_ptr(),
            ..self.arguments()
        };
        stream.launch(doing, |raw| {
            // SAFETY: as above; each record has four lines, whose ends are known.
            unsafe {
                match mgpu_check_records(&arguments, records as u32, raw) {
                    0 => mgpu_count_letters(&arguments, raw),
                    failed => failed,
                }
            }
        })
    }

    /// Packs `letters` letters. `bases` and `cuts` must be zero.
    pub(super) fn pack(
        &self,
        stream: &Stream,
        (letters, letters_before): (usize, DeviceSlice<'_, u64>),
        lines: &LinesOfText<'_>,
        [mut bases, mut cuts]: [DeviceSliceMut<'_, u64>; 2],
        mut totals: DeviceSliceMut<'_, u64>,
    ) -> Result<()> {
        let (doing, &LinesOfText { before, ends }) = ("packing letters", lines);
        self.check(doing, before.len())?;
        self.check(doing, letters_before.len())?;
        fits(doing, "the packed letters", bases.len(), letters / 32 + 1)?;
        fits(doing, "the cuts", cuts.len(), letters / 64 + 2)?;
        fits(doing, "the totals", totals.len(), TOTALS)?;
        let arguments = TextArguments {
            lines_before: before.as_ptr(),
            letters_before: letters_before.as_ptr(),
            line_ends: ends.as_ptr().cast_mut(),
            bases: bases.as_mut_ptr(),
            cuts: cuts.as_mut_ptr(),
            totals: totals.as_mut_ptr(),
            ..self.arguments()
        };
        stream.launch(doing, |raw| {
            // SAFETY: as above; a cut is at most one position after the last letter.
            unsafe { mgpu_pack_letters(&arguments, raw) }
        })
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;

    crate::foreign! {
        fn mgpu_ingest_sizes(tile: *mut u32, slack: *mut u32);
    }

    #[test]
    fn the_sizes_are_those_of_the_kernels() {
        let (mut tile, mut slack) = (0, 0);
        // SAFETY: the pointers are to locals.
        assert_eq!(unsafe { mgpu_ingest_sizes(&mut tile, &mut slack) }, 0);
        assert_eq!([tile as usize, slack as usize], [TILE, SLACK]);
    }
}
