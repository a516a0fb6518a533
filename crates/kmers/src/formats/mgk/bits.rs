//! Bit strings, with the least significant bit of each byte first. Whole words are stored and loaded at any
//! byte, so that there are no branches on the number of bits.

use merganser_seq::kmer::Kmer as _;

/// The largest number of bits that are read or written at a time: a word less an incomplete byte.
pub(crate) const MAX: u32 = 56;

/// Appends bits to bytes.
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// The position of the next whole byte.
    at: usize,
    pending: u64,
    /// The number of bits in `pending`, less than 8.
    bits: u32,
}

impl<'a> BitWriter<'a> {
    /// Creates a writer that appends up to `most` bits to `out`.
    pub(crate) fn new(out: &'a mut Vec<u8>, most: usize) -> BitWriter<'a> {
        let at = out.len();
        // Whole words are stored, so the last one extends beyond the end.
        out.resize(at + most / 8 + 16, 0);
        BitWriter { out, at, pending: 0, bits: 0 }
    }

    /// Appends the low `bits` bits (at most [`MAX`]) of `value`, whose other bits must be 0.
    ///
    /// # Panics
    /// If the bits exceed the `most` bits of [`BitWriter::new`].
    #[inline(always)]
    pub(crate) fn put(&mut self, value: u64, bits: u32) {
        self.pending |= value << self.bits;
        self.out[self.at..self.at + 8].copy_from_slice(&self.pending.to_le_bytes());
        let bits = self.bits + bits;
        self.at += (bits / 8) as usize;
        // At most 63 bits are pending, of which at most 56 are complete bytes.
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

    /// Fills the last byte with zeros.
    pub(crate) fn finish(self) {
        self.out.truncate(self.at + usize::from(self.bits > 0));
    }
}

/// Reads the output of a [`BitWriter`]. Its only state is a position, which is known as soon as the bits of the
/// previous number are, so that two readers can be interleaved almost without stalls. Bits beyond the end have
/// arbitrary values; the caller compares [`BitReader::at`] with the length.
#[derive(Clone, Copy)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The position of the next bit.
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Creates a reader of bytes that extend 8 bytes or more beyond the bits; the last 7 bytes read as zeros.
    pub(crate) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// Returns the number of bits that were read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the bits from position `at` on, of which [`MAX`] + 1 are valid.
    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        let byte = at / 8;
        self.bytes.get(byte..byte + 8).map_or(0, u64::load) >> (at % 8)
    }

    /// Returns the `bits` bits (at most [`MAX`]) at a distance of `further` bits, without moving the position.
    #[inline(always)]
    pub(crate) fn look(&self, further: usize, bits: u32) -> u64 {
        self.word(self.at + further) & ((1u64 << bits) - 1)
    }

    #[inline(always)]
    pub(crate) fn pass(&mut self, bits: usize) {
        self.at += bits;
    }

    /// Reads the next `bits` bits (at most [`MAX`]).
    #[inline(always)]
    pub(crate) fn get(&mut self, bits: u32) -> u64 {
        let value = self.look(0, bits);
        self.at += bits as usize;
        value
    }

    /// Reads a unary number (zeros before a one) and the `bits` bits after it, or returns `None` if they do not
    /// fit into one word.
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

    /// Reads a unary number: the zeros before a one; at most the number of bits that are left.
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
