// Scripts of hits: crates/map/src/trace.rs. Among the alignments with a hit's edits, the one with the fewest
// gaps is wanted, with its gaps leftmost. Hits that these kernels cannot decide are left to the host.
#pragma once

#include "hits.cuh"

namespace mgpu {
namespace map {

/// A script has one entry for each edit: its kind and the number of matches before it. The first entry also
/// has, between these two fields, the number of bases by which the alignment ends after the hit.
constexpr uint32_t mismatch = 1, insertion = 2, deletion = 3;
constexpr uint32_t kind_shift = 14, end_shift = 10;
/// The first entry of a script that is left to the host. It is not a valid entry, because no alignment ends as
/// far after its hit.
constexpr uint16_t left_to_host = 0xffff;
/// The maximum number of edits of a script without gaps. With gaps it is five for each word of a row of the
/// band.
constexpr uint32_t max_edits_traced = 15;

/// A hit, decoded from its key, with its query.
struct traced {
  query of;
  uint32_t position, edits;

  MGPU_HD static traced at(const task& t, uint64_t number) {
    const uint64_t key = t.found_hits[number], head = key >> 1 >> t.position_bits;
    const uint32_t rank = static_cast<uint32_t>(head >> t.edit_bits) * 2 + (key & 1);
    return {t.queries[t.part_query + rank], static_cast<uint32_t>(key >> 1 & ones64(t.position_bits)),
            static_cast<uint32_t>(head & ones64(t.edit_bits))};
  }
};

/// Writes the script of the alignment without gaps; returns false if it has more edits than the hit.
MGPU_HD bool on_diagonal(const task& t, const query& of, uint64_t start, uint32_t edits,
                         uint16_t* script) {
  uint32_t found = 0, at = 0;
  for (uint32_t word = 0; 64 * word < of.len; ++word) {
    for (uint64_t differs = mismatches(t, of, start, word); differs != 0; differs &= differs - 1) {
      const uint32_t next = 64 * word + ones((differs & (~differs + 1)) - 1);
      if (++found > edits) return false;
      script[found - 1] = static_cast<uint16_t>(mismatch << kind_shift | (next - at));
      at = next + 1;
    }
  }
  return true;
}

/// Writes the scripts of hits without gaps, `width` entries each, and marks all others as left to the host.
/// Launch: a grid-stride loop, one sorted hit per thread.
/// Cost: O(bases). No shared memory; full occupancy.
__global__ void __launch_bounds__(threads) trace_kernel(task t, uint64_t first, uint32_t width) {
  block<threads> me;
  const uint64_t mine = uint64_t{me.index()} * threads + me.thread();
  const uint64_t stride = uint64_t{me.count()} * threads;
  for (uint64_t i = mine; i < t.items; i += stride) {
    const traced hit = traced::at(t, first + i);
    uint16_t* script = t.scripts + i * width;
    if (hit.edits == 0) continue;
    const int64_t start = int64_t{hit.position} + 1 - hit.of.len;
    const bool known = hit.of.unknown == 0 && hit.edits <= max_edits_traced &&
                       is_plain(t, start, int64_t{hit.position} + 1);
    if (!known || !on_diagonal(t, hit.of, static_cast<uint64_t>(start), hit.edits, script)) {
      script[0] = left_to_host;
    }
  }
}

/// A thread's words for the rows of a band. Those of neighbouring threads are adjacent, so that a warp's
/// accesses coalesce.
struct rows_of_ways {
  uint64_t* first;
  uint64_t stride;
  uint32_t words;

  MGPU_HD uint64_t& at(uint32_t row, uint32_t word) const {
    return first[(uint64_t{row} * words + word) * stride];
  }
};

/// The band of a hit: all alignments with its number of edits that end at its position, or after it by
/// at most that number of positions. On diagonal b, base `row` of the query is at `first + row + b`.
template <uint32_t Words>
struct band {
  /// The four bits of a cell: the steps that lead to it with the fewest edits and then the fewest gaps.
  static constexpr uint32_t aligned = 1, deleted = 2, deletion_begins = 4, insertion_begins = 8;
  static constexpr uint32_t cells = 16, room = cells * Words;
  /// Units of costs: edits are counted in the upper 16 bits, gaps in the lower ones.
  static constexpr uint32_t edit = 1u << 16, gap = 1, far = 1u << 30;

  const task& t;
  const query& of;
  uint64_t first;
  uint32_t edits, width;
  rows_of_ways ways;

  /// Returns a bit for each diagonal on which base `row` of the query matches the reference.
  MGPU_HD uint32_t same(uint32_t row) const {
    uint32_t differs = 0;
    for (uint32_t plane = 0; plane < 2; ++plane) {
      const uint32_t base = 0u - (query_word(t, of, plane, row / 32) >> row % 32 & 1);
      differs |= text_bits(t, plane, first + row) ^ base;
    }
    return ~differs;
  }

