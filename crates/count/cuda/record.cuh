// Records of super-k-mers in device memory: a fixed number of 64-bit words for each width of k-mer. The
// bases start in the top bits of the first word; the low 8 bits of the last word are the number of k-mers
// less 1. Records of one size can be read in parallel without an index. They hold the usual longest
// super-k-mer, of 2k-p bases; longer ones are cut (`max_kmers`).
#pragma once

#include "packed.cuh"

namespace mgpu {

/// The number of words of a record of k-mers of type K.
template <class K>
constexpr int record_words = sizeof(K) == 4 ? 1 : static_cast<int>(sizeof(K)) / 4;

template <int Words>
struct alignas(Words == 1 ? 8 : 16) record {
  uint64_t words[Words];
};

/// The largest number of k-mers of a record, in which the number takes the room of 4 bases.
MGPU_HD int max_kmers(int words, int k) {
  const int fit = 32 * words - 4 - k + 1;
  return fit < 256 ? fit : 256;
}

}  // namespace mgpu
