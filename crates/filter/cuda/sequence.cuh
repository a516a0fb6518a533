// Sequences as bit planes in words of 32 bits; the layout is that of merganser_seq::planes, which has words of
// 64 bits. Bit i % 32 of word i / 32 of each plane belongs to base i. Words outside of a sequence are read as
// 0, so no padding is needed.
#pragma once

#include "bits.cuh"

namespace mgpu {
namespace filter {

/// The decision on a pair with more edits than the threshold allows.
constexpr uint32_t rejected = 0xffffffffu;

/// The planes of a sequence.
enum plane : uint32_t { low, high, others };

/// A view of a sequence's planes. It has at most 2^31 - 1 bases.
struct sequence {
  /// The word of the plane of low bits that holds base 0.
  const uint32_t* words;
  /// The number of words from one plane to the next.
  uint32_t stride;
  /// The bit of base 0 in its word.
  uint32_t at;
  uint32_t len;
  /// Whether there is a plane of ambiguous letters.
  bool has_others;
};

/// The parameters of a decision.
struct rule {
  /// The maximum number of edits.
  uint32_t e;
  /// Whether ambiguous letters match everything; otherwise they match nothing.
  bool others_match;
};

/// Returns a word whose lowest `count` bits are set: none if it is negative, all if it is 32 or more.
MGPU_HD uint32_t below(int32_t count) {
  return count >= 32 ? 0xffffffffu : count <= 0 ? 0 : (1u << count) - 1;
}

/// Returns word `i` of a plane, or 0 outside of the sequence.
MGPU_HD uint32_t word_of(const sequence& s, plane which, int32_t i) {
  const int32_t words = static_cast<int32_t>((s.at + s.len + 31) / 32);
  return i >= 0 && i < words ? s.words[uint64_t{s.stride} * which + static_cast<uint32_t>(i)] : 0;
}

/// Returns the bits of a plane that begin at base `from`, which may be before the first base or after the last
/// one. Bits outside of the sequence are unspecified.
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
