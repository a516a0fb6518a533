// Binary search for the part of a concatenation that contains a position.
#pragma once

#include "portable.cuh"

namespace mgpu {

/// The index of the last of `count` (at least 1) ascending starts that is not above `value`.
template <class T>
MGPU_HD uint32_t last_upto(const T* starts, uint32_t count, T value) {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (starts[middle] <= value) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace mgpu
