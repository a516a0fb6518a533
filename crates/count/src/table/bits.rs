//! Bit strings, least significant bit of the first byte first.

/// Appends bits to bytes.
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    pending: u64,
    bits: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> BitWriter<'a> {
        BitWriter { out, pending: 0, bits: 0 }
    }

    /// Appends the low `bits` bits (at most 32) of `value`, whose other bits are 0.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: u64, bits: u32) {
        self.pending |= value << self.bits;
        self.bits += bits;
        if self.bits >= 32 {
            self.out.extend_from_slice(&(self.pending as u32).to_le_bytes());
            self.pending >>= 32;
            self.bits -= 32;
        }
    }

    /// Appends `zeros` zeros and a one.
    #[inline(always)]
    pub(crate) fn put_unary(&mut self, mut zeros: u64) {
        while zeros >= 31 {
            self.put(0, 31);
            zeros -= 31;
        }
        self.put(1 << zeros, zeros as u32 + 1);
    }

    /// Fills the last byte up with zeros.
    pub(crate) fn finish(self) {
        let bytes = self.bits.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.pending.to_le_bytes()[..bytes]);
    }
}

/// Reads what a [`BitWriter`] wrote. Behind the end it reads zeros and is then [`exhausted`].
///
/// [`exhausted`]: BitReader::exhausted
pub(crate) struct BitReader<'a> {
    rest: &'a [u8],
    pending: u64,
    bits: u32,
    /// Bits that were asked for behind the end.
    missing: u64,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { rest: bytes, pending: 0, bits: 0, missing: 0 }
    }

    #[inline(always)]
    fn refill(&mut self) {
        if let Some((four, rest)) = self.rest.split_first_chunk::<4>() {
            self.pending |= u64::from(u32::from_le_bytes(*four)) << self.bits;
            self.rest = rest;
        } else {
            let mut four = [0; 4];
            four[..self.rest.len()].copy_from_slice(self.rest);
            self.missing += 32 - 8 * self.rest.len() as u64;
            self.pending |= u64::from(u32::from_le_bytes(four)) << self.bits;
            self.rest = &[];
        }
        self.bits += 32;
    }

    /// The next `bits` bits (at most 32).
    #[inline(always)]
    pub(crate) fn get(&mut self, bits: u32) -> u64 {
        if self.bits < bits {
            self.refill();
        }
        let value = self.pending & ((1u64 << bits) - 1);
        self.pending >>= bits;
        self.bits -= bits;
        value
    }

    /// The number of zeros before the next one, which is passed over; at most as many as there
    /// are bits.
    #[inline(always)]
    pub(crate) fn get_unary(&mut self) -> u64 {
        let mut zeros = 0;
        while self.pending == 0 {
            zeros += u64::from(self.bits);
            self.bits = 0;
            if self.rest.is_empty() {
                self.missing += 1;
                return zeros;
            }
            self.refill();
        }
        let here = self.pending.trailing_zeros();
        self.pending >>= here;
        self.pending >>= 1;
        self.bits -= here + 1;
        zeros + u64::from(here)
    }

    /// Whether more bits were asked for than there were.
    pub(crate) fn exhausted(&self) -> bool {
        self.missing > u64::from(self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_come_back(values in proptest::collection::vec((any::<u32>(), 0u32..=32, 0u64..200), 0..100)) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            for &(value, bits, unary) in &values {
                writer.put(u64::from(value) & ((1 << bits) - 1), bits);
                writer.put_unary(unary);
            }
            writer.finish();
            let mut reader = BitReader::new(&bytes);
            for &(value, bits, unary) in &values {
                prop_assert_eq!(reader.get(bits), u64::from(value) & ((1 << bits) - 1));
                prop_assert_eq!(reader.get_unary(), unary);
            }
            prop_assert!(!reader.exhausted());
            reader.get(32);
            prop_assert!(reader.exhausted());
        }
    }
}
