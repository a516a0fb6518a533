//! Writes BGZF: gzip in blocks that can be inflated in parallel (SAM specification, section 4.1).

use crate::fast_deflate::FastDeflate;
use libdeflater::{CompressionLvl, Compressor};

/// The header of a block without its size: no time, no name, unknown operating system.
const HEADER: [u8; 16] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0];

/// A compressor that writes text as BGZF blocks of 65,280 bytes. The bytes depend only on the text, the level and the
/// version of libdeflate, not on the pieces in which the text is passed.
pub struct BgzfBlocks(Deflate);

enum Deflate {
    Fast(FastDeflate),
    Libdeflate(Compressor),
}

impl std::fmt::Debug for BgzfBlocks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("BgzfBlocks")
    }
}

impl BgzfBlocks {
    /// The number of bytes of text in a block, as in bgzip: even incompressible text stays below 64 KiB.
    pub const TEXT: usize = 0xff00;
    /// The end-of-file block: an empty block.
    pub const END: [u8; 28] = [
        0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0, 0x1b, 0, 3, 0, 0, 0, 0, 0,
        0, 0, 0, 0,
    ];

    /// Returns a compressor of the given level, 0 (stores) to 12; higher levels are treated as 12. Level 1 is made
    /// for text that is written while it is computed. The other levels are those of libdeflate.
    pub fn new(level: u8) -> BgzfBlocks {
        BgzfBlocks(match level {
            1 => Deflate::Fast(FastDeflate::new()),
            _ => {
                let level = CompressionLvl::new(i32::from(level.min(12))).unwrap_or_default();
                Deflate::Libdeflate(Compressor::new(level))
            }
        })
    }

    /// Appends `text` to `out` as blocks: only full blocks or, if `all`, the remainder as well. Returns the number of
    /// bytes of text that were written.
    pub fn compress(&mut self, text: &[u8], all: bool, out: &mut Vec<u8>) -> usize {
        let end = if all { text.len() } else { text.len() / Self::TEXT * Self::TEXT };
        text[..end].chunks(Self::TEXT).for_each(|block| self.block(block, out));
        end
    }

    /// Returns the compressed size in bytes of the first block in `blocks`.
    pub fn size(blocks: &[u8]) -> usize {
        usize::from(u16::from_le_bytes([blocks[16], blocks[17]])) + 1
    }

    fn block(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let at = out.len();
        out.extend_from_slice(&HEADER);
        out.extend_from_slice(&[0; 2]);
        match &mut self.0 {
            Deflate::Fast(fast) => fast.deflate(text, out),
            Deflate::Libdeflate(compressor) => {
                let data = out.len();
                out.resize(data + compressor.deflate_compress_bound(text.len()), 0);
                // The bound is large enough for any text, so this cannot fail.
                let len = compressor.deflate_compress(text, &mut out[data..]).unwrap_or_default();
                out.truncate(data + len);
            }
        }
        let size = (out.len() + 8 - at - 1) as u16;
        out[at + 16..at + 18].copy_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&crc32fast::hash(text).to_le_bytes());
        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bgzf::{Header, MAX_BLOCK, header};
    use std::io::Read;

    /// Blocks of every level are gzip members with the right size in their header, even for incompressible text.
    #[test]
    fn blocks_come_back() {
        let noise: Vec<u8> = (0u64..200_000)
            .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51) as u8)
            .collect();
        let plain = b"ACGTTGCA\tIIII\n".repeat(9000);
        for (level, text) in (0..=12).flat_map(|level| [(level, &noise), (level, &plain)]) {
            let mut out = Vec::new();
            let mut blocks = BgzfBlocks::new(level);
            let whole = blocks.compress(text, false, &mut out);
            assert_eq!(whole, text.len() / BgzfBlocks::TEXT * BgzfBlocks::TEXT);
            blocks.compress(&text[whole..], true, &mut out);
            let mut rest = &out[..];
            while let Header::Block { size } = header(rest) {
                assert!(size <= MAX_BLOCK, "level {level}: {size}");
                rest = &rest[size..];
            }
            assert!(rest.is_empty(), "level {level}");
            out.extend_from_slice(&BgzfBlocks::END);
            let mut found = Vec::new();
            flate2::read::MultiGzDecoder::new(&out[..]).read_to_end(&mut found).unwrap();
            assert!(found == *text, "level {level}");
        }
    }
}
