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

/// Blocks of `block_size` threads so that each of `items` has one, at most `limit` blocks: for
/// grid-stride loops. At least 1, since a grid of 0 blocks is an error.
inline unsigned grid_size(uint64_t items, unsigned block_size, unsigned limit = 1u << 20) {
  const uint64_t blocks = (items + block_size - 1) / block_size;
  return blocks < 1 ? 1u : blocks < limit ? static_cast<unsigned>(blocks) : limit;
}

}  // namespace mgpu
