//! The functions that `cpp/*.cpp` exports. They are pure: results depend only on the arguments.

unsafe extern "C" {
    pub(crate) fn mgpu_host_filter_kernels() -> u32;
    pub(crate) fn mgpu_host_filter_decide(
        number: u32,
        words: *const u64,
        read_at: u32,
        read_len: u32,
        segment_at: u64,
        segment_len: u32,
        reference: *const u64,
        reference_len: u64,
        e: u32,
        others_match: bool,
        global: bool,
    ) -> u32;
}
