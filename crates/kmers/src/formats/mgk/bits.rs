//! Bit strings, least significant bit of the first byte first. Whole words are stored and loaded at
//! any byte, so that nothing depends on how many bits come.

use merganser_seq::kmer::Kmer as _;

/// The most bits that are put or got at once: what a word holds besides an incomplete byte.
pub(crate) const MAX: u32 = 56;

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

    /// Appends the low `bits` bits (at most [`MAX`]) of `value`, whose other bits are 0.
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
        while zeros >= u64::from(MAX) {
            self.put(0, MAX);
            zeros -= u64::from(MAX);
        }
        self.put(1 << zeros, zeros as u32 + 1);
    }

    /// Fills the last byte up with zeros.
    pub(crate) fn finish(self) {
        self.out.truncate(self.at + usize::from(self.bits > 0));
    }
}

/// Reads what a [`BitWriter`] wrote, by its place alone: the next place is known as soon as the bits
/// are, so that two readers that take turns hardly wait. What is behind the end, of the bytes it is
/// given too, it reads as anything; [`BitReader::at`] tells.
#[derive(Clone, Copy)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The bit that comes next.
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Of bytes that go on for 8 bytes or more behind the bits; what is nearer to their end is zero.
    pub(crate) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// Bits that were passed.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What follows the bit `at`: [`MAX`] bits of it and one more are right.
    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        let byte = at / 8;
        self.bytes.get(byte..byte + 8).map_or(0, u64::load) >> (at % 8)
    }

    /// The `bits` bits (at most [`MAX`]) that stand `further` bits behind the next one, which stays.
    #[inline(always)]
    pub(crate) fn look(&self, further: usize, bits: u32) -> u64 {
        self.word(self.at + further) & ((1u64 << bits) - 1)
    }

    #[inline(always)]
    pub(crate) fn pass(&mut self, bits: usize) {
        self.at += bits;
    }

    /// The next `bits` bits (at most [`MAX`]).
    #[inline(always)]
    pub(crate) fn get(&mut self, bits: u32) -> u64 {
        let value = self.look(0, bits);
        self.at += bits as usize;
        value
    }

    /// The number of zeros before the next one, which is passed, and the `bits` bits behind it, if all
    /// of them are known at once.
    #[inline(always)]
    pub(crate) fn get_rice(&mut self, bits: u32) -> Option<(u64, u64)> {
        let word = self.word(self.at);
        let zeros = word.trailing_zeros();
        if zeros + bits >= MAX {
            return None;
        }
        self.at += (zeros + bits) as usize + 1;
        Some((u64::from(zeros), word >> zeros >> 1 & ((1u64 << bits) - 1)))
    }

    /// The number of zeros before the next one, which is passed; at most as many as there are bits.
    pub(crate) fn get_unary(&mut self) -> u64 {
        let start = self.at;
        while self.at < 8 * self.bytes.len() {
            let here = self.word(self.at).trailing_zeros();
            if here < MAX {
                self.at += here as usize + 1;
                return (self.at - 1 - start) as u64;
            }
            self.at += MAX as usize;
        }
        (self.at - start) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_come_back(values in proptest::collection::vec((any::<u64>(), 0u32..=MAX, 0u64..200), 0..100)) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes, values.len() * 256);
            for &(value, bits, unary) in &values {
                writer.put(value & ((1 << bits) - 1), bits);
                writer.put_unary(unary);
            }
            writer.finish();
            let end = bytes.len();
            bytes.extend([0xa5; 8]);
            let mut reader = BitReader::new(&bytes);
            for (number, &(value, bits, unary)) in values.iter().enumerate() {
                prop_assert_eq!(reader.look(0, bits), value & ((1 << bits) - 1));
                prop_assert_eq!(reader.get(bits), value & ((1 << bits) - 1));
                let mut other = reader;
                prop_assert_eq!(reader.get_unary(), unary);
                if let Some(&(value, bits, _)) = values.get(number + 1)
                    && let Some(rice) = other.get_rice(bits)
                {
                    prop_assert_eq!(rice, (unary, value & ((1 << bits) - 1)));
                    prop_assert_eq!(other.at(), reader.at() + bits as usize);
                }
            }
            prop_assert_eq!(reader.at().div_ceil(8), end);
        }

        #[test]
        fn any_bits_end(bytes in proptest::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..40)) {
            let mut reader = BitReader::new(&bytes);
            while reader.at() < 8 * bytes.len() {
                reader.get_unary();
                reader.get_rice(9);
            }
            prop_assert_eq!(reader.get(MAX), 0);
        }
    }
}
