// Pieces of device memory, some thousands of a few kilobytes each, one behind the other: a launch where
// copies would be as many, each of which the driver takes microseconds for, one at a time.
#pragma once

#include "block.cuh"
#include "search.cuh"

namespace mgpu {

constexpr int gather_threads = 256;
/// Words that a block of threads moves together.
constexpr uint32_t gather_tile = 4096;

struct gather_arguments {
  /// Where pieces are, on any device that this one reaches; null ones are left out.
  const uint64_t* const* pieces;
  /// The word of `out` at which each begins, and the end: one more.
  const uint64_t* starts;
  uint32_t count;
  uint64_t* out;
};

/// O(words), each found by a binary search among the tile's pieces. Shared: 8 bytes; full occupancy.
__global__ void __launch_bounds__(gather_threads) gather_kernel(gather_arguments a) {
  MGPU_SHARED uint32_t within[2];
  block<gather_threads> me;
  const uint64_t first = a.starts[0] + uint64_t{me.index()} * gather_tile, all = a.starts[a.count];
  const uint64_t end = all - first < gather_tile ? all : first + gather_tile;
  if (me.thread() < 2) {
    within[me.thread()] = last_upto(a.starts, a.count, me.thread() == 0 ? first : end - 1);
  }
  me.sync();
  const uint32_t low = within[0], pieces = within[1] - low + 1;
  for (uint64_t at = first + me.thread(); at < end; at += gather_threads) {
    const uint32_t piece = low + last_upto(a.starts + low, pieces, at);
    const uint64_t* from = a.pieces[piece];
    if (from != nullptr) a.out[at] = from[at - a.starts[piece]];
  }
}

}  // namespace mgpu
