//! What `cpp/*.cpp` exports. Pure functions: a result depends on the arguments alone.

unsafe extern "C" {
    pub(crate) fn mgpu_host_letter(letter: u8) -> u32;
    pub(crate) fn mgpu_host_norm(rule: u32, pmer: u32, p: i32, canonical: bool) -> u32;
}

macro_rules! declare {
    ($($K:ty: $mask:ident, $push:ident, $push_complement:ident, $complement:ident, $canonical:ident;)*) => {
        unsafe extern "C" {
            $(
                pub(crate) fn $mask(k: i32, out: *mut $K);
                pub(crate) fn $push(kmer: *const $K, code: u32, k: i32, out: *mut $K);
                pub(crate) fn $push_complement(kmer: *const $K, code: u32, k: i32, out: *mut $K);
                pub(crate) fn $complement(kmer: *const $K, k: i32, out: *mut $K);
                pub(crate) fn $canonical(kmer: *const $K, k: i32, out: *mut $K);
            )*
        }
    };
}

declare! {
    u32: mgpu_host_mask_u32, mgpu_host_push_u32, mgpu_host_push_complement_u32,
        mgpu_host_reverse_complement_u32, mgpu_host_canonical_u32;
    u64: mgpu_host_mask_u64, mgpu_host_push_u64, mgpu_host_push_complement_u64,
        mgpu_host_reverse_complement_u64, mgpu_host_canonical_u64;
    u128: mgpu_host_mask_u128, mgpu_host_push_u128, mgpu_host_push_complement_u128,
        mgpu_host_reverse_complement_u128, mgpu_host_canonical_u128;
}
