//! Hash functions for 64-bit words.

/// Applies the 64-bit finalizer of MurmurHash3 (Appleby), a bijection: x = ((x >> 33) ^ x) · 0xff51afd7ed558ccd, then
/// the same step with 0xc4ceb9fe1a85ec53, then (x >> 33) ^ x.
#[inline(always)]
pub fn murmur_finalizer(x: u64) -> u64 {
    let x = ((x >> 33) ^ x).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let x = ((x >> 33) ^ x).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (x >> 33) ^ x
}
