//! BGZF: gzip whose members hold at most 64 KiB and tell their compressed size, so that they can
//! be found without inflating them, and inflated in parallel. SAM specification, section 4.1.

use std::io::{self, Read};

use libdeflater::Decompressor;

use crate::{Error, Text};

/// The beginning of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Header {
    /// A block of `size` bytes, itself included.
    Block {
        /// In bytes.
        size: usize,
    },
    /// The bytes end before that can be told.
    Short,
    /// Not a BGZF block: another gzip member, padding, or damage.
    Other,
}

/// The largest block the format knows, compressed or not.
pub const MAX_BLOCK: usize = 1 << 16;

/// Reads the header of the block that `bytes` begin with.
pub fn header(bytes: &[u8]) -> Header {
    const MAGIC: [u8; 4] = [0x1f, 0x8b, 8, 4];
    let known = bytes.len().min(4);
    // The other flags (names, comments) would move the compressed data: no BGZF writer sets them.
    if bytes[..known] != MAGIC[..known] {
        return Header::Other;
    }
    let Some(extra_length) = u16_at(bytes, 10) else { return Header::Short };
    let Some(mut extra) = bytes.get(12..12 + usize::from(extra_length)) else {
        return Header::Short;
    };
    // Subfields: two letters, length, data.
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

/// A compressed block within the bytes that were fetched.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Where it begins.
    pub offset: usize,
    /// Its compressed size, in bytes.
    pub size: usize,
    /// The size of its text, in bytes.
    pub text: usize,
}

/// The end of a run of blocks.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// There is enough of it; more may follow.
    More,
    /// At the end of the input.
    Input,
    /// At something that is no BGZF block.
    Other,
}

/// Cuts a BGZF input into runs of whole blocks, still compressed.
pub struct BlockReader<R> {
    input: R,
    /// Bytes that were read but not handed out.
    pending: Vec<u8>,
    /// The last block that was handed out is empty, as the one at the end of a file is.
    at_end_block: bool,
}

/// Bytes read at a time: few enough that handing the rest on to the next run costs little.
const STEP: usize = 256 * 1024;

impl<R: Read> BlockReader<R> {
    /// A reader of blocks from the beginning of `input` on.
    pub fn new(input: R) -> Self {
        Self { input, pending: Vec::new(), at_end_block: false }
    }

    /// Returns whether the last block that was handed out is an empty one: at the end of the input, whether
    /// the file is whole, as far as that can be seen.
    pub fn is_at_end_block(&self) -> bool {
        self.at_end_block
    }

    /// Puts whole blocks into `raw` until they hold at least `text` bytes of text, and says in
    /// `blocks` where they are.
    ///
    /// # Errors
    /// If the input cannot be read, ends within a block ([`Error::Truncated`]), or a block's size cannot be.
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
                    // Blocks may be empty.
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

    /// The rest of the input, for whoever can read what comes after [`End::Other`].
    pub fn into_rest(self) -> io::Chain<io::Cursor<Vec<u8>>, R> {
        io::Cursor::new(self.pending).chain(self.input)
    }
}

/// Returns whether a BGZF file that ends with these bytes does not end with an empty block: the last four are
/// the size of the last block's text. Of others it may not, too, if they are cut within a block.
pub fn ends_early(last: [u8; 4]) -> bool {
    last != [0; 4]
}

/// The block of `size` bytes at `offset`, if it can be one.
fn checked(raw: &[u8], offset: usize, size: usize) -> Result<Block, Error> {
    let text = raw[offset..offset + size]
        .last_chunk()
        .map_or(u32::MAX, |&length| u32::from_le_bytes(length)) as usize;
    // 20 header bytes, CRC and length: what a block has at the very least.
    if size < 28 || text > MAX_BLOCK {
        return Err(Error::Corrupt("impossible block size".to_owned()));
    }
    Ok(Block { offset, size, text })
}

/// Inflates blocks that [`BlockReader::fetch`] fetched.
#[derive(Default)]
pub struct Inflater(Option<Decompressor>);

impl std::fmt::Debug for Inflater {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Inflater")
    }
}

impl Inflater {
    /// Inflates the blocks in [`Text::raw`] into the text, with `headroom` bytes before it. Calls `each` with the text
    /// of each block in order, as long as the processor's cache has it.
    ///
    /// # Errors
    /// If the data of a block are not valid, or its checksum or length is wrong.
    pub fn inflate(
        &mut self,
        text: &mut Text,
        blocks: &[Block],
        headroom: usize,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), Error> {
        let total = blocks.iter().map(|block| block.text).sum();
        text.room(headroom, total);
        // libdeflate checks the sum and length of each.
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
