// The decision kernels. Each thread decides one pair and reads its words in order; neighbouring threads read
// neighbouring pairs, whose words stay in the L1 cache meanwhile.
#pragma once

#include "block.cuh"
#include "decide.cuh"

namespace mgpu {
namespace filter {

constexpr unsigned threads = 128;

/// Decides pairs.
/// Launch: one thread per pair, all with the same method, so that the threads of a warp diverge only at the end
/// of their sequences.
/// Cost: O(words × edits) per pair with most kernels, in registers. No shared memory; 12 to 3 blocks of 128
/// threads per multiprocessor, the fewest for the widest bands.
template <kernel Kernel>
__global__ void __launch_bounds__(threads) decide_kernel(arguments a) {
  block<threads> me;
  const uint64_t i = uint64_t{me.index()} * threads + me.thread();
  if (i >= a.pairs) return;
  sequence read, segment;
  const uint32_t index = pair_of(a, static_cast<uint32_t>(i), read, segment);
  const uint64_t share = uint64_t{read.len} * a.threshold / 100;
  const uint32_t e = a.percent ? static_cast<uint32_t>(share) : a.threshold;
  const uint32_t edits = decide<Kernel>(read, segment, {e, a.others_match}, a.global);
  if (a.bytes) {
    static_cast<uint8_t*>(a.decisions)[index] = static_cast<uint8_t>(edits);
  } else {
    static_cast<uint32_t*>(a.decisions)[index] = edits;
  }
}

}  // namespace filter
}  // namespace mgpu
