// The data of the mapping kernels: the index in device memory, a batch of reads, and the results. The Rust code
// of each stage (crates/map/src/cpu/{seeds,candidates,verify,silencer}.rs, crates/map/src/trace.rs) is the
// reference implementation; tests compare the kernels' results with its results.
#pragma once

#include "block.cuh"

namespace mgpu {
namespace map {

constexpr unsigned threads = 128;

/// A read on one strand, as Rust's QueryEntry. Its planes are words of 64 bits, from number `at` on.
struct query {
  uint32_t at;
  uint32_t len;
  /// The number of ambiguous letters; if it is 0, the query has no third plane.
  uint32_t unknown;
  uint32_t edits;
};

/// A range of adjacent diagonals of a query, as Rust's Window.
struct window {
  uint32_t query;
  /// The first diagonal plus `bias`.
  uint32_t first;
  uint32_t width;
  uint32_t candidates;
};

/// The numbers of the counters of a part.
enum counter : uint32_t {
  candidates,
  rejected,
  verified,
  ends,
  hits,
  improved,
  // Counters that are reset for each slice: windows for lanes, other windows, and kept keys.
  plain,
  general,
  kept,
  counters
};

/// A stretch of a read that was looked up: `count` occurrences from `start` on in the list of positions.
struct seed {
  uint32_t query;
  uint32_t offset;
  uint32_t start;
  uint32_t count;
};

/// A task of mapping, with the layout of Rust's Task: its members are the same, in the same order.
struct task {
  // The index. Planes of low bits, high bits and, if there are any, ambiguous letters, `stride` words of 32
  // bits each.
  const uint32_t* planes;
  const uint32_t* positions;
  const uint32_t* table;
  /// The first position of each contig, and the position after its last one.
  const uint32_t* contigs;
  /// Runs of ambiguous letters that match everything, in pieces of bounded length.
  const uint32_t* gaps;

  // The batch. The seeds of query q have the numbers slots[q] to slots[q + 1].
  const uint64_t* words;
  const query* queries;
  const uint32_t* slots;
  /// The reads with letters on both sides that match everything, for the rules of the filter: three planes
  /// each, and the word where each one begins.
  const uint64_t* extended;
  const uint32_t* extended_at;

  // The results of the batch.
  seed* seeds;
  uint32_t* seed_counts;
  /// The number of occurrences of all seeds before each seed, and of all queries before each query.
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
  /// Memory for improving seeds and for tracing gaps. It is the memory of the windows, which are not in use at
  /// these times.
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
  /// The maximum number of seeds of a query, and the length of the longest read.
  uint32_t max_seeds;
  uint32_t longest;
  /// Rust's CHEAP, MAX_SORTED and BIAS.
  uint32_t cheap;
  uint32_t most;
  uint32_t bias;

  // Bits of the fields of keys.
  uint32_t diagonal_bits;
  uint32_t position_bits;
  uint32_t edit_bits;

  // The configuration.
  uint32_t hamming;
  uint32_t others_match;
  /// Whether windows are verified in lanes where possible; otherwise all are scanned.
  uint32_t in_lanes;
  /// The rule of the filter. 0: none, 1: GateKeeper's, 2: SneakySnake's.
  uint32_t rule;
  uint32_t margin;

  // The current work: a range of queries, the first occurrence of their seeds, and the number of items of the
  // kernel, which are occurrences, keys, ends or hits.
  uint64_t base;
  uint64_t items;
  uint32_t first_query;
  uint32_t last_query;
  /// The queries of the part whose ends are collected.
  uint32_t part_query;
  uint32_t part_end;
  /// The range of diagonals of the current slice, if a query is processed slice by slice.
  uint64_t slice_from;
  uint64_t slice_to;
};

/// Returns the index of the last of the ascending numbers `from` to `to`, exclusive, that is at most `value`.
/// The first of these numbers must satisfy this.
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
