// Sequences as bit planes, in words of 32 bits, as Rust's merganser_seq::planes has them in words of
// 64: bit i % 32 of word i / 32 of each plane is a bit of base i. A word more or less than that is
// read as 0, so that nothing needs a margin.
#pragma once

#include "portable.cuh"

namespace mgpu {
namespace filter {

/// The decision on a pair that has more edits than the threshold allows.
constexpr uint32_t rejected = 0xffffffffu;

/// The planes of a sequence.
enum plane : uint32_t { low, high, others };

/// Where the planes of a sequence are, and how long it is: at most 2^31 - 1 bases.
struct sequence {
  /// The word of the low bits that has base 0.
  const uint32_t* words;
  /// Words from one plane to the next.
  uint32_t stride;
  /// The bit of base 0 in its word.
  uint32_t at;
  uint32_t len;
  /// There is a plane of letters that are no bases.
  bool has_others;
};

/// How a pair is decided.
struct rule {
  /// The edits allowed.
  uint32_t e;
  /// Letters that are no bases match everything; else nothing.
  bool others_match;
};

/// The 32 bits of `next` and `first` from bit `by` (below 32) of `first` on.
MGPU_HD uint32_t funnel(uint32_t first, uint32_t next, uint32_t by) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(first, next, by);
#else
  return static_cast<uint32_t>((uint64_t{next} << 32 | first) >> by);
#endif
}

MGPU_HD uint32_t ones(uint32_t word) {
#ifdef __CUDA_ARCH__
  return __popc(word);
#else
  return static_cast<uint32_t>(__builtin_popcount(word));
#endif
}

MGPU_HD uint32_t ones(uint64_t word) {
#ifdef __CUDA_ARCH__
  return __popcll(word);
#else
  return static_cast<uint32_t>(__builtin_popcountll(word));
#endif
}

/// The number of the lowest bit that is set; there must be one.
MGPU_HD int32_t first_one(uint32_t word) {
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int32_t>(word)) - 1;
#else
  return __builtin_ctz(word);
#endif
}

/// The same bits, last first.
MGPU_HD uint32_t reversed(uint32_t word) {
#ifdef __CUDA_ARCH__
  return __brev(word);
#else
  word = (word >> 1 & 0x55555555u) | (word & 0x55555555u) << 1;
  word = (word >> 2 & 0x33333333u) | (word & 0x33333333u) << 2;
  word = (word >> 4 & 0x0f0f0f0fu) | (word & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(word);
#endif
}

/// The lowest `count` bits, none if it is negative, all 32 if it is more.
MGPU_HD uint32_t below(int32_t count) {
  return count >= 32 ? 0xffffffffu : count <= 0 ? 0 : (1u << count) - 1;
}

/// Word `i` of a plane.
MGPU_HD uint32_t word_of(const sequence& s, plane which, int32_t i) {
  const int32_t words = static_cast<int32_t>((s.at + s.len + 31) / 32);
  return i >= 0 && i < words ? s.words[uint64_t{s.stride} * which + static_cast<uint32_t>(i)] : 0;
}

/// The bits of a plane from that of base `from` on, which may lie before the first or past the last.
/// Bits of words that the sequence begins or ends in may be anything there.
template <class Word>
MGPU_HD Word bits(const sequence& s, plane which, int32_t from) {
  const int32_t at = from + static_cast<int32_t>(s.at);
  const int32_t i = at >> 5;
  const uint32_t by = static_cast<uint32_t>(at) & 31, middle = word_of(s, which, i + 1);
  const uint32_t first = funnel(word_of(s, which, i), middle, by);
  if (sizeof(Word) == 4) return first;
  return static_cast<Word>(uint64_t{funnel(middle, word_of(s, which, i + 2), by)} << 32 | first);
}

}  // namespace filter
}  // namespace mgpu
