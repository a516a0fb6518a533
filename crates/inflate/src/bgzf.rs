//! BGZF: gzip whose members have at most 64 KiB of text and contain their compressed size. Blocks can therefore be
//! found without inflating them, and inflated in parallel (SAM specification, section 4.1).

use std::io::{self, Read};
use std::ops::Range;

use libdeflater::Decompressor;

use crate::{Error, Text};

/// The result of [`header`].
#[derive(Debug, PartialEq, Eq)]
pub enum Header {
    /// A block of `size` bytes, including its header.
    Block {
        /// The size in bytes.
        size: usize,
    },
    /// The bytes end before this can be decided.
    Short,
    /// Not a BGZF block: another gzip member, padding, or damage.
    Other,
}

/// The maximum size of a block in bytes, compressed or not.
pub const MAX_BLOCK: usize = 1 << 16;

/// The minimum size of a block in bytes: the header, the shortest deflate data, the CRC and the length.
const MIN_BLOCK: usize = 28;

/// Parses the block header at the start of `bytes`.
pub fn header(bytes: &[u8]) -> Header {
    const MAGIC: [u8; 4] = [0x1f, 0x8b, 8, 4];
    let known = bytes.len().min(4);
    // Other flags (names, comments) would move the compressed data. No BGZF writer sets them.
    if bytes[..known] != MAGIC[..known] {
        return Header::Other;
    }
    let Some(extra_length) = u16_at(bytes, 10) else { return Header::Short };
    let Some(mut extra) = bytes.get(12..12 + usize::from(extra_length)) else {
        return Header::Short;
    };
    // A subfield has two letters, its length and its data.
    while let Some(length) = u16_at(extra, 2) {
        if extra.starts_with(b"BC") && length == 2 {
            return match u16_at(extra, 4) {
                Some(size) => Header::Block { size: usize::from(size) + 1 },
                None => Header::Other,
            };
        }
        extra = extra.get(4 + usize::from(length)..).unwrap_or_default();
    }
    Header::Other
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_le_bytes([bytes[0], bytes[1]]))
}

/// The position and size of a compressed block in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The offset in the buffer, in bytes.
    pub offset: usize,
    /// The compressed size in bytes.
    pub size: usize,
    /// The size of the text in bytes.
    pub text: usize,
}

/// Returns the range of a block's DEFLATE data in `bytes`: between its header and its CRC-32; `None` if the header is
/// longer than the block.
pub fn data_range(bytes: &[u8], block: &Block) -> Option<Range<usize>> {
    let start = block.offset + 12 + usize::from(u16_at(bytes, block.offset + 10)?);
    let end = (block.offset + block.size).checked_sub(8)?;
    (start <= end).then_some(start..end)
}

/// The reason why a run of blocks ends.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The run has enough text. More blocks may follow.
    More,
    /// The input has ended.
    Input,
    /// The next bytes are not a BGZF block.
    Other,
}

/// A reader of runs of whole blocks, which stay compressed.
pub struct BlockReader<R> {
    input: R,
    /// Bytes that were read but not returned yet.
    pending: Vec<u8>,
    /// Whether the last returned block is empty, like the end-of-file block.
    at_end_block: bool,
}

/// The number of bytes that are read at a time: small, as the bytes after the last whole block are copied to the next
/// run.
const STEP: usize = 256 * 1024;

impl<R: Read> BlockReader<R> {
    /// Returns a reader of the blocks of `input`.
    pub fn new(input: R) -> Self {
        Self { input, pending: Vec::new(), at_end_block: false }
    }

    /// Returns whether the last returned block is empty. At the end of the input, this tells whether the file has its
    /// end-of-file block.
    pub fn is_at_end_block(&self) -> bool {
        self.at_end_block
    }

