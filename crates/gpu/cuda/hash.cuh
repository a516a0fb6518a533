// Hashes of 64-bit words, equal to those of crates/seq/src/hash.rs.
#pragma once

#include "portable.cuh"

namespace mgpu {

/// The 64-bit finaliser of MurmurHash3.
MGPU_HD uint64_t murmur_finalizer(uint64_t x) {
  x = (x >> 33 ^ x) * 0xff51afd7ed558ccdu;
  x = (x >> 33 ^ x) * 0xc4ceb9fe1a85ec53u;
  return x >> 33 ^ x;
}

}  // namespace mgpu