  /// Computes the steps of all rows; returns the diagonal of the end with the fewest gaps, or `room` if no end
  /// has the hit's number of edits.
  MGPU_HD uint32_t fill() const {
    uint32_t any[room], inserted[room];
    MGPU_UNROLL
    for (uint32_t b = 0; b < room; ++b) {
      any[b] = b < width ? 0 : far;
      inserted[b] = far;
    }
    for (uint32_t row = 0; row < of.len; ++row) {
      const uint32_t matches = same(row);
      uint32_t left = far, longest = far;
      uint64_t word = 0;
      MGPU_UNROLL
      for (uint32_t b = 0; b < room; ++b) {
        const bool last = b + 1 == room;
        const uint32_t opened = (last ? far : any[last ? b : b + 1]) + edit + gap;
        const uint32_t longer = (last ? far : inserted[last ? b : b + 1]) + edit;
        const uint32_t insert = opened < longer ? opened : longer;
        const uint32_t begins = left + edit + gap, goes_on = longest + edit;
        const uint32_t remove = begins < goes_on ? begins : goes_on;
        const uint32_t straight = any[b] + (matches >> b & 1 ? 0 : edit);
        uint32_t least = straight < remove ? straight : remove;
        least = least < insert ? least : insert;
        const uint64_t way = (least == straight ? aligned : 0) | (least == remove ? deleted : 0) |
                             (begins <= goes_on ? deletion_begins : 0) |
                             (opened <= longer ? insertion_begins : 0);
        word |= way << 4 * (b % cells);
        if (b % cells == cells - 1) {
          ways.at(row, b / cells) = word;
          word = 0;
        }
        const bool inside = b < width;
        any[b] = inside && least < far ? least : far;
        inserted[b] = inside && insert < far ? insert : far;
        left = any[b];
        longest = inside && remove < far ? remove : far;
      }
    }
    uint32_t end = room, fewest = far;
    MGPU_UNROLL
    for (uint32_t b = 0; b < room; ++b) {
      if (b >= edits && b <= 2 * edits && any[b] / edit == edits && any[b] < fewest) {
        end = b;
        fewest = any[b];
      }
    }
    return end;
  }

  MGPU_HD bool has(uint32_t row, uint32_t b, uint32_t way) const {
    return ways.at(row, b / cells) >> 4 * (b % cells) & way;
  }

  /// Follows the steps backwards from an end, and writes the edits, the last one first; returns false if their
  /// number is not the hit's number of edits.
  MGPU_HD bool walk(uint32_t end, uint16_t* script) const {
    uint32_t rows = of.len, b = end, left = edits, matches = 0, kind = 0;
    // An edit is written once the number of matches before it is known.
    const auto take = [&](uint32_t next) {
      if (kind != 0) script[left] = static_cast<uint16_t>(kind << kind_shift | matches);
      if (next != 0 && left == 0) return false;
      left -= next != 0;
      kind = next;
      matches = 0;
      return true;
    };
    while (rows > 0) {
      if (has(rows - 1, b, aligned)) {
        --rows;
        if (same(rows) >> b & 1) {
          ++matches;
        } else if (!take(mismatch)) {
          return false;
        }
      } else if (has(rows - 1, b, deleted)) {
        for (bool ends = false; !ends; --b) {
          ends = has(rows - 1, b, deletion_begins);
          if (!take(deletion)) return false;
        }
      } else {
        for (bool ends = false; !ends; --rows, ++b) {
          ends = has(rows - 1, b, insertion_begins);
          if (!take(insertion)) return false;
        }
      }
    }
    if (left != 0) return false;
    take(0);
    script[0] |= static_cast<uint16_t>((end - edits) << end_shift);
    return true;
  }
};

/// Returns the number of bytes for the steps of a hit, with `words` words per row.
MGPU_HD uint64_t bytes_of_ways(const task& t, uint32_t words) { return uint64_t{t.longest} * words * 8; }

/// Writes the scripts of hits with gaps whose band takes `Words` words per row: hits with up to 5 × Words edits
/// that the stages before have left to the host.
/// Launch: a grid-stride loop, one hit per thread, with at most as many threads as `scratch` has room for.
/// Cost: O(bases × Words), with the rows in device memory. No shared memory; registers limit occupancy to a
/// half (one word) or a quarter (two words) of a multiprocessor's threads.
template <uint32_t Words>
__global__ void __launch_bounds__(threads) trace_gaps_kernel(task t, uint64_t first, uint32_t width) {
  block<threads> me;
  const uint64_t mine = uint64_t{me.index()} * threads + me.thread();
  const uint64_t stride = uint64_t{me.count()} * threads;
  const rows_of_ways ways{reinterpret_cast<uint64_t*>(t.scratch) + mine, stride, Words};
  for (uint64_t i = mine; i < t.items; i += stride) {
    uint16_t* script = t.scripts + i * width;
    const traced hit = traced::at(t, first + i);
    const uint32_t edits = hit.edits;
    if (edits <= 5 * (Words - 1) || edits > 5 * Words || script[0] != left_to_host) continue;
    const int64_t start = int64_t{hit.position} + 1 - hit.of.len - edits;
    const int64_t behind = int64_t{hit.position} + 1 + 2 * edits;
    if (hit.of.unknown != 0 || !is_plain(t, start, behind)) continue;
    const band<Words> around{t, hit.of, static_cast<uint64_t>(start), edits, 3 * edits + 1, ways};
    const uint32_t end = around.fill();
    if (end == band<Words>::room || !around.walk(end, script)) script[0] = left_to_host;
  }
}

}  // namespace map
}  // namespace mgpu
