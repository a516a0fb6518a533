// Gathering of pieces of device memory, thousands of a few kilobytes each, into one buffer: one launch replaces
// thousands of copies, each of which costs the driver microseconds, one after the other.
#pragma once

#include "block.cuh"
#include "search.cuh"

namespace mgpu {

constexpr int gather_threads = 256;
/// The number of words that a block copies.
constexpr uint32_t gather_tile = 4096;

struct gather_arguments {
  /// The addresses of the pieces, on any device that this one can access; null for a gap.
  const uint64_t* const* pieces;
  /// The word of `out` at which each piece begins, and the end of the last.
  const uint64_t* starts;
  /// The number of pieces.
  uint32_t count;
  uint64_t* out;
};

/// Copies the pieces, one block for each `gather_tile` words of output. A thread copies every 256th word of the
/// tile and finds its piece by a binary search among the tile's pieces: O(words × log(pieces)).
/// Shared: 8 bytes; full occupancy.
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
