// Building of an index: see crates/map/src/cuda/build.rs. The positions of some consecutive parts are selected
// together with their next 32 bases as keys, sorted by these, and the start of each k-mer is found among the
// sorted keys.
#pragma once

#include "portable.cuh"
#include "seeds.cuh"

namespace mgpu {
namespace map {

/// Consecutive positions of one stretch of bases: the first, and the one after the last.
struct piece {
  uint32_t first, end;
};

/// A task of building an index, with the layout of Rust's BuildTask.
struct build_task {
  /// Planes of low and high bits, `stride` words of 32 bits each.
  const uint32_t* planes;
  const piece* pieces;
  /// The number of positions of each piece that are in the parts, and of those in all pieces before it.
  uint32_t* counts;
  const uint64_t* offsets;
  uint64_t* keys;
  uint32_t* positions;
  uint32_t* table;
  uint64_t items;
  uint32_t stride;
  uint32_t piece_count;
  /// The range of parts. The part of a position is the highest byte of its key.
  uint32_t first_part, last_part;
  /// The range of k-mers that begin with these parts, and the number of index positions before the first one.
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

/// Counts the positions of each piece that belong to the parts, into `counts`.
/// Launch: one block of `threads` threads per piece; a thread takes every `threads`-th position.
/// Cost: O(positions). 20 bytes of shared memory; full occupancy.
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

/// Writes the positions of each piece that belong to the parts, with their keys, from `offsets` of the piece
/// on. Their order is kept, because the sort that follows is stable and ties must be in order of position.
/// Launch: one block of `threads` threads per piece; a prefix sum over the block gives each thread its place.
/// Cost: O(positions). 20 bytes of shared memory; full occupancy.
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

/// Fills in the table: for each k-mer of the parts, the number of the first position whose key begins with it.
/// Launch: one thread per sorted key, and one more for the end; each writes the entries of the k-mers after the
/// key before its own, up to its own.
/// Cost: one write for each k-mer between two keys. No shared memory; full occupancy.
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
