//! Text of files on a device: bytes of a file are uploaded as they are, plain or in BGZF blocks, inflated there, and
//! packed to 2 bits a letter. No compressor, no parser and no packer of the host takes part.
//!
//! The device accepts what is sound and usual. Anything else (damaged blocks, malformed records, records beyond the
//! room) is refused as a whole, and the host reads the same text again: it words the errors.

mod ahead;
mod compressed;
mod kernels;

use std::ops::Range;

use merganser_inflate::bgzf::Block;
use merganser_inflate::{RemoteRoom, RemoteText};

use crate::primitives;
use crate::{Device, DeviceBuffer, DeviceSlice, Error, PinnedBuffer, Result, Stream};
pub use ahead::{DeviceInflater, inflated_bytes};
use compressed::Compressed;
use kernels::{LinesOfText, SLACK, TILE, TOTALS, Tiles};

/// The format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TextFormat {
    /// FASTA.
    Fasta = 0,
    /// FASTQ with four lines a record.
    Fastq = 1,
}

/// The rules by which the letters of a text are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRules {
    /// The format.
    pub format: TextFormat,
    /// Whether a text of FASTA begins within a line of sequence.
    pub in_line: bool,
    /// The smallest quality byte of FASTQ with which a letter counts as a base.
    pub least_quality: Option<u8>,
}

/// The numbers of a packed text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackedText {
    /// The number of letters.
    pub letters: u64,
    /// The number of headers.
    pub records: u64,
    /// The number of letters that are not bases.
    pub not_bases: u64,
    /// The number of bases whose quality is too low.
    pub low_quality: u64,
}

/// The largest number of blocks of a text. Smaller ones than usual fill this room first.
const BLOCKS: usize = 1 << 16;
/// The number of bytes of packed letters that may be read after the last letter.
const LETTER_PADDING: usize = 2048;

/// A text on a device, with its stream and buffers. It is filled again and again.
#[derive(Debug)]
pub struct DeviceText {
    device: Device,
    room: RemoteRoom,
    here: PinnedBuffer<u8>,
    text: DeviceBuffer<u8>,
    /// The text is these bytes of the buffer.
    range: Range<usize>,
    /// Allocated when the first blocks arrive.
    compressed: Option<Compressed>,
    counts: DeviceBuffer<u32>,
    lines_before: DeviceBuffer<u64>,
    letters_before: DeviceBuffer<u64>,
    scratch: DeviceBuffer<u8>,
    line_ends: DeviceBuffer<u32>,
    bases: DeviceBuffer<u64>,
    cuts: DeviceBuffer<u64>,
    totals: DeviceBuffer<u64>,
    numbers: PinnedBuffer<u64>,
    stream: Stream,
}

impl DeviceText {
    /// Returns the sizes of a text of up to `text` bytes.
    pub fn room_for(text: usize) -> RemoteRoom {
        // Text is seldom compressed less than fourfold. Less compressed text fills the room for bytes first.
        RemoteRoom { bytes: text / 4, text, headroom: text / 4, blocks: BLOCKS.min(text / 16) }
    }

    /// Returns the bytes of device memory that a text of these sizes takes.
    pub fn device_bytes(room: RemoteRoom) -> u64 {
        let all = all_bytes(room);
        let tiles = 4 * (all / TILE + 2) + 2 * 8 * (all / TILE + 2);
        let packed = all / 4 + all / 8 + 2 * LETTER_PADDING;
        (room.bytes + 24 * room.blocks + all + tiles + 4 * line_room(room) + packed + (1 << 20))
            as u64
    }

