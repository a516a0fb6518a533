//! Writes bits, least significant bit of each byte first.

/// The number of bytes of free space that must follow the output, because words are written whole.
pub(super) const SLACK: usize = 8;

/// A writer of bits to a buffer, which must be large enough.
pub(super) struct BitWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    word: u64,
    /// The number of used bits of the word; below 8 after a flush.
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(out: &'a mut [u8]) -> BitWriter<'a> {
        BitWriter { out, at: 0, word: 0, count: 0 }
    }

    /// Appends the `count` low bits of `bits`; all higher bits must be 0. At most 56 bits may be added between two
    /// flushes.
    #[inline(always)]
    pub(super) fn put(&mut self, bits: u32, count: u32) {
        self.word |= u64::from(bits) << self.count;
        self.count += count;
    }

    /// Writes the whole bytes.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        self.out[self.at..self.at + 8].copy_from_slice(&self.word.to_le_bytes());
        self.at += (self.count / 8) as usize;
        self.word >>= self.count & !7;
        self.count &= 7;
    }

    /// Returns the number of written bytes; the last byte is padded with zero bits.
    pub(super) fn finish(mut self) -> usize {
        self.flush();
        self.at + usize::from(self.count > 0)
    }
}
