// Building an index: crates/map/src/run/build.rs. Positions whose first bases are of some parts are
// selected with their 32 bases, sorted by these, and k-mers are looked up in the result.
#pragma once

#include "portable.cuh"
#include "seeds.cuh"

namespace mgpu {
namespace map {

/// Positions of one stretch of bases: the first, and that behind the last.
struct piece {
  uint32_t first, end;
};

/// Rust's BuildTask.
struct build_task {
  /// Low and high bits, `stride` words of 32 each.
  const uint32_t* planes;
  const piece* pieces;
  /// How many positions each piece has of the parts, and all before it.
  uint32_t* counts;
  const uint64_t* offsets;
  uint64_t* keys;
  uint32_t* positions;
  uint32_t* table;
  uint64_t items;
  uint32_t stride;
  uint32_t piece_count;
  /// Parts are the first bytes of keys.
  uint32_t first_part, last_part;
  /// The k-mers that begin with these parts, and the number of the first position.
  uint32_t k, first_kmer, last_kmer, base;
};

MGPU_HD uint64_t key_at(const build_task& t, uint32_t position) {
  const uint32_t* low = t.planes + position / 32;
  const uint32_t* high = low + t.stride;
  return interleaved(funnel(low[0], low[1], position % 32), funnel(high[0], high[1], position % 32));
}

MGPU_HD bool is_wanted(const build_task& t, uint64_t key) {
  const uint32_t part = static_cast<uint32_t>(key >> 56);
  return t.first_part <= part && part < t.last_part;
}

/// A piece a block: how many of its positions are wanted.
/// O(positions). Shared: 20 bytes; full occupancy.
__global__ void __launch_bounds__(threads) count_positions_kernel(build_task t) {
  block<threads> me;
  const piece of = t.pieces[me.index()];
  uint32_t found = 0;
  for (uint32_t at = of.first + me.thread(); at < of.end; at += threads) {
    found += is_wanted(t, key_at(t, at));
  }
  uint32_t all;
  me.sum_before(found, all);
  if (me.thread() == 0) t.counts[me.index()] = all;
}

/// A piece a block: its positions that are wanted with their keys, in order.
/// O(positions). Shared: 20 bytes; full occupancy.
__global__ void __launch_bounds__(threads) take_positions_kernel(build_task t) {
  block<threads> me;
  const piece of = t.pieces[me.index()];
  uint64_t to = t.offsets[me.index()];
  for (uint32_t at = of.first; at < of.end; at += threads) {
    const uint32_t mine = at + me.thread();
    const uint64_t key = mine < of.end ? key_at(t, mine) : 0;
    const bool wanted = mine < of.end && is_wanted(t, key);
    uint32_t all;
    const uint64_t place = to + me.sum_before(wanted, all);
    if (wanted) {
      t.keys[place] = key;
      t.positions[place] = mine;
    }
    to += all;
  }
}

/// A sorted key a thread, and one more: where the k-mers up to its own begin.
/// O(1), and at most as many writes as there are k-mers between two keys. No shared memory; full occupancy.
__global__ void __launch_bounds__(threads) table_kernel(build_task t) {
  block<threads> me;
  const uint64_t i = uint64_t{me.index()} * threads + me.thread();
  if (i > t.items) return;
  const uint32_t shift = 64 - 2 * t.k;
  const uint32_t from = i == 0 ? t.first_kmer : static_cast<uint32_t>(t.keys[i - 1] >> shift) + 1;
  const uint32_t to = i == t.items ? t.last_kmer : static_cast<uint32_t>(t.keys[i] >> shift) + 1;
  for (uint32_t kmer = from; kmer < to; ++kmer) {
    t.table[kmer - t.first_kmer] = t.base + static_cast<uint32_t>(i);
  }
}

}  // namespace map
}  // namespace mgpu
