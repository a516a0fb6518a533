// The heuristics, on Hamming masks that are computed 32 bits at a time in registers, for any length and number
// of shifts. The rules are those of crates/filter/src/cpu/{masks,gatekeeper,snake,original}.rs. Both sequences
// of a pair have the same length.
#pragma once

#include "sequence.cuh"

namespace mgpu {
namespace filter {

/// The planes of 32 bases of a sequence.
struct stretch {
  uint32_t low, high, others;
};

template <bool Others>
MGPU_HD stretch stretch_of(const sequence& s, int32_t from) {
  const bool there = Others && s.has_others;
  return {bits<uint32_t>(s, low, from), bits<uint32_t>(s, high, from),
          there ? bits<uint32_t>(s, others, from) : 0};
}

/// Returns a bit for each base at which two stretches differ.
template <bool Others>
MGPU_HD uint32_t differences(stretch a, stretch b, rule by) {
  const uint32_t differs = (a.low ^ b.low) | (a.high ^ b.high);
  if (!Others) return differs;
  const uint32_t either = a.others | b.others;
  return by.others_match ? differs & ~either : differs | either;
}

/// Two stretches of the read from which those at 32 different shifts are extracted, so that memory is read only
/// once for all of them. Positions before the first base and after the last one have the code of A.
struct shifts {
  stretch first, next;

  /// Returns the shifts `from` to `from` + 31 for the stretch of the segment at `p`.
  template <bool Others>
  static MGPU_HD shifts of(const sequence& read, int32_t p, int32_t from) {
    return {stretch_of<Others>(read, p - from - 31), stretch_of<Others>(read, p - from + 1)};
  }

