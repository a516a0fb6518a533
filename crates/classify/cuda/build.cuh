// The sketches of a reference's windows: a block a window.
#pragma once

#include "reads.cuh"

namespace mgpu {

/// Bits of a key below the feature: the number of the window.
constexpr int window_bits = 20;
/// Stands where a sketch is smaller than there is room for; greater than all keys of a batch with less
/// than 2^20 windows.
constexpr uint64_t no_key = ~uint64_t{0};

struct sketch_arguments {
  sketch_rule rule;
  const uint8_t* letters;
  const window_entry* windows;
  uint32_t count;
  uint64_t* keys;  // rule.sketch for each window: feature << 20 | window, or no_key
};

template <class Word, int Kmers>
__global__ void __launch_bounds__(threads_for(Kmers)) sketch_kernel(sketch_arguments a) {
  constexpr int threads = threads_for(Kmers);
  block<threads> me;
  MGPU_SHARED sketch_space<Word, Kmers> space;
  for (uint32_t window = me.index(); window < a.count; window += me.count()) {
    const window_entry entry = a.windows[window];
    uint64_t* out = a.keys + uint64_t{window} * a.rule.sketch;
    const uint32_t count =
        sort_hashes<Word, Kmers>(me, space, a.letters + entry.start, entry.bases, a.rule);
    uint32_t taken = 0;
    for (uint32_t base = 0; base < count && taken < a.rule.sketch; base += threads) {
      const uint32_t i = base + me.thread();
      const bool distinct = i < count && (i == 0 || space.hashes[i] != space.hashes[i - 1]);
      uint32_t sum = 0;
      const uint32_t at = taken + me.sum_before(distinct, sum);
      if (distinct && at < a.rule.sketch) {
        out[at] = feature_of(space.hashes[i]) << window_bits | window;
      }
      taken += sum;
    }
    for (uint32_t i = taken + me.thread(); i < a.rule.sketch; i += threads) out[i] = no_key;
    me.sync();
  }
}

}  // namespace mgpu
