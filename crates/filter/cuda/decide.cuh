// Selection of a kernel by its number, and access to the sequences of a pair.
#pragma once

#include <type_traits>

#include "masks.cuh"
#include "rows.cuh"
#include "semi_global.cuh"

namespace mgpu {
namespace filter {

/// The kernels, with the numbers of Rust's Kernel. The pairs of a batch are sorted by kernel.
enum class kernel : uint32_t {
  // The exact method, global, in a band of one word, without and with ambiguous letters.
  narrow_32,
  narrow_64,
  narrow_32_others,
  narrow_64_others,
  // The exact method, semi-global, in a band of one word, without ambiguous letters.
  semi_global_32,
  semi_global_64,
  // The exact method in a band of up to 64, 128, 256 or 512 diagonals.
  banded_1,
  banded_2,
  banded_4,
  banded_8,
  // The exact method over all rows of a read of up to 64, 128, 256 or 512 bases.
  rows_1,
  rows_2,
  rows_4,
  rows_8,
  // The heuristics, without and with ambiguous letters.
  gatekeeper,
  gatekeeper_others,
  snake,
  snake_others,
  published,
  count,
};

/// Returns the edits of a pair that the kernel supports, or `rejected`.
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

/// Calls `with` with the kernel of a number as a compile-time constant; returns false for an unknown number.
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

/// A pair of a batch: the same structure as Rust's Entry.
struct entry {
  /// The start of the segment (the index of a 64-bit word of the batch, or of a base of the reference) and the
  /// flags below.
  uint64_t segment_at;
  /// The index of the read's first 64-bit word in the batch.
  uint32_t read_at;
  uint32_t read_len, segment_len;
  /// The index of the decision.
  uint32_t index;
};
constexpr uint64_t in_reference = uint64_t{1} << 63, read_has_others = uint64_t{1} << 62,
                   segment_has_others = uint64_t{1} << 61, place = segment_has_others - 1;

/// The input of a launch: the same structure as Rust's Arguments.
struct arguments {
  /// The planes of the batch's sequences.
  const uint64_t* words;
  /// The pairs, or null for uniform pairs: then read and segment of each pair follow each other in `words`,
  /// have `read_len` and `segment_len` bases, and no ambiguous letters.
  const entry* entries;
  /// The planes of the reference, if segments are in one.
  const uint64_t* reference;
  /// The decision of each pair, in one or four bytes; in one byte, 255 means rejected.
  void* decisions;
  uint64_t reference_len;
  uint32_t pairs;
  uint32_t read_len, segment_len;
  /// The maximum number of edits, or a percentage of the read's length.
  uint32_t threshold;
  bool percent;
  bool others_match;
  bool global;
  bool bytes;
};

MGPU_HD uint32_t words_of(uint32_t bases) { return (bases + 63) / 64; }

/// Returns the sequence of the batch that begins at a 64-bit word.
MGPU_HD sequence in_batch(const arguments& a, uint64_t at, uint32_t len, bool has_others) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(a.words + at);
  return {words, 2 * words_of(len), 0, len, has_others};
}

/// Fills in the sequences of pair `i`, and returns the index of its decision.
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
