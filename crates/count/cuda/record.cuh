// Records of super-k-mers in device memory: a fixed number of 64-bit words for each width of k-mer. The
// bases start in the top bits of the first word; the low 8 bits of the last word are the number of k-mers
// less 1. Records of one size can be read in parallel without an index. They hold the usual longest
// super-k-mer, of 2k-p bases; longer ones are cut (`max_kmers`).
#pragma once

#include "wide.cuh"

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

/// 32 bases from base `at` of `count` words, the first in the top bits, padded with A after the end.
MGPU_HD uint64_t window(const uint64_t* words, int count, int at) {
  const int word = at >> 5, shift = 2 * (at & 31);
  const uint64_t first = word < count ? words[word] << shift : 0;
  return shift == 0 || word + 1 >= count ? first : first | words[word + 1] >> (64 - shift);
}

/// Reads the k-mer of type K at base `at` of `count` words.
template <class K>
struct kmer_at;

template <>
struct kmer_at<uint32_t> {
  static MGPU_HD uint32_t read(const uint64_t* words, int count, int at, int k) {
    return static_cast<uint32_t>(window(words, count, at) >> (64 - 2 * k));
  }
};
template <>
struct kmer_at<uint64_t> {
  static MGPU_HD uint64_t read(const uint64_t* words, int count, int at, int k) {
    return window(words, count, at) >> (64 - 2 * k);
  }
};
template <>
struct kmer_at<uint128> {
  static MGPU_HD uint128 read(const uint64_t* words, int count, int at, int k) {
    const uint128 high = window(words, count, at);
    return (high << 64 | window(words, count, at + 32)) >> (128 - 2 * k);
  }
};

template <>
struct kmer_at<uint256> {
  static MGPU_HD uint256 read(const uint64_t* words, int count, int at, int k) {
    const uint256 all{kmer_at<uint128>::read(words, count, at, 64),
                      kmer_at<uint128>::read(words, count, at + 64, 64)};
    return shift_right(all, 256 - 2 * k);
  }
};

}  // namespace mgpu
