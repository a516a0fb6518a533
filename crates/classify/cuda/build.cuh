// Sketches of a reference's windows: one block per window.
#pragma once

#include "sketch.cuh"

namespace mgpu {

/// Returns the threads of a block for windows of up to `kmers` k-mers.
constexpr int sketch_threads(int kmers) { return kmers < 128 ? 32 : kmers / 4; }

/// A window of a reference.
struct reference_window {
  uint32_t start;  // start of its letters
  uint32_t bases;
};

struct sketch_arguments {
  sketch_rule rule;
  uint32_t count;
  const uint8_t* letters;
  const reference_window* windows;
  void* features;    // packed in the hash's Word, with room for rule.sketch for each window
  uint32_t* counts;  // number of features of each window
};

/// Packs a feature into as few bits as possible: features of 32-bit hashes end with 12 zeros.
MGPU_HD uint32_t packed_feature(uint32_t hash) { return static_cast<uint32_t>(feature_of(hash) >> 12); }
MGPU_HD uint64_t packed_feature(uint64_t hash) { return feature_of(hash); }

/// Return the section of a packed feature, and its key in the section.
MGPU_HD uint32_t section_of(uint32_t packed) { return packed >> 20; }
MGPU_HD uint32_t section_of(uint64_t packed) { return static_cast<uint32_t>(packed >> 32); }
MGPU_HD uint32_t key_of(uint32_t packed) { return packed << 12; }
MGPU_HD uint32_t key_of(uint64_t packed) { return static_cast<uint32_t>(packed); }

/// One block per window, with a quarter as many threads as k-mers: O(k-mers + h log^2 h) for h hashes below the
/// limit, sorted by Batcher's network. Shared: codes and two words per k-mer, 1.2 to 17.1 KiB; full occupancy of an
/// H100's multiprocessors, half with blocks of 32 threads, of which a multiprocessor can hold 32.
template <class Word, int Kmers>
__global__ void __launch_bounds__(sketch_threads(Kmers)) sketch_kernel(sketch_arguments a) {
  constexpr int threads = sketch_threads(Kmers);
  block<threads> me;
  MGPU_SHARED sketch_space<Word, Kmers> space;
  for (uint32_t window = me.index(); window < a.count; window += me.count()) {
    const reference_window entry = a.windows[window];
    Word* out = static_cast<Word*>(a.features) + uint64_t{window} * a.rule.sketch;
    const uint32_t count =
        sort_hashes<Word, Kmers>(me, space, a.letters + entry.start, entry.bases, a.rule);
    uint32_t taken = 0;
    for (uint32_t base = 0; base < count && taken < a.rule.sketch; base += threads) {
      const uint32_t i = base + me.thread();
      const bool distinct = i < count && (i == 0 || space.hashes[i] != space.hashes[i - 1]);
      uint32_t sum = 0;
      const uint32_t at = taken + me.sum_before(distinct, sum);
      if (distinct && at < a.rule.sketch) out[at] = packed_feature(space.hashes[i]);
      taken += sum;
    }
    if (me.thread() == 0) a.counts[window] = taken < a.rule.sketch ? taken : a.rule.sketch;
    me.sync();
  }
}

}  // namespace mgpu
