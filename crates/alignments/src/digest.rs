//! A digest of compressed records that detects lost, added and changed ones.

use merganser_io::BgzfBlocks;

/// The number of bytes at the end of a block with the checksum and the length of its text.
const SUM: usize = 8;

/// The CRC-32 of the checksums and text lengths of BGZF blocks. Each block contains both, so a writer computes no
/// checksum again.
#[derive(Clone, Debug, Default)]
pub struct BlockDigest(crc32fast::Hasher);

impl BlockDigest {
    /// Adds whole blocks.
    pub fn add_blocks(&mut self, mut blocks: &[u8]) {
        while !blocks.is_empty() {
            let (block, rest) = blocks.split_at(BgzfBlocks::size(blocks));
            self.0.update(&block[block.len() - SUM..]);
            blocks = rest;
        }
    }

    /// Adds the block that would contain `text`.
    pub fn add_text(&mut self, text: &[u8]) {
        self.0.update(&crc32fast::hash(text).to_le_bytes());
        self.0.update(&(text.len() as u32).to_le_bytes());
    }

    /// Returns the digest of all added blocks.
    pub fn value(&self) -> u32 {
        self.0.clone().finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_their_texts_are_the_same() {
        let text = b"ACGTTGCA".repeat(20_000);
        let (mut written, mut read, mut bytes) =
            (BlockDigest::default(), BlockDigest::default(), Vec::new());
        BgzfBlocks::new(1).compress(&text, true, &mut bytes);
        written.add_blocks(&bytes);
        text.chunks(BgzfBlocks::TEXT).for_each(|block| read.add_text(block));
        assert_eq!(written.value(), read.value());
        read.add_text(b"A");
        assert_ne!(written.value(), read.value());
    }
}
