// Lets a function be compiled for the device by nvcc and for the host by any C++17 compiler.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define MGPU_HD __host__ __device__ __forceinline__
#else
#define MGPU_HD inline
#endif

namespace mgpu {

/// A 128-bit k-mer's integer. The compiler's own: CUB sorts it, Rust's u128 has its layout.
__extension__ typedef unsigned __int128 uint128;

}  // namespace mgpu
