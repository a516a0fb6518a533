// The edit distance by bit vectors over all rows, with the vectors in registers, for reads that are shorter
// than the band is wide: crates/filter/src/cpu/anchored.rs.
#pragma once

#include "banded.cuh"

namespace mgpu {
namespace filter {

/// Returns the edit distance of the read to the whole segment or to any part of it, if it is at most e. The
/// read must have at most 64 * Words bases.
template <int Words>
MGPU_HD uint32_t over_rows(const sequence& read, const sequence& segment, rule by, bool global) {
  const int32_t columns = static_cast<int32_t>(segment.len);
  const bool any_others = read.has_others || segment.has_others;
  if (read.len == 0) {
    const uint32_t distance = global ? segment.len : 0;
    return distance <= by.e ? distance : rejected;
  }
  uint64_t up[Words], down[Words], of_read[3][Words];
  MGPU_UNROLL
  for (int w = 0; w < Words; ++w) {
    up[w] = ~uint64_t{0};
    down[w] = 0;
    of_read[low][w] = bits<uint64_t>(read, low, 64 * w);
    of_read[high][w] = bits<uint64_t>(read, high, 64 * w);
    of_read[others][w] = read.has_others ? bits<uint64_t>(read, others, 64 * w) : 0;
  }
  bases of;
  const int32_t last = static_cast<int32_t>(read.len) - 1;
  int32_t score = static_cast<int32_t>(read.len), best = score;
  for (int32_t k = 0; k < columns; ++k) {
    uint64_t base[3];
    of.of(segment, k, base);
    bool carry = false;
    // The horizontal difference above the first row is 1, or 0 if leading gaps are free.
    uint64_t more_in = global, less_in = 0;
    MGPU_UNROLL
    for (int w = 0; w < Words; ++w) {
      const uint64_t stretch[3] = {of_read[low][w], of_read[high][w], of_read[others][w]};
      const uint64_t equal = matches(stretch, base, any_others, by);
      const uint64_t part = (equal & up[w]) + up[w], sum = part + carry;
      carry = part < up[w] || sum < part;
      const uint64_t zero = (sum ^ up[w]) | equal | down[w];
      const uint64_t more = down[w] | ~(zero | up[w]), less = zero & up[w];
      if (w == last / 64) {
        score += static_cast<int32_t>(more >> (last % 64) & 1) -
                 static_cast<int32_t>(less >> (last % 64) & 1);
      }
      const uint64_t more_down = more << 1 | more_in, less_down = less << 1 | less_in;
      more_in = more >> 63;
      less_in = less >> 63;
      up[w] = less_down | ~(zero | more_down);
      down[w] = more_down & zero;
    }
    best = score < best ? score : best;
  }
  const uint32_t distance = static_cast<uint32_t>(global ? score : best);
  return distance <= by.e ? distance : rejected;
}

}  // namespace filter
}  // namespace mgpu
