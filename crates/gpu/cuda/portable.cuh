// Lets a function be compiled for the device by nvcc and for the host by any C++17 compiler.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define MGPU_HD __host__ __device__ __forceinline__
#else
#define MGPU_HD inline
#endif

// Before a loop whose steps are known when compiling: in registers on the device.
#ifdef __CUDA_ARCH__
#define MGPU_UNROLL _Pragma("unroll")
#else
#define MGPU_UNROLL
#endif

namespace mgpu {

/// A 128-bit k-mer's integer. The compiler's own: CUB sorts it, Rust's u128 has its layout.
__extension__ typedef unsigned __int128 uint128;

/// A 256-bit k-mer's integer, for k above 64: the high half first, as Rust's [u128; 2].
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
