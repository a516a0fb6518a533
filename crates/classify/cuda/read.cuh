// What all kernels know of reads, and how they measure what becomes of them.
#pragma once

#include "block.cuh"

namespace mgpu {

/// Stands for the number of candidates of a read with more hits.
constexpr uint32_t too_many = 0xffffffffu;

/// Threads of a block for windows of up to `kmers` k-mers.
constexpr int threads_for(int kmers) { return kmers < 128 ? 32 : kmers / 4; }

/// A read: its mates' letters one after the other.
struct read_entry {
  uint32_t start;
  uint32_t first;   // bases of the first mate
  uint32_t second;  // and of the second
  uint32_t range;   // windows of a run
};

/// What a read's block does one after the other.
enum phase { sketching, looking_up, ordering, choosing, pooling };

/// One read in so many is sampled.
constexpr uint32_t sample_step = 64;

/// Measures the phases of a read, if it is one of the sample.
template <class Block>
class phase_clock {
 public:
  MGPU_HD phase_clock(const Block& block, uint64_t* sums)
      : sums_(block.thread() == 0 ? sums : nullptr), last_(sums_ ? block.clock() : 0) {}

  /// The time since the last call went into `what`.
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
