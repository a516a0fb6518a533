// Cooperation of the threads of a block, independent of what runs the kernel. A cooperating kernel is an
// ordinary __global__ function that is launched by MGPU_LAUNCH, has the shared memory of its block in
// MGPU_SHARED variables, and communicates with the other threads only through an mgpu::block:
//
//   block.thread(), threads()      the number of this thread in its block, and the number of threads
//   block.index(), count()         the number of the block in the grid, and the number of blocks
//   block.sync()                   a barrier: all threads have arrived, and see each other's writes
//   block.ballot(bool)             bit i is the value of lane i of this warp of 32
//   block.shuffle(value, lane)     the value of a lane of this warp
//   block.sum_before(value, sum)   the sum of the values of lower threads; `sum` becomes that of all
//   block.add(address, value)      adds atomically; returns the old value
//   block.set(address, bits)       sets bits atomically
//   block.load(address)            reads a value that other threads add to or set bits of in the same phase
//   block.clock()                  the cycle counter of this multiprocessor; 0 on the host
//
// Either all threads of a block call sync, ballot, shuffle or sum_before, or none does.
//
// nvcc compiles such functions to kernels. Any other C++ compiler, with crates/gpu/emulation on its include path,
// compiles them to functions that run the same source on the host, with one fiber for each thread, in random
// order between collectives. So the device code can be tested without a GPU. The emulation finds missing syncs
// and wrong arithmetic, but not the effects of weak memory ordering, and it says nothing about speed.
#pragma once

#include "portable.cuh"

#ifdef __CUDACC__

#define MGPU_SHARED __shared__
#define MGPU_LAUNCH(kernel, blocks, threads, stream, ...) \
  kernel<<<(blocks), (threads), 0, (stream)>>>(__VA_ARGS__)

namespace mgpu {

/// A block of `Threads` threads, a multiple of 32 up to 1,024.
template <int Threads>
class block {
 public:
  static constexpr __device__ __forceinline__ uint32_t threads() { return Threads; }
  __device__ __forceinline__ uint32_t thread() const { return threadIdx.x; }
  __device__ __forceinline__ uint32_t index() const { return blockIdx.x; }
  __device__ __forceinline__ uint32_t count() const { return gridDim.x; }
  __device__ __forceinline__ void sync() const {
    if constexpr (Threads == 32) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  __device__ __forceinline__ uint64_t clock() const { return clock64(); }
  __device__ __forceinline__ uint32_t ballot(bool value) const {
    return __ballot_sync(0xffffffffu, value);
  }
  __device__ __forceinline__ uint32_t shuffle(uint32_t value, uint32_t lane) const {
    return __shfl_sync(0xffffffffu, value, static_cast<int>(lane));
  }
  __device__ __forceinline__ uint32_t add(uint32_t* address, uint32_t value) const {
    return atomicAdd(address, value);
  }
  __device__ __forceinline__ uint64_t add(uint64_t* address, uint64_t value) const {
    using word = unsigned long long;
    return atomicAdd(reinterpret_cast<word*>(address), word{value});
  }
  __device__ __forceinline__ void set(uint64_t* address, uint64_t bits) const {
    using word = unsigned long long;
    atomicOr(reinterpret_cast<word*>(address), word{bits});
  }
  __device__ __forceinline__ void set(uint32_t* address, uint32_t bits) const {
    atomicOr(address, bits);
  }
  __device__ __forceinline__ uint64_t load(const uint64_t* address) const {
    return *static_cast<const volatile uint64_t*>(address);
  }
  __device__ __forceinline__ uint32_t sum_before(uint32_t value, uint32_t& sum) const {
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t upto = value;
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
      const uint32_t before = __shfl_up_sync(0xffffffffu, upto, step);
      upto += lane >= step ? before : 0;
    }
    if constexpr (Threads == 32) {
      sum = shuffle(upto, 31);
      return upto - value;
    }
    __shared__ uint32_t of_warp[Threads / 32 + 1];
    __syncthreads();
    if (lane == 31) of_warp[warp] = upto;
    __syncthreads();
    uint32_t before = 0;
    sum = 0;
#pragma unroll
    for (uint32_t i = 0; i < Threads / 32; ++i) {
      before += i < warp ? of_warp[i] : 0;
      sum += of_warp[i];
    }
    return before + upto - value;
  }
};

}  // namespace mgpu

#else
#include "emulated_block.hpp"
#endif
