// How Rust calls C++, everywhere in Merganser:
//
// - Functions are extern "C", take plain integers and pointers, and return mgpu_status: 0 or the
//   number of a cudaError_t. Results go through pointers. No exceptions, no output, no exit.
// - What enqueues work takes the stream, as its last argument, and does not wait for it. The
//   stream's device is the current one: Rust sees to that.
// - Nothing allocates. A routine that needs temporary storage is called twice: with a null pointer
//   it only tells how many bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

using mgpu_status = int32_t;

namespace mgpu {

/// The status of a runtime call. The runtime also keeps a failure as its "last error", where the
/// next check of a kernel launch would find it and blame the wrong one: so it is taken from there.
inline mgpu_status status_of(cudaError_t error) {
  if (error != cudaSuccess) {
    cudaGetLastError();
  }
  return static_cast<mgpu_status>(error);
}

/// The status of the kernel launch just before: of its configuration, not of its run.
inline mgpu_status launch_status() { return static_cast<mgpu_status>(cudaGetLastError()); }

/// The most blocks of a grid: for kernels whose threads do one thing each.
constexpr unsigned a_block_each = 0x7fffffff;
/// Blocks of a grid-stride loop: 500 times as many as an H100 holds at once (132 multiprocessors of 16), so
/// that blocks with less to do make way for others; more would cost starts of blocks.
constexpr unsigned loop_blocks = 1u << 20;
/// Blocks of a loop whose steps are a block's work, or long: 30 times as many as an H100 holds at once.
constexpr unsigned many_blocks = 1u << 16;

/// Blocks of `block_size` threads so that each of `items` has one, at most `limit` blocks: for
/// grid-stride loops. At least 1, since a grid of 0 blocks is an error.
inline unsigned grid_size(uint64_t items, unsigned block_size, unsigned limit = loop_blocks) {
  const uint64_t blocks = (items + block_size - 1) / block_size;
  return blocks < 1 ? 1u : blocks < limit ? static_cast<unsigned>(blocks) : limit;
}

}  // namespace mgpu
