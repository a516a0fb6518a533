// Bits of words, with one instruction each on the device.
#pragma once

#include "portable.cuh"

namespace mgpu {

/// Returns the 32 bits that begin at bit `by` (below 32) of `first` and continue in `next`.
MGPU_HD uint32_t funnel(uint32_t first, uint32_t next, uint32_t by) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(first, next, by);
#else
  return static_cast<uint32_t>((uint64_t{next} << 32 | first) >> by);
#endif
}

/// The number of set bits.
MGPU_HD uint32_t ones(uint32_t word) {
#ifdef __CUDA_ARCH__
  return __popc(word);
#else
  return static_cast<uint32_t>(__builtin_popcount(word));
#endif
}

MGPU_HD uint32_t ones(uint64_t word) {
#ifdef __CUDA_ARCH__
  return __popcll(word);
#else
  return static_cast<uint32_t>(__builtin_popcountll(word));
#endif
}

}  // namespace mgpu
