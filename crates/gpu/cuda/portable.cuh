// Macros for functions that are compiled for the device by nvcc and for the host by any C++17 compiler.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define MGPU_HD __host__ __device__ __forceinline__
#else
#define MGPU_HD inline
#endif

// Unrolls a loop with a constant number of iterations on the device, so that its arrays stay in registers.
#ifdef __CUDA_ARCH__
#define MGPU_UNROLL _Pragma("unroll")
#else
#define MGPU_UNROLL
#endif

namespace mgpu {

/// The integer of a 128-bit k-mer. The compiler's own type: CUB sorts it, and Rust's u128 has its layout.
__extension__ typedef unsigned __int128 uint128;

/// The integer of a 256-bit k-mer, for k above 64: the high half first, as in Rust's [u128; 2].
struct uint256 {
  uint128 high;
  uint128 low;

  MGPU_HD bool operator==(const uint256& other) const {
    return ((high ^ other.high) | (low ^ other.low)) == 0;
  }
  MGPU_HD bool operator!=(const uint256& other) const { return !(*this == other); }
  MGPU_HD bool operator<(const uint256& other) const {
    return high != other.high ? high < other.high : low < other.low;
  }
#ifndef __CUDACC__
  /// The bits from `begin` to `end`, for the emulated sort.
  uint256 bits(int begin, int end) const {
    uint256 key = *this;
    const auto left = [&](int by) {
      for (; by > 0; --by) key = {key.high << 1 | key.low >> 127, key.low << 1};
    };
    const auto right = [&](int by) {
      for (; by > 0; --by) key = {key.high >> 1, key.low >> 1 | key.high << 127};
    };
    left(256 - end), right(256 - end), right(begin);
    return key;
  }
#endif
};

}  // namespace mgpu
