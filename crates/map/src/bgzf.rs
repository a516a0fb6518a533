//! BGZF: gzip in blocks that can be inflated in parallel (SAM specification, section 4.1).

use libdeflater::{CompressionLvl, Compressor};

/// Text in a block: as bgzip has it, so that even what does not compress stays below 64 KiB.
pub(crate) const TEXT: usize = 0xff00;
/// The header of a block without its size: no time, no name, unknown system.
const HEADER: [u8; 16] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0];
/// The empty block that ends a file.
pub(crate) const END: [u8; 28] = [
    0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0, 0x1b, 0, 3, 0, 0, 0, 0, 0, 0, 0,
    0, 0,
];

/// A thread's compressor.
pub(crate) struct Blocks(Compressor);

impl Blocks {
    /// Of a level from 0 to 12.
    pub(crate) fn new(level: u8) -> Blocks {
        Blocks(Compressor::new(CompressionLvl::new(i32::from(level)).unwrap_or_default()))
    }

    /// Appends `text` as blocks to `out`: whole ones alone, or with `all` what remains too. Returns
    /// how much of it that was.
    pub(crate) fn compress(&mut self, text: &[u8], all: bool, out: &mut Vec<u8>) -> usize {
        let end = if all { text.len() } else { text.len() / TEXT * TEXT };
        text[..end].chunks(TEXT).for_each(|block| self.block(block, out));
        end
    }

    fn block(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let at = out.len();
        let data = at + HEADER.len() + 2;
        out.resize(data + self.0.deflate_compress_bound(text.len()) + 8, 0);
        // The bound is large enough for any text.
        let len = self.0.deflate_compress(text, &mut out[data..]).unwrap_or_default();
        out.truncate(data + len);
        out[at..at + 16].copy_from_slice(&HEADER);
        let size = (data + len + 8 - at - 1) as u16;
        out[at + 16..at + 18].copy_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&crc32fast::hash(text).to_le_bytes());
        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    }
}
