// Definitions for all kernels that process reads, and the clock of their phases.
#pragma once

#include "block.cuh"

namespace mgpu {

/// The number of candidates of a read that has too many hits.
constexpr uint32_t too_many = 0xffffffffu;

/// Returns the threads of a block for windows of up to `kmers` k-mers.
constexpr int threads_for(int kmers) { return kmers < 128 ? 32 : kmers / 4; }

/// A read. The letters of its mates are adjacent.
struct read_entry {
  uint32_t start;
  uint32_t first;   // bases of the first mate
  uint32_t second;  // bases of the second mate
  uint32_t range;   // maximum number of windows of a run
};

/// The phases of a read's block, in order.
enum phase { sketching, looking_up, ordering, choosing, pooling };

/// One in `sample_step` reads is sampled.
constexpr uint32_t sample_step = 64;

/// Measures the phases of a read if it is in the sample.
template <class Block>
class phase_clock {
 public:
  MGPU_HD phase_clock(const Block& block, uint64_t* sums)
      : sums_(block.thread() == 0 ? sums : nullptr), last_(sums_ ? block.clock() : 0) {}

  /// Adds the time since the last call to phase `what`.
  MGPU_HD void end(Block& block, phase what) {
    if (sums_ == nullptr) return;
    const uint64_t now = block.clock();
    block.add(sums_ + what, now - last_);
    last_ = now;
  }

 private:
  uint64_t* sums_;
  uint64_t last_;
};

}  // namespace mgpu