    /// Reads whole blocks into `raw` until they have at least `text` bytes of text, and stores their positions in
    /// `blocks`.
    ///
    /// # Errors
    /// If reading fails, if the input ends within a block ([`Error::Truncated`]), or if the size of a block is
    /// impossible.
    pub fn fetch(
        &mut self,
        text: usize,
        raw: &mut Vec<u8>,
        blocks: &mut Vec<Block>,
    ) -> Result<End, Error> {
        raw.clear();
        blocks.clear();
        raw.append(&mut self.pending);
        let (mut offset, mut found) = (0, 0);
        let end = loop {
            match header(&raw[offset..]) {
                Header::Block { size } if raw.len() - offset >= size => {
                    let block = checked(raw, offset, size)?;
                    blocks.push(block);
                    offset += size;
                    found += block.text;
                    // The second condition limits the size of a run of empty blocks.
                    if found >= text || offset >= text.max(STEP) {
                        break End::More;
                    }
                }
                Header::Block { .. } | Header::Short => {
                    if self.fill(raw)? == 0 {
                        if raw.len() > offset {
                            return Err(Error::Truncated);
                        }
                        break End::Input;
                    }
                }
                Header::Other => break End::Other,
            }
        };
        self.pending.extend_from_slice(&raw[offset..]);
        raw.truncate(offset);
        if let Some(last) = blocks.last() {
            self.at_end_block = last.text == 0;
        }
        Ok(end)
    }

    fn fill(&mut self, raw: &mut Vec<u8>) -> io::Result<usize> {
        (&mut self.input).take(STEP as u64).read_to_end(raw)
    }

    /// Returns the rest of the input, to read the data after [`End::Other`] in another way.
    pub fn into_rest(self) -> io::Chain<io::Cursor<Vec<u8>>, R> {
        io::Cursor::new(self.pending).chain(self.input)
    }
}

/// A walk over the blocks of a file that can be read at any offset. It reads only the headers of blocks and the sizes of
/// their texts, so that the blocks themselves can be read in parallel.
#[derive(Clone, Debug)]
pub struct BlockWalk {
    offset: u64,
    length: u64,
    at_end_block: bool,
    /// Bytes of the file, from `ahead_from` on: the end of the last block and the header of the next one.
    ahead: Vec<u8>,
    ahead_from: u64,
}

/// The number of bytes that are read around the start of a block: enough for any usual header.
const AHEAD: u64 = 64;
/// The size of a header without its extra field, and the maximum size of this field.
const MAX_HEADER: u64 = 12 + 0xffff;

impl BlockWalk {
    /// Returns a walk over a file of `length` bytes, from its first byte on.
    pub fn new(length: u64) -> BlockWalk {
        BlockWalk { offset: 0, length, at_end_block: false, ahead: Vec::new(), ahead_from: 0 }
    }

    /// Returns the offset of the next block in the file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of bytes from the next block to the end of the file.
    pub fn bytes_left(&self) -> u64 {
        self.length - self.offset
    }

    /// Returns whether the last block that was found is empty, like the end-of-file block.
    pub fn is_at_end_block(&self) -> bool {
        self.at_end_block
    }

    /// Finds the next blocks, until `is_full` returns true for the bytes of text, the bytes of blocks, and the number
    /// of blocks found. Their positions in `blocks` begin at 0. `read_at` reads bytes at an offset of the file.
    ///
    /// # Errors
    /// If reading fails, if the file ends within a block ([`Error::Truncated`]), or if the size of a block is
    /// impossible.
    pub fn next(
        &mut self,
        mut read_at: impl FnMut(&mut [u8], u64) -> io::Result<()>,
        is_full: impl Fn(usize, usize, usize) -> bool,
        blocks: &mut Vec<Block>,
    ) -> Result<End, Error> {
        blocks.clear();
        let (start, mut found) = (self.offset, 0);
        while self.offset < self.length {
            let mut head = header(self.ahead(AHEAD, &mut read_at)?);
            if head == Header::Short {
                head = header(self.ahead(MAX_HEADER, &mut read_at)?);
            }
            let size = match head {
                Header::Block { size } if size as u64 <= self.length - self.offset => size,
                Header::Block { .. } | Header::Short => return Err(Error::Truncated),
                Header::Other => return Ok(End::Other),
            };
            if size < MIN_BLOCK {
                return Err(impossible_size());
            }
            let offset = (self.offset - start) as usize;
            self.offset += size as u64;
            self.read_ahead(self.offset - 4, AHEAD, &mut read_at)?;
            let text = self.ahead.first_chunk().map_or(u32::MAX, |&size| u32::from_le_bytes(size));
            let block = Block { offset, size, text: text as usize };
            if block.text > MAX_BLOCK {
                return Err(impossible_size());
            }
            blocks.push(block);
            found += block.text;
            self.at_end_block = block.text == 0;
            if is_full(found, offset + size, blocks.len()) && self.offset < self.length {
                return Ok(End::More);
            }
        }
        Ok(End::Input)
    }

