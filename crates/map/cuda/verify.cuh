// Verification of windows: crates/map/src/cpu/verify/{lanes,hamming,scan}.rs.
#pragma once

#include "candidates.cuh"

namespace mgpu {
namespace map {

/// Returns the key of a good end: the query's number within the part, the position and, lowest, the edits.
MGPU_HD uint64_t end_of(const task& t, uint32_t q, uint64_t position, uint32_t edits) {
  return (uint64_t{q - t.part_query} << t.position_bits | position) << t.edit_bits | edits;
}

/// Appends a good end. If there is no more room, it is only counted.
template <class Block>
MGPU_HD void emit(Block& me, const task& t, uint64_t end) {
  const uint64_t place = me.add(t.counts + ends, uint64_t{1});
  if (place < t.end_room) t.good_ends[place] = end;
}

/// A lane: a band of up to 32 diagonals as the bits of a word that moves along with the query's bases.
struct lane {
  uint32_t up = 0, down = 0, sum = 0;

  /// Processes the next base, given a bit for each diagonal on which it matches. Returns the diagonals whose
  /// number of edits does not change.
  MGPU_HD uint32_t step(uint32_t equal, uint32_t band) {
    const uint32_t inside = (1u << (band - 1)) - 1;
    const uint32_t zero = (((equal & up) + up) ^ up) | equal | down;
    const uint32_t more = down | ~(zero | up), less = zero & up;
    // Bits above the band must not enter it.
    const uint32_t under = zero >> 1 & inside;
    up = less | ~(under | more);
    down = under & more;
    sum += ~zero >> (band - 1) & 1;
    return zero;
  }

  /// Returns the edits of end `bit` + 1 minus those of end `bit`.
  MGPU_HD int32_t across(uint32_t bit) const {
    return static_cast<int32_t>(up >> bit & 1) - static_cast<int32_t>(down >> bit & 1);
  }
};

/// 64 bases of the text (two words per plane) and 32 of a query.
struct stretch_pair {
  uint32_t text[2][2], read[2];

  MGPU_HD void load(const task& t, const query& of, uint64_t at, uint32_t base) {
    MGPU_UNROLL
    for (uint32_t plane = 0; plane < 2; ++plane) {
      text[plane][0] = text_bits(t, plane, at + base);
      text[plane][1] = text_bits(t, plane, at + base + 32);
      read[plane] = query_word(t, of, plane, base / 32);
    }
  }

