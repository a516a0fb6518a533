//! Writing bits, the lowest of each byte first.

/// Bytes behind what is written that must be there: words are written whole.
pub(super) const SLACK: usize = 8;

/// Writes into a buffer that is large enough.
pub(super) struct BitWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    word: u64,
    /// Bits of the word that are taken, below 8 after a flush.
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(out: &'a mut [u8]) -> BitWriter<'a> {
        BitWriter { out, at: 0, word: 0, count: 0 }
    }

    /// Adds the `count` low bits of `bits`, above which there are none; 56 from one flush to the next.
    #[inline(always)]
    pub(super) fn put(&mut self, bits: u32, count: u32) {
        self.word |= u64::from(bits) << self.count;
        self.count += count;
    }

    /// Writes whole bytes out.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        self.out[self.at..self.at + 8].copy_from_slice(&self.word.to_le_bytes());
        self.at += (self.count / 8) as usize;
        self.word >>= self.count & !7;
        self.count &= 7;
    }

    /// How many bytes were written, the last one filled up with zeros.
    pub(super) fn finish(mut self) -> usize {
        self.flush();
        self.at + usize::from(self.count > 0)
    }
}