    /// Allocates a text of these sizes, which must be below 2 GiB.
    ///
    /// # Errors
    /// If there is too little memory.
    pub fn new(device: &Device, room: RemoteRoom) -> Result<DeviceText> {
        let all = all_bytes(room);
        assert!(all < 1 << 31, "positions are 32-bit numbers");
        let tiles = all / TILE + 2;
        let (stream, mut text) = (device.stream()?, device.alloc(all)?);
        // Threads read whole words, of which some bytes are not text.
        stream.fill(text.view_mut(), b'\n')?;
        Ok(DeviceText {
            device: device.clone(),
            room,
            here: device.alloc_pinned(room.bytes)?,
            text,
            range: 0..0,
            compressed: None,
            counts: device.alloc(tiles)?,
            lines_before: device.alloc(tiles)?,
            letters_before: device.alloc(tiles)?,
            scratch: device.alloc(primitives::exclusive_scan_scratch::<u32>(device, tiles)?)?,
            line_ends: device.alloc(line_room(room))?,
            bases: device.alloc((all / 4 + LETTER_PADDING) / 8)?,
            cuts: device.alloc((all / 8 + LETTER_PADDING) / 8)?,
            totals: device.alloc(TOTALS)?,
            numbers: device.alloc_pinned(TOTALS + 1)?,
            stream,
        })
    }

    /// Returns the stream on which the text is processed.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns the letters that were packed last: 32 a word, the first in the top bits.
    pub fn bases(&self) -> DeviceSlice<'_, u64> {
        self.bases.view()
    }

    /// Returns the cuts of the letters that were packed last: 64 a word, the first in the lowest bit. A cut is set
    /// where no k-mer may contain both this letter and the one before. Cuts after the last letter are unspecified.
    pub fn cuts(&self) -> DeviceSlice<'_, u64> {
        self.cuts.view()
    }

    /// Packs the letters of the text, which has whole records of FASTQ, or FASTA that may be cut within a sequence.
    /// Returns `None` if it has anything that the host must look at.
    ///
    /// # Errors
    /// If the device fails.
    pub fn pack(&mut self, rules: TextRules) -> Result<Option<PackedText>> {
        let lines = self.count_lines()? as usize;
        let records = match rules.format {
            TextFormat::Fasta => 0,
            TextFormat::Fastq => lines / 4,
        };
        let is_cut = rules.format == TextFormat::Fastq && !lines.is_multiple_of(4);
        if is_cut || lines > self.line_ends.len() {
            return Ok(None);
        }
        let Some(letters) = self.count_letters(rules, records)? else { return Ok(None) };
        self.pack_letters(rules, letters)?;
        let &[_, records, not_bases, low_quality, ..] = self.numbers.as_slice()? else {
            return Ok(None);
        };
        Ok(Some(PackedText { letters: letters as u64, records, not_bases, low_quality }))
    }

    /// Counts the lines of each tile and returns the number of line ends of the text.
    fn count_lines(&mut self) -> Result<u64> {
        let stream = &self.stream;
        // Lines are the same in both formats.
        let rules = TextRules { format: TextFormat::Fasta, in_line: false, least_quality: None };
        let tiles = Tiles { text: self.text.view(), range: self.range.clone(), rules };
        let count = tiles.count();
        tiles.count_lines(stream, self.counts.view_mut())?;
        let (counts, sums) = (self.counts.slice(..=count), self.lines_before.slice_mut(..=count));
        primitives::exclusive_scan::<u32>(stream, counts, sums, self.scratch.view_mut())?;
        stream.download(self.lines_before.slice(count..=count), &mut self.numbers, 0)?;
        Ok(self.numbers.as_slice()?[0])
    }

    /// Checks the records, and counts the letters of each tile; returns the number of all, or `None` if a line is odd.
    fn count_letters(&mut self, rules: TextRules, records: usize) -> Result<Option<usize>> {
        let stream = &self.stream;
        let tiles = Tiles { text: self.text.view(), range: self.range.clone(), rules };
        let count = tiles.count();
        tiles.line_ends(stream, self.lines_before.view(), self.line_ends.view_mut())?;
        stream.fill(self.totals.view_mut(), 0)?;
        let lines = LinesOfText { before: self.lines_before.view(), ends: self.line_ends.view() };
        let (counts, totals) = (self.counts.view_mut(), self.totals.view_mut());
        tiles.count_letters(stream, records, &lines, counts, totals)?;
        let (counts, sums) = (self.counts.slice(..=count), self.letters_before.slice_mut(..=count));
        primitives::exclusive_scan::<u32>(stream, counts, sums, self.scratch.view_mut())?;
        stream.download(self.totals.slice(..1), &mut self.numbers, 0)?;
        stream.download(self.letters_before.slice(count..=count), &mut self.numbers, 1)?;
        Ok(match self.numbers.as_slice()? {
            [0, letters, ..] => Some(*letters as usize),
            _ => None,
        })
    }

    /// Packs the letters, and gets the totals into `numbers`.
    fn pack_letters(&mut self, rules: TextRules, letters: usize) -> Result<()> {
        let stream = &self.stream;
        let words = |bits: usize| ..bits.div_ceil(64) + LETTER_PADDING / 8;
        stream.fill(self.bases.slice_mut(words(2 * letters)), 0)?;
        stream.fill(self.cuts.slice_mut(words(letters)), 0)?;
        let tiles = Tiles { text: self.text.view(), range: self.range.clone(), rules };
        let lines = LinesOfText { before: self.lines_before.view(), ends: self.line_ends.view() };
        let out = [self.bases.view_mut(), self.cuts.view_mut()];
        let letters = (letters, self.letters_before.view());
        tiles.pack(stream, letters, &lines, out, self.totals.view_mut())?;
        stream.download(self.totals.view(), &mut self.numbers, 0)
    }
}

