// The decisions of the kernels, exported for Rust's tests.
#include "decide.cuh"

using namespace mgpu::filter;

extern "C" {

uint32_t mgpu_host_filter_kernels() { return static_cast<uint32_t>(kernel::count); }

/// Decides one pair by the kernel with this number. `segment_at` has the flags of an entry.
uint32_t mgpu_host_filter_decide(uint32_t number, const uint64_t* words, uint32_t read_at,
                                 uint32_t read_len, uint64_t segment_at, uint32_t segment_len,
                                 const uint64_t* reference, uint64_t reference_len, uint32_t e,
                                 bool others_match, bool global) {
  const entry only{segment_at, read_at, read_len, segment_len, 0};
  arguments a{};
  a.words = words;
  a.entries = &only;
  a.reference = reference;
  a.reference_len = reference_len;
  sequence read, segment;
  pair_of(a, 0, read, segment);
  uint32_t edits = rejected;
  with_kernel(number, [&](auto kernel) {
    edits = decide<kernel.value>(read, segment, {e, others_match}, global);
  });
  return edits;
}
}
