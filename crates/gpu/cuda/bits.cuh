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

/// Returns the index of the lowest set bit; there must be one.
MGPU_HD int32_t first_one(uint32_t word) {
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int32_t>(word)) - 1;
#else
  return __builtin_ctz(word);
#endif
}

/// Returns a word with its bits in reverse order.
MGPU_HD uint32_t reversed(uint32_t word) {
#ifdef __CUDA_ARCH__
  return __brev(word);
#else
  word = (word >> 1 & 0x55555555u) | (word & 0x55555555u) << 1;
  word = (word >> 2 & 0x33333333u) | (word & 0x33333333u) << 2;
  word = (word >> 4 & 0x0f0f0f0fu) | (word & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(word);
#endif
}

}  // namespace mgpu
