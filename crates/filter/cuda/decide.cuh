// A decision by number of kernel, and where the sequences of a pair are.
#pragma once

#include <type_traits>

#include "masks.cuh"
#include "rows.cuh"
#include "semi_global.cuh"

namespace mgpu {
namespace filter {

/// What decides a pair: the numbers of Rust's Kernel. A batch's pairs come sorted by it.
enum class kernel : uint32_t {
  // The exact method: global in a band of one word, without and with other letters;
  narrow_32,
  narrow_64,
  narrow_32_others,
  narrow_64_others,
  // semi-global in a band of one word, without other letters;
  semi_global_32,
  semi_global_64,
  // in a band of up to 64 to 512 diagonals;
  banded_1,
  banded_2,
  banded_4,
  banded_8,
  // over all rows of a read of up to 64 to 512 bases.
  rows_1,
  rows_2,
  rows_4,
  rows_8,
  // The heuristics, without and with other letters.
  gatekeeper,
  gatekeeper_others,
  snake,
  snake_others,
  published,
  count,
};

/// The edits of a pair that a kernel can decide, or `rejected`.
template <kernel Kernel>
MGPU_HD uint32_t decide(const sequence& read, const sequence& segment, rule by, bool global) {
  constexpr int number = static_cast<int>(Kernel);
  if constexpr (Kernel == kernel::narrow_32) {
    return global_narrow<uint32_t, false>(read, segment, by);
  } else if constexpr (Kernel == kernel::narrow_64) {
    return global_narrow<uint64_t, false>(read, segment, by);
  } else if constexpr (Kernel == kernel::narrow_32_others) {
    return global_narrow<uint32_t, true>(read, segment, by);
  } else if constexpr (Kernel == kernel::narrow_64_others) {
    return global_narrow<uint64_t, true>(read, segment, by);
  } else if constexpr (Kernel == kernel::semi_global_32) {
    return semi_global_narrow<uint32_t>(read, segment, by);
  } else if constexpr (Kernel == kernel::semi_global_64) {
    return semi_global_narrow<uint64_t>(read, segment, by);
  } else if constexpr (Kernel <= kernel::banded_8) {
    constexpr int words = 1 << (number - static_cast<int>(kernel::banded_1));
    return global ? global_banded<words>(read, segment, by)
                  : semi_global_banded<words>(read, segment, by);
  } else if constexpr (Kernel <= kernel::rows_8) {
    constexpr int words = 1 << (number - static_cast<int>(kernel::rows_1));
    return over_rows<words>(read, segment, by, global);
  } else if constexpr (Kernel == kernel::gatekeeper) {
    return gatekeeper<false>(read, segment, by);
  } else if constexpr (Kernel == kernel::gatekeeper_others) {
    return gatekeeper<true>(read, segment, by);
  } else if constexpr (Kernel == kernel::snake) {
    return snake<false>(read, segment, by);
  } else if constexpr (Kernel == kernel::snake_others) {
    return snake<true>(read, segment, by);
  } else {
    return published(read, segment, by);
  }
}

/// Calls `with` with the kernel of a number as a constant.
template <class Function, uint32_t Number = 0>
bool with_kernel(uint32_t number, Function with) {
  if constexpr (Number == static_cast<uint32_t>(kernel::count)) {
    return false;
  } else if (number == Number) {
    with(std::integral_constant<kernel, static_cast<kernel>(Number)>{});
    return true;
  } else {
    return with_kernel<Function, Number + 1>(number, with);
  }
}

/// A pair of a batch: Rust's Entry.
struct entry {
  /// Where the segment begins: the number of a word of 64 bits of the batch, or of a base of the
  /// reference; and the flags below.
  uint64_t segment_at;
  /// The number of a word of 64 bits of the batch.
  uint32_t read_at;
  uint32_t read_len, segment_len;
  /// Where its decision goes.
  uint32_t index;
};
constexpr uint64_t in_reference = uint64_t{1} << 63, read_has_others = uint64_t{1} << 62,
                   segment_has_others = uint64_t{1} << 61, place = segment_has_others - 1;

/// What a launch decides: Rust's Launch.
struct arguments {
  /// The planes of the batch's sequences.
  const uint64_t* words;
  /// The pairs, or null: then read and segment of each follow each other in `words`, have
  /// `read_len` and `segment_len` bases, and no other letters.
  const entry* entries;
  /// The reference's planes, if pairs lie in one.
  const uint64_t* reference;
  /// A decision a pair, of a byte or of four; in a byte, 255 is a pair rejected.
  void* decisions;
  uint64_t reference_len;
  uint32_t pairs;
  uint32_t read_len, segment_len;
  /// The edits allowed, or percent of the read's length.
  uint32_t threshold;
  bool percent;
  bool others_match;
  bool global;
  bool bytes;
};

MGPU_HD uint32_t words_of(uint32_t bases) { return (bases + 63) / 64; }

/// A sequence of the batch, from a word of 64 bits on.
MGPU_HD sequence in_batch(const arguments& a, uint64_t at, uint32_t len, bool has_others) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(a.words + at);
  return {words, 2 * words_of(len), 0, len, has_others};
}

/// The sequences of pair `i`, and where its decision goes.
MGPU_HD uint32_t pair_of(const arguments& a, uint32_t i, sequence& read, sequence& segment) {
  if (a.entries == nullptr) {
    const uint32_t of_read = 2 * words_of(a.read_len), of_segment = 2 * words_of(a.segment_len);
    const uint64_t at = uint64_t{i} * (of_read + of_segment);
    read = in_batch(a, at, a.read_len, false);
    segment = in_batch(a, at + of_read, a.segment_len, false);
    return i;
  }
  const entry e = a.entries[i];
  read = in_batch(a, e.read_at, e.read_len, e.segment_at & read_has_others);
  const bool has_others = e.segment_at & segment_has_others;
  const uint64_t at = e.segment_at & place;
  if (e.segment_at & in_reference) {
    const uint32_t* words = reinterpret_cast<const uint32_t*>(a.reference) + at / 32;
    const uint32_t stride = 2 * static_cast<uint32_t>((a.reference_len + 63) / 64);
    segment = {words, stride, static_cast<uint32_t>(at % 32), e.segment_len, has_others};
  } else {
    segment = in_batch(a, at, e.segment_len, has_others);
  }
  return e.index;
}

}  // namespace filter
}  // namespace mgpu
