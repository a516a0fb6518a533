//! Reads the bits of a deflate stream, least significant bit of each byte first.

/// A reader of bits. After the end of the bytes it returns zeros.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// The next byte to load.
    next: usize,
    /// The next bits: at least `count` are valid.
    buffer: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    /// Returns a reader that starts at bit `at` of `bytes`.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        let mut bits = Self { bytes, next: at / 8, buffer: 0, count: 0 };
        bits.refill();
        bits.skip((at % 8) as u32);
        bits
    }

    /// Loads bits. Afterwards at least 56 bits are available.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        let word = match self.bytes.get(self.next..).and_then(|rest| rest.first_chunk()) {
            Some(&word) => u64::from_le_bytes(word),
            None => self.last_word(),
        };
        // Bits above the count may already be loaded; they are equal.
        self.buffer |= word << self.count;
        self.next += ((63 - self.count) >> 3) as usize;
        self.count |= 56;
    }

    #[cold]
    fn last_word(&self) -> u64 {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
    }

    /// Returns the next `count` bits, at most 56, without consuming them. [`refill`](Self::refill) must have loaded
    /// them.
    #[inline(always)]
    pub(super) fn peek(&self, count: u32) -> usize {
        (self.buffer & ((1 << count) - 1)) as usize
    }

    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        self.buffer >>= count;
        self.count -= count;
    }

    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> usize {
        let bits = self.peek(count);
        self.skip(count);
        bits
    }

    /// Returns the index of the next byte to load. Loaded bits may not all be consumed.
    #[inline(always)]
    pub(super) fn loaded(&self) -> usize {
        self.next
    }

    /// Returns the number of consumed bits, from the start of the bytes.
    #[inline(always)]
    pub(super) fn position(&self) -> usize {
        self.next * 8 - self.count as usize
    }
}