  /// Returns a bit for each diagonal of the band on which base `k` of the query matches.
  MGPU_HD uint32_t equal(uint32_t k) const {
    const uint32_t low = funnel(text[0][0], text[0][1], k) ^ as_bit(read[0], k);
    const uint32_t high = funnel(text[1][0], text[1][1], k) ^ as_bit(read[1], k);
    return ~(low | high);
  }
};

/// Verifies the windows that fit into lanes: appends their good ends, and counts candidates with and without ends.
/// Launch: a grid-stride loop, one window per thread.
/// Cost: O(bases) steps on one word: Myers' bit vectors along the diagonal. 20 bytes of shared memory for
/// counting; 48 registers limit occupancy to 10 blocks of 128 threads per multiprocessor.
__global__ void __launch_bounds__(threads) lanes_kernel(task t) {
  block<threads> me;
  const uint64_t all = t.counts[plain], stride = uint64_t{me.count()} * threads;
  uint32_t dropped = 0, passed = 0;
  for (uint64_t i = uint64_t{me.index()} * threads + me.thread(); i < all; i += stride) {
    const window w = t.windows[i];
    const query of = t.queries[w.query];
    const uint32_t band = band_of(of.edits);
    const uint32_t between = (1u << (band - 1)) - 1;
    const uint64_t at = uint64_t{w.first} - t.bias - of.edits;
    lane mine;
    stretch_pair bases;
    bool alive = true;
    for (uint32_t base = 0; base < of.len && alive; base += 32) {
      bases.load(t, of, at, base);
      if (of.len - base >= 32) {
        MGPU_UNROLL
        for (uint32_t k = 0; k < 32; ++k) mine.step(bases.equal(k), band);
      } else {
        for (uint32_t k = 0; k < of.len - base; ++k) mine.step(bases.equal(k), band);
      }
      // The edits at any end of the band are at least `sum` minus the set bits of `up`, and never decrease.
      alive = mine.sum <= of.edits + ones(mine.up & between);
    }
    // The ends that belong to the window.
    const uint32_t belong = below(static_cast<int32_t>(2 * of.edits + w.width + 1));
    uint32_t good = 0;
    if (alive) {
      int32_t edits = static_cast<int32_t>(mine.sum);
      for (uint32_t bit = band; bit-- > 0;) {
        if (bit + 1 < band) edits -= mine.across(bit);
        good |= static_cast<uint32_t>(edits <= static_cast<int32_t>(of.edits)) << bit;
      }
      good &= belong;
    }
    if (good != 0) {
      uint64_t place = me.add(t.counts + ends, uint64_t{ones(good)});
      int32_t edits = static_cast<int32_t>(mine.sum);
      for (uint32_t bit = band; bit-- > 0;) {
        if (bit + 1 < band) edits -= mine.across(bit);
        if ((good >> bit & 1) == 0 || place >= t.end_room) continue;
        t.good_ends[place++] = end_of(t, w.query, at + of.len - 1 + bit, static_cast<uint32_t>(edits));
      }
    }
    (good != 0 ? passed : dropped) += w.candidates;
  }
  count(me, t, rejected, dropped);
  count(me, t, verified, passed);
}

/// Returns a bit for each mismatch of 64 bases of a query, from base 64 × `word` on, with the reference.
MGPU_HD uint64_t mismatches(const task& t, const query& of, uint64_t diagonal, uint32_t word) {
  uint64_t differs = 0, unknown = 0;
  for (uint32_t half = 0; half < 2; ++half) {
    const uint32_t i = 2 * word + half;
    const uint64_t at = diagonal + 32 * i;
    if (32 * i >= of.len) break;
    const uint32_t low = text_bits(t, 0, at) ^ query_word(t, of, 0, i);
    const uint32_t high = text_bits(t, 1, at) ^ query_word(t, of, 1, i);
    uint32_t others = of.unknown > 0 ? query_word(t, of, 2, i) : 0;
    if (t.has_others) others |= text_bits(t, 2, at);
    differs |= uint64_t{low | high} << (32 * half);
    unknown |= uint64_t{others} << (32 * half);
  }
  const uint32_t left = of.len - 64 * word;
  const uint64_t kept = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
  return (t.others_match ? differs & ~unknown : differs | unknown) & kept;
}

/// Verifies windows with substitutions only: counts the mismatches on each diagonal.
/// Launch: a grid-stride loop, one window per thread.
/// Cost: O(diagonals × words). No shared memory; 10 blocks of 128 threads per multiprocessor.
__global__ void __launch_bounds__(threads) hamming_kernel(task t) {
  block<threads> me;
  const uint64_t all = t.counts[general], stride = uint64_t{me.count()} * threads;
  for (uint64_t i = uint64_t{me.index()} * threads + me.thread(); i < all; i += stride) {
    const window w = t.windows[t.window_room - 1 - i];
    const query of = t.queries[w.query];
    const int64_t first = int64_t{w.first} - t.bias, last = first + w.width;
    for (uint32_t contig = contig_at(t, first); contig < t.contig_count; ++contig) {
      const int64_t start = t.contigs[2 * contig], end = t.contigs[2 * contig + 1];
      if (start > last) break;
      const int64_t from = first > start ? first : start;
      const int64_t to = last < end - of.len ? last : end - of.len;
      for (int64_t diagonal = from; diagonal <= to; ++diagonal) {
        uint32_t edits = 0;
        for (uint32_t word = 0; 64 * word < of.len && edits <= of.edits; ++word) {
          edits += ones(mismatches(t, of, static_cast<uint64_t>(diagonal), word));
        }
        if (edits <= of.edits) {
          emit(me, t, end_of(t, w.query, static_cast<uint64_t>(diagonal) + of.len - 1, edits));
        }
      }
    }
  }
}

/// Calls `found` with the good ends among the positions `from` to `to` of one contig. The bit vectors have a
/// bit for each base of the query.
template <int Words, class Found>
MGPU_HD void scan(const task& t, const query& of, uint64_t from, uint64_t to, Found found) {
  uint64_t up[Words], down[Words];
  MGPU_UNROLL
  for (int w = 0; w < Words; ++w) {
    up[w] = ~uint64_t{0};
    down[w] = 0;
  }
  const int32_t words = static_cast<int32_t>((of.len + 63) / 64);
  const uint64_t* planes = t.words + of.at;
  uint32_t score = of.len;
  for (uint64_t position = from; position < to; ++position) {
    const uint32_t word = static_cast<uint32_t>(position / 32), bit = position % 32;
    const uint64_t low = uint64_t{0} - (t.planes[word] >> bit & 1);
    const uint64_t high = uint64_t{0} - (t.planes[uint64_t{t.stride} + word] >> bit & 1);
    const bool other =
        t.has_others && (t.planes[2 * uint64_t{t.stride} + word] >> bit & 1) != 0;
    uint64_t more_in = 0, less_in = 0;
    MGPU_UNROLL
    for (int w = 0; w < Words; ++w) {
      if (w >= words) continue;
      uint64_t equal = ~((planes[w] ^ low) | (planes[words + w] ^ high));
      const uint64_t unknown = of.unknown > 0 ? planes[2 * words + w] : 0;
      equal = t.others_match ? equal | unknown : equal & ~unknown;
      if (other) equal = t.others_match ? ~uint64_t{0} : 0;
      const uint64_t with = equal | less_in;
      const uint64_t zero = (((with & up[w]) + up[w]) ^ up[w]) | with | down[w];
      const uint64_t more = down[w] | ~(zero | up[w]), less = zero & up[w];
      if (w == words - 1) {
        score += static_cast<uint32_t>(more >> ((of.len - 1) % 64) & 1);
        score -= static_cast<uint32_t>(less >> ((of.len - 1) % 64) & 1);
      }
      const uint64_t plus = more << 1 | more_in, minus = less << 1 | less_in;
      more_in = more >> 63;
      less_in = less >> 63;
      up[w] = minus | ~(zero | plus);
      down[w] = plus & zero;
    }
    if (score <= of.edits) found(position, score);
  }
}

/// Verifies windows with any letters, number of edits and place, for reads of up to 64 × Words bases.
/// Launch: a grid-stride loop, one window per thread, from the back of `windows`.
/// Cost: O((bases + width) × Words): Myers' bit vectors in registers. No shared memory; 9 (2 words) to 4 (16
/// words) blocks of 128 threads per multiprocessor.
template <int Words>
__global__ void __launch_bounds__(threads) scan_kernel(task t) {
  block<threads> me;
  const uint64_t all = t.counts[general], stride = uint64_t{me.count()} * threads;
  for (uint64_t i = uint64_t{me.index()} * threads + me.thread(); i < all; i += stride) {
    const window w = t.windows[t.window_room - 1 - i];
    const query of = t.queries[w.query];
    const int64_t e = of.edits, first = int64_t{w.first} - t.bias;
    const int64_t from = first - e, to = first + w.width + of.len + e;
    const int64_t least = first + of.len - 1 - e, most = first + of.len - 1 + w.width + e;
    for (uint32_t contig = contig_at(t, from); contig < t.contig_count; ++contig) {
      int64_t start = t.contigs[2 * contig], end = t.contigs[2 * contig + 1];
      if (start >= to) break;
      start = from > start ? from : start;
      end = to < end ? to : end;
      if (start >= end) continue;
      scan<Words>(t, of, start, end, [&](uint64_t position, uint32_t edits) {
        const int64_t at = static_cast<int64_t>(position);
        if (least <= at && at <= most) emit(me, t, end_of(t, w.query, position, edits));
      });
    }
  }
}

}  // namespace map
}  // namespace mgpu
