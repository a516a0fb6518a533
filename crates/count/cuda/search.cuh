// Where something lies among parts that lie side by side.
#pragma once

#include "portable.cuh"

namespace mgpu {

/// The number, of `count` starts (at least 1) in rising order, of the last that is not above `value`.
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
