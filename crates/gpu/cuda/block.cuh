// Kernels whose threads cooperate by block, told apart from what runs them. Such a kernel is an
// ordinary __global__ function that is started by MGPU_LAUNCH, keeps what its block shares in
// MGPU_SHARED variables, and talks to its fellow threads only through an mgpu::block:
//
//   block.thread(), threads()      this thread's number in the block, and how many there are
//   block.index(), count()         the block's number in the grid, and how many there are
//   block.sync()                   all threads are here, and see each other's writes
//   block.ballot(bool)             bit i is the value of thread i of this warp of 32
//   block.sum_before(value, sum)   the values of the threads before this one; `sum` of all
//   block.add(address, value)      an atomic addition; the value before it
//   block.set(address, bits)       sets bits atomically
//   block.load(address)            a value that others add to or set bits of in the same phase
//   block.clock()                  cycles of this multiprocessor; 0 on the host
//
// sync, ballot and sum_before are called by all threads of a block or by none.
//
// nvcc makes kernels of them. Any other C++ compiler, with crates/gpu/emulation on its include path,
// makes functions that run the same source on the host, a fiber a thread, in random order between
// collectives: the device path's tests where there is no GPU. It finds missing syncs and wrong
// arithmetic, not the effects of weak memory ordering, and says nothing about speed.
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
  __device__ __forceinline__ void sync() const { __syncthreads(); }
  __device__ __forceinline__ uint64_t clock() const { return clock64(); }
  __device__ __forceinline__ uint32_t ballot(bool value) const {
    return __ballot_sync(0xffffffffu, value);
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
  __device__ __forceinline__ uint64_t load(const uint64_t* address) const {
    return *static_cast<const volatile uint64_t*>(address);
  }
  __device__ __forceinline__ uint32_t sum_before(uint32_t value, uint32_t& sum) const {
    __shared__ uint32_t of_warp[Threads / 32 + 1];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t upto = value;
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
      const uint32_t before = __shfl_up_sync(0xffffffffu, upto, step);
      upto += lane >= step ? before : 0;
    }
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
