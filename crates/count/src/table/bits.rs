//! Bit strings, least significant bit of the first byte first. Whole words are stored and loaded at
//! any byte, so that nothing depends on how many bits come.

use merganser_seq::kmer::Kmer as _;

/// The most bits that are put or got at once: what a word holds beside an incomplete byte.
pub(crate) const MOST: u32 = 56;

/// Appends bits to bytes.
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// Where the next whole byte goes.
    at: usize,
    pending: u64,
    /// Bits of `pending`, less than 8.
    bits: u32,
}

impl<'a> BitWriter<'a> {
    /// A writer of `most` bits or less behind what `out` holds.
    pub(crate) fn new(out: &'a mut Vec<u8>, most: usize) -> BitWriter<'a> {
        let at = out.len();
        // Whole words are stored, the last one beyond the end.
        out.resize(at + most / 8 + 16, 0);
        BitWriter { out, at, pending: 0, bits: 0 }
    }

    /// Appends the low `bits` bits (at most [`MOST`]) of `value`, whose other bits are 0.
    ///
    /// # Panics
    /// If there are more than were announced.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: u64, bits: u32) {
        self.pending |= value << self.bits;
        self.out[self.at..self.at + 8].copy_from_slice(&self.pending.to_le_bytes());
        let bits = self.bits + bits;
        self.at += (bits / 8) as usize;
        // Of 63 bits at most 56 go.
        self.pending >>= bits & !7;
        self.bits = bits & 7;
    }

    /// Appends `zeros` zeros and a one.
    #[inline(always)]
    pub(crate) fn put_unary(&mut self, mut zeros: u64) {
        while zeros >= u64::from(MOST) {
            self.put(0, MOST);
            zeros -= u64::from(MOST);
        }
        self.put(1 << zeros, zeros as u32 + 1);
    }

    /// Fills the last byte up with zeros.
    pub(crate) fn finish(self) {
        self.out.truncate(self.at + usize::from(self.bits > 0));
    }
}

/// Reads what a [`BitWriter`] wrote. Behind the end it reads zeros and is then [`exhausted`].
///
/// [`exhausted`]: BitReader::exhausted
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The byte that comes next.
    at: usize,
    /// Bits that are known; those above `bits` are right, or zero.
    pending: u64,
    bits: u32,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0, pending: 0, bits: 0 }
    }

    /// Sees to it that [`MOST`] bits or more are known.
    #[inline(always)]
    fn refill(&mut self) {
        let word = match self.bytes.get(self.at..self.at + 8) {
            Some(word) => u64::load(word),
            None => self.tail(),
        };
        self.pending |= word << self.bits;
        self.at += ((63 - self.bits) / 8) as usize;
        self.bits |= 56;
    }

    #[cold]
    fn tail(&self) -> u64 {
        let mut word = [0; 8];
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        word[..rest.len()].copy_from_slice(rest);
        u64::from_le_bytes(word)
    }

    #[inline(always)]
    fn pass(&mut self, bits: u32) {
        self.pending >>= bits;
        self.bits -= bits;
    }

    /// The next `bits` bits (at most [`MOST`]).
    #[inline(always)]
    pub(crate) fn get(&mut self, bits: u32) -> u64 {
        if self.bits < bits {
            self.refill();
        }
        let value = self.pending & ((1u64 << bits) - 1);
        self.pass(bits);
        value
    }

    /// The number of zeros before the next one, which is passed over; at most as many as there
    /// are bits.
    #[inline(always)]
    pub(crate) fn get_unary(&mut self) -> u64 {
        self.refill();
        // A one beyond the known bits will be known after the next refill.
        let here = self.pending.trailing_zeros();
        if here < MOST {
            self.pass(here + 1);
            return u64::from(here);
        }
        self.long_unary()
    }

    #[cold]
    fn long_unary(&mut self) -> u64 {
        let mut zeros = 0;
        loop {
            let here = self.pending.trailing_zeros().min(self.bits);
            zeros += u64::from(here);
            if here < self.bits {
                self.pass(here + 1);
                return zeros;
            }
            (self.pending, self.bits) = (0, 0);
            if self.at > self.bytes.len() {
                return zeros;
            }
            self.refill();
        }
    }

    /// Whether more bits were asked for than there were.
    pub(crate) fn exhausted(&self) -> bool {
        8 * self.at > 8 * self.bytes.len() + self.bits as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_come_back(values in proptest::collection::vec((any::<u64>(), 0u32..=MOST, 0u64..200), 0..100)) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes, values.len() * 256);
            for &(value, bits, unary) in &values {
                writer.put(value & ((1 << bits) - 1), bits);
                writer.put_unary(unary);
            }
            writer.finish();
            let mut reader = BitReader::new(&bytes);
            for &(value, bits, unary) in &values {
                prop_assert_eq!(reader.get(bits), value & ((1 << bits) - 1));
                prop_assert_eq!(reader.get_unary(), unary);
            }
            prop_assert!(!reader.exhausted());
            reader.get(8);
            prop_assert!(reader.exhausted());
        }
    }
}