    /// Returns up to `wanted` bytes at the next block, fewer where the file ends.
    fn ahead(
        &mut self,
        wanted: u64,
        read_at: &mut impl FnMut(&mut [u8], u64) -> io::Result<()>,
    ) -> io::Result<&[u8]> {
        let has = self.ahead_from + self.ahead.len() as u64;
        if self.ahead_from > self.offset
            || (has < self.length && has < self.offset + wanted.min(AHEAD - 4))
            || wanted > AHEAD
        {
            self.read_ahead(self.offset, wanted, read_at)?;
        }
        Ok(&self.ahead[(self.offset - self.ahead_from) as usize..])
    }

    fn read_ahead(
        &mut self,
        from: u64,
        wanted: u64,
        read_at: &mut impl FnMut(&mut [u8], u64) -> io::Result<()>,
    ) -> io::Result<()> {
        self.ahead.resize(wanted.min(self.length - from) as usize, 0);
        self.ahead_from = from;
        read_at(&mut self.ahead, from)
    }
}

/// Returns whether a BGZF file that ends with these bytes lacks an empty last block: its last four bytes are the size
/// of the last block's text. Another file, or one cut within a block, may end with zeros as well.
pub fn ends_early(last: [u8; 4]) -> bool {
    last != [0; 4]
}

/// Returns the block of `size` bytes at `offset`, if its sizes are possible.
fn checked(raw: &[u8], offset: usize, size: usize) -> Result<Block, Error> {
    let text = raw[offset..offset + size]
        .last_chunk()
        .map_or(u32::MAX, |&length| u32::from_le_bytes(length)) as usize;
    if size < MIN_BLOCK || text > MAX_BLOCK {
        return Err(impossible_size());
    }
    Ok(Block { offset, size, text })
}

fn impossible_size() -> Error {
    Error::Corrupt("impossible block size".to_owned())
}

/// A decompressor of blocks from [`BlockReader::fetch`].
#[derive(Default)]
pub struct Inflater(Option<Decompressor>);

impl std::fmt::Debug for Inflater {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Inflater")
    }
}

impl Inflater {
    /// Inflates the blocks in [`Text::raw`] into the text, with `headroom` bytes before it. Calls `each` with the
    /// text of each block, in the order of the blocks, while it is still in the processor's cache.
    ///
    /// # Errors
    /// If the data of a block are invalid, or if its checksum or length is wrong.
    pub fn inflate(
        &mut self,
        text: &mut Text,
        blocks: &[Block],
        headroom: usize,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), Error> {
        let total = blocks.iter().map(|block| block.text).sum();
        text.room(headroom, total);
        // libdeflate checks the checksum and the length of each block.
        let inflater = self.0.get_or_insert_with(Decompressor::new);
        let mut room = &mut text.buffer[text.start..text.end];
        for block in blocks {
            let (text_of, rest) = room.split_at_mut(block.text);
            let raw = &text.raw[block.offset..block.offset + block.size];
            let detail = match inflater.gzip_decompress(raw, text_of) {
                Ok(written) if written == text_of.len() => {
                    each(text_of);
                    room = rest;
                    continue;
                }
                Ok(_) => "wrong block length".to_owned(),
                Err(error) => error.to_string(),
            };
            return Err(Error::Corrupt(detail));
        }
        Ok(())
    }
}
