//! Hashes of words of 64 bits.

/// The 64-bit finaliser of MurmurHash3 (Appleby), which is one to one: x = ((x >> 33) ^ x) · 0xff51afd7ed558ccd, then
/// · 0xc4ceb9fe1a85ec53 in the same way, then (x >> 33) ^ x.
#[inline(always)]
pub fn murmur_finalizer(x: u64) -> u64 {
    let x = ((x >> 33) ^ x).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let x = ((x >> 33) ^ x).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (x >> 33) ^ x
}
