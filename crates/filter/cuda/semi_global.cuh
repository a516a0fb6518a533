// Semi-global comparison by bit vectors along a band of one word, for sequences without ambiguous letters. The
// method and its correctness are described in crates/filter/src/cpu/banded.rs.
#pragma once

#include "banded.cuh"

namespace mgpu {
namespace filter {

/// Returns a word with all bits equal to the lowest bit of `word`.
template <class Word>
MGPU_HD Word all_as_first(uint32_t word) {
  // Both halves of a 64-bit word can share one register.
  const uint32_t half = 0u - (word & 1);
  return sizeof(Word) == 4 ? half : static_cast<Word>(uint64_t{half} << 32 | half);
}

/// A band of one word of diagonals that moves through the columns; its highest bit is the diagonal e below the
/// main one.
template <class Word>
struct narrow_band {
  static constexpr int32_t width = 8 * sizeof(Word);

  const sequence& read;
  const sequence& segment;
  int32_t lowest;
  /// Rows above the read's first row. They count as matches, because their values are 0 in every column.
  Word free;
  /// The read's bases in the band; `next` are the read's bases after it, and `of` the segment's next bases.
  Word stretch[2];
  uint32_t next[2], of[2];
  Word up, down;
  /// The differences of the column: diagonal ones that are 0, horizontal ones that are 1, and horizontal ones
  /// that are -1.
  Word zero, more, less;

  MGPU_HD narrow_band(const sequence& read, const sequence& segment, int32_t e)
      : read(read), segment(segment), lowest(e - (width - 1)) {
    free = (Word{1} << -lowest) - 1;
    up = ~free;
    down = 0;
    stretch[low] = bits<Word>(read, low, lowest);
    stretch[high] = bits<Word>(read, high, lowest);
  }

  /// Moves down by a row, to column `k`. It must be called for each k from 0 on.
  MGPU_HD void step(int32_t k) {
    if (k % 32 == 0) {
      next[low] = bits<uint32_t>(read, low, lowest + k + width);
      next[high] = bits<uint32_t>(read, high, lowest + k + width);
      of[low] = bits<uint32_t>(segment, low, k);
      of[high] = bits<uint32_t>(segment, high, k);
    }
    const Word differ = (stretch[low] ^ all_as_first<Word>(of[low])) |
                        (stretch[high] ^ all_as_first<Word>(of[high]));
    const Word equal = ~differ | free;
    zero = (((equal & up) + up) ^ up) | equal | down;
    more = down | ~(zero | up);
    less = zero & up;
    const Word below = zero >> 1;
    up = less | ~(below | more);
    down = below & more;
    free >>= 1;
    MGPU_UNROLL
    for (int p = 0; p < 2; ++p) {
      stretch[p] = slid(stretch[p], Word{next[p]}, 1);
      next[p] >>= 1;
      of[p] >>= 1;
    }
  }
};

/// Returns the smallest edit distance of the non-empty read to any part of the segment if it is at most e.
/// Paths with at most e edits must not touch more diagonals than a word has bits, and e must be less than that.
template <class Word>
MGPU_HD uint32_t semi_global_narrow(const sequence& read, const sequence& segment, rule by) {
  constexpr int32_t highest = narrow_band<Word>::width - 1;
  const int32_t rows = static_cast<int32_t>(read.len), columns = static_cast<int32_t>(segment.len);
  const int32_t e = by.e < read.len ? static_cast<int32_t>(by.e) : rows;
  if (rows - columns > e) return rejected;
  narrow_band<Word> band(read, segment, e);
  // The score follows the highest diagonal until this meets the last row, then that row.
  int32_t score = e, k = 0;
  for (; k < rows - e; ++k) {
    band.step(k);
    score += static_cast<int32_t>(~band.zero >> highest);
  }
  int32_t best = score;
  for (int32_t bit = highest - 1; k < columns; ++k, --bit) {
    band.step(k);
    score += static_cast<int32_t>(band.more >> bit & 1) - static_cast<int32_t>(band.less >> bit & 1);
    best = score < best ? score : best;
  }
  return best <= e ? static_cast<uint32_t>(best) : rejected;
}

}  // namespace filter
}  // namespace mgpu
