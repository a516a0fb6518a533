// The edit distance by bit vectors along a band of diagonals, with the band in registers. The method and its
// correctness are described in crates/filter/src/cpu/banded.rs.
#pragma once

#include "sequence.cuh"

namespace mgpu {
namespace filter {

/// Returns the bits of a word that begins at bit `by` of `first` and continues in `next`; `by` is less than its
/// number of bits.
MGPU_HD uint32_t slid(uint32_t first, uint32_t next, uint32_t by) { return funnel(first, next, by); }
MGPU_HD uint64_t slid(uint64_t first, uint64_t next, uint32_t by) {
  return first >> by | next << 1 << (63 - by);
}

/// Returns a word with all bits equal to bit `k`.
MGPU_HD uint32_t spread(uint32_t word, uint32_t k) {
  return static_cast<uint32_t>(static_cast<int32_t>(word << (31 - k)) >> 31);
}
MGPU_HD uint64_t spread(uint64_t word, uint32_t k) {
  return static_cast<uint64_t>(static_cast<int64_t>(word << (63 - k)) >> 63);
}

/// Returns a bit for each base of a stretch of the read that matches a base of the segment, whose bits were
/// spread.
template <class Word>
MGPU_HD Word matches(const Word read[3], const Word base[3], bool others, rule by) {
  const Word equal = ~((read[low] ^ base[low]) | (read[high] ^ base[high]));
  if (!others) return equal;
  const Word either = read[plane::others] | base[plane::others];
  return by.others_match ? equal | either : equal & ~either;
}

/// The vertical differences of a column, in one word.
template <class Word>
struct column {
  /// Rows whose value is one more than that of the row above, and rows whose value is one less.
  Word up, down;
};

/// Moves down by a row, to the next column; returns the diagonal differences that are 0.
template <class Word>
MGPU_HD Word advance(column<Word>& c, Word equal) {
  const Word zero = (((equal & c.up) + c.up) ^ c.up) | equal | c.down;
  const Word more = c.down | ~(zero | c.up), below = zero >> 1;
  c.up = (zero & c.up) | ~(below | more);
  c.down = below & more;
  return zero;
}

/// Whether `global_narrow` can decide a pair of these lengths: the band around the last diagonal, which is at
/// the middle bit, has all diagonals that a path with `e` edits can touch.
template <class Word>
MGPU_HD bool is_narrow(uint32_t read, uint32_t segment, uint32_t e) {
  const uint32_t apart = read > segment ? read - segment : segment - read;
  return apart > e || apart + (e - apart) / 2 < 4 * sizeof(Word);
}

/// Returns the edit distance of both whole sequences if it is at most e, with a band of one word.
template <class Word, bool Others>
MGPU_HD uint32_t global_narrow(const sequence& read, const sequence& segment, rule by) {
  constexpr int32_t width = 8 * sizeof(Word), middle = width / 2;
  constexpr int planes = Others ? 3 : 2;
  const int32_t last = static_cast<int32_t>(read.len) - static_cast<int32_t>(segment.len);
  uint32_t score = static_cast<uint32_t>(last < 0 ? -last : last);
  if (score > by.e) return rejected;
  const int32_t lowest = last - middle, columns = static_cast<int32_t>(segment.len);
  column<Word> c;
  c.down = (Word{1} << -lowest) - 1;
  c.up = ~c.down;
  Word now[3] = {}, next[3] = {}, of[3] = {};
  MGPU_UNROLL
  for (int p = 0; p < planes; ++p) {
    const bool there = p < 2 || read.has_others;
    next[p] = there ? bits<Word>(read, static_cast<plane>(p), lowest) : 0;
  }
  for (int32_t first = 0; first < columns; first += width) {
    MGPU_UNROLL
    for (int p = 0; p < planes; ++p) {
      const plane which = static_cast<plane>(p);
      now[p] = next[p];
      next[p] = p < 2 || read.has_others ? bits<Word>(read, which, first + width + lowest) : 0;
      of[p] = p < 2 || segment.has_others ? bits<Word>(segment, which, first) : 0;
    }
    // One bit per column: whether its difference on the last diagonal is 0.
    Word zeros = 0;
    const auto step = [&](uint32_t k) {
      Word stretch[3] = {}, base[3] = {};
      MGPU_UNROLL
      for (int p = 0; p < planes; ++p) {
        stretch[p] = slid(now[p], next[p], k);
        base[p] = spread(of[p], k);
      }
      const Word zero = advance(c, matches(stretch, base, Others, by));
      // Collects the bit of the last diagonal, which is at the middle of the word.
      zeros = slid(Word(zero << (width - 1 - middle)), zeros, width - 1);
    };
    const int32_t left = columns - first;
    if (left >= width) {
      MGPU_UNROLL
      for (uint32_t k = 0; k < width; ++k) step(k);
      score += width - ones(zeros);
    } else {
      for (uint32_t k = 0; k < static_cast<uint32_t>(left); ++k) step(k);
      score += static_cast<uint32_t>(left) - ones(zeros);
    }
    if (score > by.e) return rejected;
  }
  return score;
}

/// Returns bit `i` of a vector of words. All words are read, because registers cannot be indexed.
template <int Words>
MGPU_HD uint32_t bit_of(const uint64_t (&vector)[Words], int32_t i) {
  uint64_t word = 0;
  MGPU_UNROLL
  for (int w = 0; w < Words; ++w) word |= vector[w] & (uint64_t{0} - (w == i / 64));
  return static_cast<uint32_t>(word >> (i % 64)) & 1;
}

/// Returns word `w` of a vector whose first `count` bits are set; no bits if it is negative.
MGPU_HD uint64_t first_bits(int32_t count, int w) {
  count -= 64 * w;
  return count >= 64 ? ~uint64_t{0} : count <= 0 ? 0 : (uint64_t{1} << count) - 1;
}

/// The band of a pair, with up to 64 * Words diagonals, and the stretch of the read in it.
template <int Words>
struct band {
  uint64_t up[Words], down[Words], zero[Words];
  /// The read's planes from the band's first row on.
  uint64_t read[3][Words + 1];

