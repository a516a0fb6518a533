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
    // The minimum size of a block: the header, the shortest deflate data, the CRC and the length.
    if size < 28 || text > MAX_BLOCK {
        return Err(Error::Corrupt("impossible block size".to_owned()));
    }
    Ok(Block { offset, size, text })
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
