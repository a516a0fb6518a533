// Packed letters: 2 bits a base, 32 bases a word, the first in the top bits; and cuts, one bit a base, 64 a word, the
// first in the lowest bit, which are set where k-mers cannot continue from the base before.
#pragma once

#include "wide.cuh"

namespace mgpu {

/// Whether any of the bits from `from` up to, but not including, `to` is set.
MGPU_HD bool any_bit(const uint64_t* words, int from, int to) {
  while (from < to) {
    const int start = from & 63, bits = to - from < 64 - start ? to - from : 64 - start;
    if ((words[from >> 6] >> start & ~uint64_t{0} >> (64 - bits)) != 0) return true;
    from += bits;
  }
  return false;
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