  /// Initializes the column before the first one: rows above the read increase upwards if `rising`, and are
  /// constant otherwise.
  MGPU_HD void start(const sequence& of, int32_t lowest, bool rising) {
    MGPU_UNROLL
    for (int w = 0; w < Words; ++w) {
      const uint64_t above = first_bits(-lowest, w);
      up[w] = ~above;
      down[w] = rising ? above : 0;
    }
    MGPU_UNROLL
    for (int w = 0; w <= Words; ++w) {
      read[low][w] = bits<uint64_t>(of, low, lowest + 64 * w);
      read[high][w] = bits<uint64_t>(of, high, lowest + 64 * w);
      read[others][w] = of.has_others ? bits<uint64_t>(of, others, lowest + 64 * w) : 0;
    }
  }

  /// Computes the diagonal differences of the next column, in which `above` rows of the band are above the
  /// read.
  MGPU_HD void step(const uint64_t (&base)[3], int32_t above, bool any_others, rule by) {
    bool carry = false;
    MGPU_UNROLL
    for (int w = 0; w < Words; ++w) {
      const uint64_t stretch[3] = {read[low][w], read[high][w], read[others][w]};
      const uint64_t equal = matches(stretch, base, any_others, by) | first_bits(above, w);
      const uint64_t part = (equal & up[w]) + up[w], sum = part + carry;
      carry = part < up[w] || sum < part;
      zero[w] = (sum ^ up[w]) | equal | down[w];
    }
  }

  /// Returns the horizontal difference of the row at a bit.
  MGPU_HD int32_t across(int32_t bit) const {
    const uint32_t z = bit_of(zero, bit), u = bit_of(up, bit), d = bit_of(down, bit);
    return static_cast<int32_t>(d | ((z | u) ^ 1)) - static_cast<int32_t>(z & u);
  }

