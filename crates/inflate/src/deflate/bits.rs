//! Bits of a deflate stream, the lowest of each byte first.

/// Reads bits. Behind the end of the bytes stand zeros without end.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// The next byte to load.
    next: usize,
    /// The next bits, at least `count` of them.
    buffer: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    /// From bit `at` of `bytes`.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        let mut bits = Self { bytes, next: at / 8, buffer: 0, count: 0 };
        bits.refill();
        bits.skip((at % 8) as u32);
        bits
    }

    /// At least 56 bits can be taken after this.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        let word = match self.bytes.get(self.next..).and_then(|rest| rest.first_chunk()) {
            Some(&word) => u64::from_le_bytes(word),
            None => self.last_word(),
        };
        // Bits above the count may be there already: they are the same ones.
        self.buffer |= word << self.count;
        self.next += ((63 - self.count) >> 3) as usize;
        self.count |= 56;
    }

    #[cold]
    fn last_word(&self) -> u64 {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
    }

    /// The next `count` bits, at most 57 - 1, of those that [`refill`](Self::refill) got.
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

    /// The next byte to load: what was loaded is not used up yet.
    #[inline(always)]
    pub(super) fn loaded(&self) -> usize {
        self.next
    }

    /// Bits used up, from the beginning of the bytes.
    #[inline(always)]
    pub(super) fn position(&self) -> usize {
        self.next * 8 - self.count as usize
    }
}
