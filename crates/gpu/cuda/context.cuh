// Lanes that cooperate, told apart from what runs them. A cooperative routine is a template over a
// context and uses nothing else to talk to its fellow lanes or to shared memory:
//
//   ctx.lane(), ctx.lanes()        this lane's number, and how many there are (2 to 32)
//   ctx.ballot(bool) -> uint32_t   bit i is lane i's value
//   ctx.shfl(value, lane) -> value what that lane gave
//   ctx.load(address) -> value     a relaxed read that is not torn, cached away or repeated
//   ctx.cas(address, expected, desired) -> the value found; stored if it was the expected one
//   ctx.sync()                     all lanes are here, and see each other's writes
//
// ballot, shfl and sync are called by all lanes of the context or by none.
//
// nvcc gets cooperative groups (below; no cost: the registers are a snapshot). The host gets fibers
// that a seeded scheduler interleaves at random (interleave.hpp): it finds races, not the effects
// of weak memory ordering, and says nothing about speed.
#pragma once

#include "portable.cuh"

#ifdef __CUDACC__
#include <cooperative_groups.h>

namespace mgpu {

/// `Lanes` neighbouring threads of a warp: a power of two up to 32.
template <int Lanes>
class tile_context {
 public:
  __device__ __forceinline__ tile_context()
      : tile_(cooperative_groups::tiled_partition<Lanes>(cooperative_groups::this_thread_block())) {}

  __device__ __forceinline__ int lane() const { return static_cast<int>(tile_.thread_rank()); }
  static constexpr __device__ __forceinline__ int lanes() { return Lanes; }
  __device__ __forceinline__ uint32_t ballot(bool value) const { return tile_.ballot(value); }
  template <class T>
  __device__ __forceinline__ T shfl(T value, int lane) const {
    return tile_.shfl(value, lane);
  }
  template <class T>
  __device__ __forceinline__ T load(const T* address) const {
    return *static_cast<const volatile T*>(address);
  }
  __device__ __forceinline__ uint32_t cas(uint32_t* address, uint32_t expected, uint32_t desired) {
    return atomicCAS(address, expected, desired);
  }
  __device__ __forceinline__ uint64_t cas(uint64_t* address, uint64_t expected, uint64_t desired) {
    using word = unsigned long long;
    return atomicCAS(reinterpret_cast<word*>(address), word{expected}, word{desired});
  }
  __device__ __forceinline__ void sync() const { tile_.sync(); }

 private:
  cooperative_groups::thread_block_tile<Lanes> tile_;
};

}  // namespace mgpu
#endif