impl RemoteText for DeviceText {
    type Error = Error;

    fn room(&self) -> RemoteRoom {
        self.room
    }

    fn bytes(&mut self, length: usize) -> Result<&mut [u8]> {
        Ok(&mut self.here.as_mut_slice()?[..length])
    }

    fn take(&mut self, length: usize) -> Result<u64> {
        self.range = self.room.headroom..self.room.headroom + length;
        let to = self.text.slice_mut(self.range.clone());
        self.stream.upload(&mut self.here, 0..length, to)?;
        self.count_lines()
    }

    fn inflate(&mut self, blocks: &[Block]) -> Result<Option<u64>> {
        if self.compressed.is_none() {
            self.compressed = Some(Compressed::new(&self.device, self.room, &self.stream)?);
        }
        let Some(compressed) = &mut self.compressed else { return Ok(None) };
        let (stream, to) = (&self.stream, (self.text.view_mut(), self.room.headroom));
        let length = compressed.inflate(stream, &mut self.here, blocks, to)?;
        let Some(length) = length else { return Ok(None) };
        self.range = self.room.headroom..self.room.headroom + length;
        let lines = self.count_lines()?;
        let is_good = self.compressed.as_ref().map_or(Ok(false), |it| it.is_good(&self.stream))?;
        Ok(is_good.then_some(lines))
    }

    fn len(&self) -> usize {
        self.range.len()
    }

    fn read(&mut self, range: Range<usize>) -> Result<Vec<u8>> {
        let start = self.range.start;
        self.stream.download_vec(self.text.slice(start + range.start..start + range.end))
    }

    fn prepend(&mut self, bytes: &[u8]) -> Result<()> {
        let start = self.range.start - bytes.len();
        self.stream.upload_now(bytes, self.text.slice_mut(start..self.range.start))?;
        self.range.start = start;
        Ok(())
    }

    fn end_line(&mut self) -> Result<()> {
        let end = self.range.end;
        self.stream.upload_now(b"\n", self.text.slice_mut(end..=end))?;
        self.range.end += 1;
        Ok(())
    }

    fn truncate(&mut self, length: usize) {
        self.range.end = self.range.start + length;
    }
}

/// Returns the number of bytes of the buffer for text.
fn all_bytes(room: RemoteRoom) -> usize {
    (room.headroom + room.text + 1 + SLACK).next_multiple_of(TILE)
}

/// Returns the number of line ends for which there is room: a line of two bytes each.
fn line_room(room: RemoteRoom) -> usize {
    all_bytes(room) / 2
}
