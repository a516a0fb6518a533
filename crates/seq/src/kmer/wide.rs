//! k-mers of up to 128 bases.

use super::Kmer;

/// A 256-bit integer. The high half is the first field, so that the derived order is that of the integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wide {
    high: u128,
    low: u128,
}

impl Kmer for Wide {
    const MAX_K: usize = 128;
    const BYTES: usize = 32;

    fn mask(k: usize) -> Self {
        Wide { high: u128::mask(k.saturating_sub(64)), low: u128::mask(k.min(64)) }
    }
    #[inline(always)]
    fn push(self, code: u8, mask: Self) -> Self {
        Wide { high: self.high << 2 | self.low >> 126, low: self.low << 2 | u128::from(code) }
            .and(mask)
    }
    #[inline(always)]
    fn push_complement(self, code: u8, k: usize) -> Self {
        self.shr(2).or(Wide { high: 0, low: u128::from(3 - code) }.shl(2 * (k as u32 - 1)))
    }
    #[inline(always)]
    fn hash(self) -> u64 {
        (self.low ^ u128::from(self.high.hash())).hash()
    }
    #[inline(always)]
    fn reverse_complement(self, k: usize) -> Self {
        let (high, low) = (self.low.reverse_complement(64), self.high.reverse_complement(64));
        Wide { high, low }.shr(256 - 2 * k as u32)
    }
    #[inline(always)]
    fn from_packed(bytes: &[u8], k: usize) -> Self {
        let (high, low) = (u128::from_packed(bytes, 64), u128::from_packed(&bytes[16..], 64));
        Wide { high, low }.shr(256 - 2 * k as u32)
    }
    #[inline(always)]
    fn shr(self, bits: u32) -> Self {
        if bits < 128 {
            Wide { high: self.high >> bits, low: self.low >> bits | self.high.shl(128 - bits) }
        } else {
            Wide { high: 0, low: self.high.shr(bits - 128) }
        }
    }
    #[inline(always)]
    fn shl(self, bits: u32) -> Self {
        if bits < 128 {
            Wide { high: self.high << bits | self.low.shr(128 - bits), low: self.low << bits }
        } else {
            Wide { high: self.low.shl(bits - 128), low: 0 }
        }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Wide { high: self.high | other.high, low: self.low | other.low }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Wide { high: self.high & other.high, low: self.low & other.low }
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Wide { high: self.high.wrapping_sub(other.high).wrapping_sub(u128::from(borrow)), low }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Wide { high: self.high.wrapping_add(other.high).wrapping_add(u128::from(carry)), low }
    }
    #[inline(always)]
    fn low(self) -> u64 {
        self.low as u64
    }
    #[inline(always)]
    fn from_low(value: u64) -> Self {
        Wide { high: 0, low: u128::from(value) }
    }
    #[inline(always)]
    fn bit_len(self) -> u32 {
        if self.high != 0 { 128 + self.high.bit_len() } else { self.low.bit_len() }
    }
    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        self.low.store(bytes);
        self.high.store(&mut bytes[16..]);
    }
    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        Wide { low: u128::load(bytes), high: u128::load(&bytes[16..]) }
    }
}