  /// Moves the band down by a row, after column `k`.
  MGPU_HD void slide(const sequence& of, int32_t lowest, int32_t k) {
    MGPU_UNROLL
    for (int w = 0; w < Words; ++w) {
      const uint64_t next = w + 1 < Words ? zero[w + 1 < Words ? w + 1 : w] << 63 : 0;
      const uint64_t more = down[w] | ~(zero[w] | up[w]), below = zero[w] >> 1 | next;
      up[w] = (zero[w] & up[w]) | ~(below | more);
      down[w] = below & more;
    }
    MGPU_UNROLL
    for (int p = 0; p < 3; ++p) {
      MGPU_UNROLL
      for (int w = 0; w < Words; ++w) read[p][w] = read[p][w] >> 1 | read[p][w + 1] << 63;
      read[p][Words] >>= 1;
    }
    if ((k + 1) % 64 == 0) {
      const int32_t from = lowest + k + 1 + 64 * Words;
      read[low][Words] = bits<uint64_t>(of, low, from);
      read[high][Words] = bits<uint64_t>(of, high, from);
      read[others][Words] = of.has_others ? bits<uint64_t>(of, others, from) : 0;
    }
  }
};

/// The bases of the segment, which are loaded 64 at a time.
struct bases {
  uint64_t word[3];

  /// Returns base `k` with its bits spread. Bases must be requested in order.
  MGPU_HD void of(const sequence& segment, int32_t k, uint64_t (&base)[3]) {
    if (k % 64 == 0) {
      word[low] = bits<uint64_t>(segment, low, k);
      word[high] = bits<uint64_t>(segment, high, k);
      word[others] = segment.has_others ? bits<uint64_t>(segment, others, k) : 0;
    }
    MGPU_UNROLL
    for (int p = 0; p < 3; ++p) base[p] = spread(word[p], static_cast<uint32_t>(k % 64));
  }
};

/// Returns the edit distance of both whole sequences if it is at most e. The band of e edits, or of as many as
/// the lengths allow, must have at most 64 * Words diagonals.
template <int Words>
MGPU_HD uint32_t global_banded(const sequence& read, const sequence& segment, rule by) {
  const int32_t rows = static_cast<int32_t>(read.len), columns = static_cast<int32_t>(segment.len);
  const int32_t last = rows - columns, apart = last < 0 ? -last : last;
  const uint32_t longest = rows > columns ? read.len : segment.len;
  by.e = by.e < longest ? by.e : longest;
  if (static_cast<uint32_t>(apart) > by.e) return rejected;
  const int32_t spare = (static_cast<int32_t>(by.e) - apart) / 2;
  const int32_t lowest = (last < 0 ? last : 0) - spare;
  const bool any_others = read.has_others || segment.has_others;
  band<Words> b;
  b.start(read, lowest, true);
  bases of;
  uint32_t score = static_cast<uint32_t>(apart);
  for (int32_t k = 0; k < columns; ++k) {
    uint64_t base[3];
    of.of(segment, k, base);
    b.step(base, 0, any_others, by);
    score += bit_of(b.zero, last - lowest) ^ 1;
    if (score > by.e) return rejected;
    b.slide(read, lowest, k);
  }
  return score;
}

/// Returns the smallest edit distance of the read to any part of the segment if it is at most e. The band must
/// have at most 64 * Words diagonals.
template <int Words>
MGPU_HD uint32_t semi_global_banded(const sequence& read, const sequence& segment, rule by) {
  const int32_t rows = static_cast<int32_t>(read.len), columns = static_cast<int32_t>(segment.len);
  const int32_t e = by.e < read.len ? static_cast<int32_t>(by.e) : rows;
  if (rows - columns > e) return rejected;
  int32_t lowest = rows - columns - e;
  lowest = lowest < -columns ? -columns : lowest > 0 ? 0 : lowest;
  const bool any_others = read.has_others || segment.has_others;
  band<Words> b;
  b.start(read, lowest, false);
  bases of;
  int32_t bit = e - lowest, score = e, best = rows == e ? e : e + 1;
  for (int32_t k = 0; k < columns; ++k) {
    uint64_t base[3];
    of.of(segment, k, base);
    b.step(base, -lowest - k, any_others, by);
    // The score follows the diagonal that is the first to meet the last row, then that row.
    if (k + 1 <= rows - e) {
      score += static_cast<int32_t>(bit_of(b.zero, bit) ^ 1);
    } else {
      bit -= 1;
      score += b.across(bit);
    }
    if (k + 1 >= rows - e && score < best) best = score;
    b.slide(read, lowest, k);
  }
  return best <= e ? static_cast<uint32_t>(best) : rejected;
}

}  // namespace filter
}  // namespace mgpu
