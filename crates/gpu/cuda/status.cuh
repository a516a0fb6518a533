// The conventions of all functions that Rust calls:
//
// - Functions are extern "C", take plain integers and pointers, and return mgpu_status: 0 or the
//   number of a cudaError_t. Results go through pointers. No exceptions, no output, no exit.
// - A function that enqueues work takes the stream as its last argument and does not wait for it. Rust
//   ensures that the stream's device is the current one.
// - Nothing allocates. A routine that needs temporary storage is called twice: with a null pointer
//   it only returns the number of bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

using mgpu_status = int32_t;

namespace mgpu {

/// The status of a runtime call. The runtime also keeps a failure as its "last error", where the
/// check after the next kernel launch would find it and report the wrong operation, so it is cleared here.
inline mgpu_status status_of(cudaError_t error) {
  if (error != cudaSuccess) {
    cudaGetLastError();
  }
  return static_cast<mgpu_status>(error);
}

/// The status of the preceding kernel launch: of its configuration, not of its execution.
inline mgpu_status launch_status() { return static_cast<mgpu_status>(cudaGetLastError()); }

/// The largest number of blocks of a grid, for kernels whose threads process one item each.
constexpr unsigned a_block_each = 0x7fffffff;
/// The blocks of a grid-stride loop: 500 times as many as an H100 holds at once (132 multiprocessors of 16), so
/// that the load is balanced; with more, the cost of starting blocks would show.
constexpr unsigned loop_blocks = 1u << 20;
/// The blocks of a loop whose steps take a whole block, or are long: 30 times as many as an H100 holds at once.
constexpr unsigned many_blocks = 1u << 16;

/// The number of blocks of `block_size` threads that gives each of `items` a thread, but at most `limit`, for
/// grid-stride loops. At least 1, since a grid of 0 blocks is an error.
inline unsigned grid_size(uint64_t items, unsigned block_size, unsigned limit = loop_blocks) {
  const uint64_t blocks = (items + block_size - 1) / block_size;
  return blocks < 1 ? 1u : blocks < limit ? static_cast<unsigned>(blocks) : limit;
}

}  // namespace mgpu
