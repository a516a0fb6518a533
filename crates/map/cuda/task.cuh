// What the kernels of mapping work on: the index in device memory, a batch of reads, and what is
// found of them. The Rust of each stage (crates/map/src/cpu/{seeds,candidates,verify,silencer}.rs,
// crates/map/src/trace.rs) is the truth; tests hold what the kernels find against it.
#pragma once

#include "block.cuh"

namespace mgpu {
namespace map {

constexpr unsigned threads = 128;

/// A read on one strand: Rust's Query. Its planes are words of 64 bits, from number `at` on.
struct query {
  uint32_t at;
  uint32_t len;
  /// Letters that are no bases; without any there is no third plane.
  uint32_t unknown;
  uint32_t edits;
};

/// Neighbouring candidates: Rust's Window.
struct window {
  uint32_t query;
  /// The first diagonal, and `bias` more.
  uint32_t first;
  uint32_t width;
  uint32_t candidates;
};

/// Numbers of the counters of a batch.
enum counter : uint32_t {
  candidates,
  rejected,
  verified,
  ends,
  hits,
  improved,
  // Of a slice: windows for lanes and others, and keys that were kept.
  plain,
  general,
  kept,
  counters
};

/// A stretch of a read that is looked up, and how often it occurs from where on in the positions.
struct seed {
  uint32_t query;
  uint32_t offset;
  uint32_t start;
  uint32_t count;
};

/// Rust's Task: the same members in the same order.
struct task {
  // The index. Planes: low, high and, if there are any, other letters, `stride` words of 32 each.
  const uint32_t* planes;
  const uint32_t* positions;
  const uint32_t* table;
  /// Of each contig its first position and that behind its last.
  const uint32_t* contigs;
  /// Stretches that match everything, each at most a bounded number of bases.
  const uint32_t* gaps;

  // The batch. Seeds of query q are numbers slots[q] to slots[q + 1].
  const uint64_t* words;
  const query* queries;
  const uint32_t* slots;
  /// For the rules of the filter: reads between letters that match everything, three planes each,
  /// and the word where each begins.
  const uint64_t* extended;
  const uint32_t* extended_at;

  // What is found of it.
  seed* seeds;
  uint32_t* seed_counts;
  /// How many occurrences the seeds before one have, and the queries before one.
  uint64_t* offsets;
  uint64_t* query_offsets;
  uint32_t* to_improve;
  uint64_t* keys;
  window* windows;
  uint64_t* good_ends;
  uint8_t* states;
  uint64_t* found_hits;
  uint16_t* scripts;
  uint64_t* counts;
  /// For improving seeds, when there are no windows.
  uint32_t* scratch;

  uint64_t scratch_bytes;
  uint64_t window_room;
  uint64_t end_room;
  uint32_t stride;
  uint32_t has_others;
  uint32_t position_count;
  uint32_t contig_count;
  uint32_t text_end;
  uint32_t k;
  uint32_t gap_count;

  uint32_t query_count;
  uint32_t slot_count;
  /// The most seeds, and the longest read.
  uint32_t max_seeds;
  uint32_t longest;
  /// Rust's CHEAP, MAX and BIAS.
  uint32_t cheap;
  uint32_t most;
  uint32_t bias;

  // How keys are put together.
  uint32_t diagonal_bits;
  uint32_t position_bits;
  uint32_t edit_bits;

  // The rules.
  uint32_t hamming;
  uint32_t others_match;
  /// Candidates are rejected by lanes; else all windows are scanned.
  uint32_t in_lanes;
  /// 0: no rule of the filter, 1: GateKeeper's, 2: SneakySnake's.
  uint32_t rule;
  uint32_t margin;

  // What is under way: queries, the first occurrence of their seeds, and how many there are, of
  // occurrences, keys, ends or hits, as the kernel has it.
  uint64_t base;
  uint64_t items;
  uint32_t first_query;
  uint32_t last_query;
  /// The first query of the part whose ends are collected.
  uint32_t part_query;
  uint32_t part_end;
  /// Diagonals of a slice, if a query is taken slice by slice.
  uint64_t slice_from;
  uint64_t slice_to;
};

/// The last of `count` + 1 ascending numbers that is not above `value`; the first is not.
template <class Number>
MGPU_HD uint32_t last_within(const Number* numbers, uint32_t from, uint32_t to, uint64_t value) {
  while (to - from > 1) {
    const uint32_t middle = from + (to - from) / 2;
    if (numbers[middle] <= value) {
      from = middle;
    } else {
      to = middle;
    }
  }
  return from;
}

}  // namespace map
}  // namespace mgpu
