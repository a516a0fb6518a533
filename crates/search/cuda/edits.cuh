// The dynamic programming of edits, one bit per lane: crates/search/src/edits.rs for words of 32 lanes.
#pragma once

#include "bits.cuh"

namespace mgpu {
namespace search {

/// The number of columns that are computed together.
constexpr int step = 4;

/// The horizontal differences of a row in the columns of a step: whether they are +1, and whether they are -1.
struct differences {
  uint32_t up[step], down[step];
};

/// Returns the union of three words, in one operation: the compiler would otherwise use parts of it in other terms.
MGPU_HD uint32_t any_of(uint32_t a, uint32_t b, uint32_t c) {
#ifdef __CUDA_ARCH__
  uint32_t all;
  asm("lop3.b32 %0, %1, %2, %3, 0xfe;" : "=r"(all) : "r"(a), "r"(b), "r"(c));
  return all;
#else
  return a | b | c;
#endif
}

/// Computes a cell, which takes five operations of three inputs. `row_up` and `row_down` are the vertical differences
/// of the cell's row in the column before and become those of its column; `up` and `down` are the horizontal
/// differences of the row above and become those of the row.
MGPU_HD void cell(uint32_t equal, uint32_t& row_up, uint32_t& row_down, uint32_t& up, uint32_t& down) {
  const uint32_t same = any_of(equal, down, row_down);
  const uint32_t next_up = row_down | ~(same | row_up), next_down = row_up & same;
  row_up = down | ~(same | up);
  row_down = up & same;
  up = next_up, down = next_down;
}

/// Adds `up` and subtracts `down` at a digit: x + up - down = 2 * carry - x', where x' becomes the digit.
MGPU_HD uint32_t add_difference(uint32_t& digit, uint32_t up, uint32_t down) {
  const uint32_t carry = (digit & (up | ~down)) | (up & ~down);
  digit ^= up ^ down;
  return carry;
}

/// The value of the last row in each lane, less a threshold: a two's complement number whose digits are words.
template <int Digits>
struct counter {
  static_assert(step == 4 && Digits >= 3, "the carries of a step reach the third digit");
  uint32_t digits[Digits];

  MGPU_HD void set(int32_t value) {
    MGPU_UNROLL
    for (int at = 0; at < Digits; ++at) digits[at] = value >> at & 1 ? ~0u : 0;
  }

  /// The lanes in which the number is negative.
  MGPU_HD uint32_t negative() const { return digits[Digits - 1]; }

  /// Adds 1 where `up` is set, and subtracts 1 where `down` is, from digit `First` on.
  template <int First>
  MGPU_HD void add(uint32_t up, uint32_t down) {
    uint32_t carry = up;
    MGPU_UNROLL
    for (int at = First; at < Digits; ++at) {
      const uint32_t old = digits[at];
      digits[at] = old ^ carry ^ down;
      carry = (old & (carry | down)) | (carry & down);
    }
  }

  /// Adds the differences of two columns at a digit. It takes the first column, after which it counts negatively, and
  /// then the second: `more` and `less` are what the next digit is to add and to subtract.
  template <int At>
  MGPU_HD void add_two(const uint32_t (&up)[2], const uint32_t (&down)[2], uint32_t& more, uint32_t& less) {
    more = add_difference(digits[At], up[0], down[0]);
    less = add_difference(digits[At], down[1], up[1]);
  }

  /// Adds the differences of a step.
  MGPU_HD void add(const differences& by) {
    uint32_t more[2], less[2], most, least;
    add_two<0>({by.up[0], by.up[1]}, {by.down[0], by.down[1]}, more[0], less[0]);
    add_two<0>({by.up[2], by.up[3]}, {by.down[2], by.down[3]}, more[1], less[1]);
    add_two<1>(more, less, most, least);
    add<2>(most, least);
  }

  /// Returns whether the number can have been at most -3 in a column of the step whose differences were added last. It
  /// was then at most -2 after two columns, or is now at most -3.
  MGPU_HD bool is_near(const differences& by) const {
    counter middle = *this;
    uint32_t more, less, ones = ~0u, high = ~0u;
    middle.template add_two<0>({by.down[3], by.down[2]}, {by.up[3], by.up[2]}, more, less);
    middle.template add<1>(more, less);
    MGPU_UNROLL
    for (int at = 0; at < Digits; ++at) {
      ones &= middle.digits[at];
      if (at > 0) high &= digits[at];
    }
    return ((middle.negative() & ~ones) | (negative() & ~high)) != 0;
  }

  /// Returns the number of a lane.
  MGPU_HD int32_t of(int32_t lane) const {
    int32_t value = -static_cast<int32_t>(digits[Digits - 1] >> lane & 1);
    MGPU_UNROLL
    for (int at = Digits - 2; at >= 0; --at) value = 2 * value + static_cast<int32_t>(digits[at] >> lane & 1);
    return value;
  }
};

/// The number of digits that count from -(e + 3) to rows - e - 3 for every e below `rows`.
constexpr int digits_of(int rows) {
  int digits = 3;
  while ((1 << (digits - 1)) < rows + 2) ++digits;
  return digits;
}

}  // namespace search
}  // namespace mgpu