  /// Returns the read's stretch at shift `from` + `i`.
  template <bool Others>
  MGPU_HD stretch at(uint32_t i) const {
    return {funnel(first.low, next.low, 31 - i), funnel(first.high, next.high, 31 - i),
            Others ? funnel(first.others, next.others, 31 - i) : 0};
  }
};

/// Returns the bits that a shift vacates among the 32 positions from `p` on. Bits past the end are unspecified.
MGPU_HD uint32_t vacated(int32_t shift, int32_t p, int32_t len) {
  return shift > 0 ? below(shift - p) : ~below(len + shift - p);
}

/// Returns the number of ones of the unshifted mask, or a number above `e` if there are more.
template <bool Others>
MGPU_HD uint32_t hamming(const sequence& read, const sequence& segment, rule by) {
  uint32_t sum = 0;
  for (int32_t p = 0; p < static_cast<int32_t>(segment.len) && sum <= by.e; p += 32) {
    const uint32_t mask =
        differences<Others>(stretch_of<Others>(read, p), stretch_of<Others>(segment, p), by);
    sum += ones(mask & below(static_cast<int32_t>(segment.len) - p));
  }
  return sum;
}

/// Turns runs of one or two zeros between ones into ones.
MGPU_HD uint32_t amended(uint32_t mask) {
  return mask | (mask << 1 & (mask >> 1 | mask >> 2)) | (mask << 2 & mask >> 1);
}

/// Returns the edits that GateKeeper-GPU's corrected rule counts, if there are at most e.
template <bool Others>
MGPU_HD uint32_t gatekeeper(const sequence& read, const sequence& segment, rule by) {
  // A stretch has 28 bases, which are whole groups of four, and the two bases on either side that amendment
  // needs.
  constexpr int32_t bases = 28, margin = 2;
  const uint32_t distance = hamming<Others>(read, segment, by);
  if (distance <= by.e) return distance;
  const int32_t len = static_cast<int32_t>(segment.len);
  // This is less than the number of bases; otherwise, the unshifted mask would have decided.
  const int32_t most = static_cast<int32_t>(by.e);
  uint32_t edits = 0;
  for (int32_t at = 0; at < len; at += bases) {
    const int32_t p = at - margin;
    const stretch of_segment = stretch_of<Others>(segment, p);
    const uint32_t valid = below(len - p) & ~below(-p);
    uint32_t all = valid & ~below(margin) & below(margin + bases);
    for (int32_t from = -most; from <= most && all != 0; from += 32) {
      const shifts of_read = shifts::of<Others>(read, p, from);
      const int32_t count = most - from < 31 ? most - from : 31;
      for (int32_t i = 0; i <= count; ++i) {
        const stretch moved = of_read.at<Others>(static_cast<uint32_t>(i));
        const uint32_t mask = differences<Others>(moved, of_segment, by) & valid;
        all &= amended(mask) | vacated(from + i, p, len);
      }
    }
    const uint32_t two = all | all >> 1;
    edits += ones((two | two >> 2) >> margin & 0x01111111u);
    if (edits > by.e) return rejected;
  }
  return edits;
}

/// Returns the number of obstacles on SneakySnake's path, if there are at most e.
template <bool Others>
MGPU_HD uint32_t snake(const sequence& read, const sequence& segment, rule by) {
  const int32_t len = static_cast<int32_t>(segment.len);
  // A shift by the whole length leaves no matches.
  const int32_t most = by.e < segment.len ? static_cast<int32_t>(by.e) : len;
  int32_t at = 0;
  uint32_t edits = 0;
  while (at < len) {
    const stretch of_segment = stretch_of<Others>(segment, at);
    int32_t reach = at;
    for (int32_t from = -most; from <= most; from += 32) {
      const shifts of_read = shifts::of<Others>(read, at, from);
      const int32_t count = most - from < 31 ? most - from : 31;
      for (int32_t i = 0; i <= count; ++i) {
        const int32_t shift = from + i;
        // Positions past the end are obstacles, too.
        const uint32_t past = ~below(len - at);
        const stretch moved = of_read.at<Others>(static_cast<uint32_t>(i));
        uint32_t mask = differences<Others>(moved, of_segment, by) | vacated(shift, at, len) | past;
        int32_t p = at;
        while (mask == 0) {
          p += 32;
          mask = differences<Others>(stretch_of<Others>(read, p - shift),
                                     stretch_of<Others>(segment, p), by);
          mask |= vacated(shift, p, len) | ~below(len - p);
        }
        p += first_one(mask);
        reach = p > reach ? p : reach;
      }
    }
    at = reach;
    if (at >= len) return edits;
    if (++edits > by.e) return rejected;
    ++at;
  }
  return edits;
}

/// Amends a word as the published program does; its top bit is the first base.
MGPU_HD uint32_t amended_word(uint32_t word) {
  const uint32_t filled = amended(word);
  const bool stays = word >> 29 == 5 && (filled >> 28 & 1) == 0;
  return stays ? filled & ~(1u << 30) : filled;
}

/// Returns the edits that the published program counts for the groups of four bits of a word.
MGPU_HD uint32_t published_edits(uint32_t word) {
  constexpr uint32_t first = 0x11111111u;
  const uint32_t a = word & first, b = word >> 1 & first, c = word >> 2 & first, d = word >> 3 & first;
  const uint32_t two = (a & c & ~b) | (b & c & ~a & ~d) | (a & d & ~c) | (b & d & ~c) | (a & d & ~b);
  return ones(a | b | c | d) + ones(two);
}

/// Returns the edits that the published GateKeeper-GPU counts, if there are at most e. It requires at least 17
/// bases, no ambiguous letters, and e of at most 32. Each word of a mask only depends on its own amendment and
/// on its neighbours': the bits that the program carries into a word's top bits are not passed on.
MGPU_HD uint32_t published(const sequence& read, const sequence& segment, rule by) {
  const uint32_t distance = hamming<false>(read, segment, by);
  if (distance <= by.e) return distance;
  if (by.e == 0) return rejected;
  const int32_t len = static_cast<int32_t>(segment.len), padded = (len + 15) / 16 * 16;
  const int32_t words = (padded + 31) / 32, e = static_cast<int32_t>(by.e);
  // The segment, extended by A.
  const auto of_segment = [&](int32_t w) {
    stretch s = stretch_of<false>(segment, 32 * w);
    const uint32_t valid = below(len - 32 * w);
    return stretch{s.low & valid, s.high & valid, 0};
  };
  uint32_t edits = 0;
  for (int32_t w = 0; w < words; ++w) {
    const stretch here = of_segment(w), before = of_segment(w - 1), after = of_segment(w + 1);
    uint32_t all = ~0u;
    for (int32_t shift = -e; shift <= e; ++shift) {
      const auto mask = [&](stretch s, int32_t w) {
        const uint32_t differs = differences<false>(stretch_of<false>(read, 32 * w - shift), s, by);
        return amended_word(reversed(differs & below(padded - 32 * w)));
      };
      uint32_t t = mask(here, w);
      if (w > 0 && t != 0) {
        uint32_t p = mask(before, w - 1);
        if (p >> 2 & t >> 31 & 1) p |= 3;
        if (p >> 1 & t >> 30 & 1) t |= 1u << 31, p |= 1;
        if (p & t >> 29 & 1) t |= 3u << 30;
      }
      if (w + 1 < words) {
        const uint32_t n = mask(after, w + 1);
        if (t >> 2 & n >> 31 & 1) t |= 3;
        if (t >> 1 & n >> 30 & 1) t |= 1;
      }
      if (shift > 0 && w == 0) t |= 1u << (32 - shift);
      if (shift < 0 && w == words - 1) t |= 1u << (-shift - 1);
      all &= t;
    }
    edits += published_edits(all);
    if (edits > by.e) return rejected;
  }
  return edits;
}

}  // namespace filter
}  // namespace mgpu
