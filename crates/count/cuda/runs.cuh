// Phase 2, last step: runs of equal keys become k-mers with counts and a histogram of all counts. Counts outside
// the limits are dropped before anything leaves the device.
//
// Keys are sorted by their low bits (scramble.cuh). A block examines a tile of keys and counts each run that
// lies within the tile and has only one k-mer. The other runs (those that continue in the next tile, and the few
// in which different k-mers share the low bits) are listed, and then counted one thread a run.
#pragma once

#include "block.cuh"
#include "partition.cuh"
#include "scramble.cuh"

namespace mgpu {

constexpr int run_threads = 256;
constexpr int run_rows = 16;
constexpr int run_tile = run_threads * run_rows;
/// The limit below which counts have a counter each; larger ones are listed.
constexpr uint32_t counters = 1024;

/// The results of a search for runs, all 0 at first.
struct run_totals {
  /// The number of kept k-mers.
  uint64_t kept;
  /// The number of runs left over.
  uint64_t left;
  /// The number of counts of `counters` or more.
  uint64_t large;
  /// The number of k-mers with each count below `counters`.
  uint64_t histogram[counters];
};

template <class K>
struct run_arguments {
  const K* keys;
  uint64_t count;
  /// A mask of the bits by which the keys are sorted.
  uint64_t low_mask;
  /// Whether different keys may share these bits.
  bool mixed;
  int32_t k;
  /// The smallest count that is kept.
  uint32_t least;
  /// The largest count that is kept.
  uint32_t most;
  K* kmers;
  uint32_t* counts;
  /// One entry a tile: whether the key changes within a run that started in an earlier tile.
  uint8_t* changes;
  /// Runs left over: 2 × start, plus 1 if the tile has different k-mers in the run.
  uint64_t* left;
  uint64_t left_room;
  /// Counts of `counters` or more; there is room for all.
  uint32_t* large;
  run_totals* totals;
};

/// Whether two keys belong to one run.
template <class K>
MGPU_HD bool same_run(const run_arguments<K>& a, K one, K other) {
  return a.mixed ? ((low_word(one) ^ low_word(other)) & a.low_mask) == 0 : one == other;
}

/// Records one k-mer with its count: adds it to the histogram, and writes it if the count is kept.
template <class K, class Block>
MGPU_HD void settle(Block& me, const run_arguments<K>& a, K key, uint32_t count) {
  if (count < counters) {
    me.add(&a.totals->histogram[count], uint64_t{1});
  } else {
    a.large[me.add(&a.totals->large, uint64_t{1})] = count;
  }
  if (a.least <= count && count <= a.most) {
    const uint64_t place = me.add(&a.totals->kept, uint64_t{1});
    a.kmers[place] = unscramble(key, a.k);
    a.counts[place] = count;
  }
}

/// Counts the runs of one tile of 4,096 keys a block at a time: O(keys), each read twice. The grid strides over
/// the tiles; a block sums its histogram in shared memory and adds it to the global one at its end.
/// Shared: 5.1 KiB, mostly the histogram; half occupancy, limited by 60 to 64 registers.
template <class K>
__global__ void __launch_bounds__(run_threads) runs_kernel(run_arguments<K> a) {
  MGPU_SHARED uint32_t starts[run_tile / 32 + 1];
  MGPU_SHARED uint32_t changes[run_tile / 32 + 1];
  MGPU_SHARED uint32_t histogram[counters];
  MGPU_SHARED uint64_t place;
  block<run_threads> me;
  const uint32_t thread = me.thread();
  for (uint32_t i = thread; i < counters; i += me.threads()) histogram[i] = 0;
  uint32_t ones = 0;
  const uint64_t tiles = (a.count + run_tile - 1) / run_tile;
  for (uint64_t tile = me.index(); tile < tiles; tile += me.count()) {
    const K* keys = a.keys + tile * run_tile;
    const int size = static_cast<int>(a.count - tile * run_tile < run_tile ? a.count - tile * run_tile : run_tile);
    for (int row = 0; row < run_rows; ++row) {
      const int at = row * run_threads + static_cast<int>(thread);
      bool start = false, change = false;
      if (at < size) {
        const bool first = tile == 0 && at == 0;
        const K key = keys[at];
        const K before = first ? key : keys[at - 1];
        start = first || !same_run(a, key, before);
        change = !start && key != before;
      }
      const uint32_t start_bits = me.ballot(start), change_bits = me.ballot(change);
      if (at % 32 == 0) {
        starts[at / 32] = start_bits;
        changes[at / 32] = change_bits;
      }
    }
    me.sync();
    if (thread == 0 && a.mixed) {
      const int first = next_bit(starts, 0, size);
      a.changes[tile] = next_bit(changes, 0, first) < first;
    }
    // The length of the run that starts at each position; 0 if none starts there or it is left over.
    uint32_t found[run_rows];
    uint32_t kept = 0;
    for (int row = 0; row < run_rows; ++row) {
      const int at = row * run_threads + static_cast<int>(thread);
      found[row] = 0;
      if (at >= size || (starts[at >> 5] >> (at & 31) & 1) == 0) continue;
      const int end = next_bit(starts, at + 1, size);
      const bool changed = a.mixed && next_bit(changes, at + 1, end) < end;
      if (changed || (end == size && tile + 1 < tiles)) {
        const uint64_t entry = me.add(&a.totals->left, uint64_t{1});
        if (entry < a.left_room) a.left[entry] = 2 * (tile * run_tile + at) + changed;
        continue;
      }
      const uint32_t count = static_cast<uint32_t>(end - at);
      found[row] = count;
      if (count == 1) {
        ++ones;
      } else if (count < counters) {
        me.add(&histogram[count], 1u);
      } else {
        a.large[me.add(&a.totals->large, uint64_t{1})] = count;
      }
      kept += a.least <= count && count <= a.most;
    }
    uint32_t total;
    const uint32_t before = me.sum_before(kept, total);
    if (thread == 0 && total > 0) place = me.add(&a.totals->kept, uint64_t{total});
    me.sync();
    uint64_t out = place + before;
    for (int row = 0; row < run_rows; ++row) {
      const uint32_t count = found[row];
      if (count == 0 || count < a.least || count > a.most) continue;
      a.kmers[out] = unscramble(keys[row * run_threads + thread], a.k);
      a.counts[out++] = count;
    }
    me.sync();
  }
  me.add(&histogram[1], ones);
  me.sync();
  for (uint32_t i = thread; i < counters; i += me.threads()) {
    if (histogram[i] != 0) me.add(&a.totals->histogram[i], uint64_t{histogram[i]});
  }
}

/// The end of the run that starts at `start`: a search with doubling steps, then a binary search.
template <class K>
MGPU_HD uint64_t run_end(const run_arguments<K>& a, uint64_t start) {
  const K key = a.keys[start];
  uint64_t step = 1;
  while (start + step < a.count && same_run(a, key, a.keys[start + step])) step *= 2;
  uint64_t inside = start + step / 2, outside = start + step < a.count ? start + step : a.count;
  while (outside - inside > 1) {
    const uint64_t middle = inside + (outside - inside) / 2;
    if (same_run(a, key, a.keys[middle])) {
      inside = middle;
    } else {
      outside = middle;
    }
  }
  return outside;
}

/// Counts one leftover run a thread; the grid strides over the list.
/// O(log(length)) a run of equal keys, O(length) for each k-mer of a mixed one. No shared memory; full occupancy,
/// half with keys of 256 bits.
template <class K>
__global__ void __launch_bounds__(run_threads) left_runs_kernel(run_arguments<K> a) {
  block<run_threads> me;
  const uint64_t stride = uint64_t{me.count()} * run_threads;
  const uint64_t count = a.totals->left < a.left_room ? a.totals->left : a.left_room;
  for (uint64_t i = uint64_t{me.index()} * run_threads + me.thread(); i < count; i += stride) {
    const uint64_t start = a.left[i] >> 1, end = run_end(a, start);
    bool changed = (a.left[i] & 1) != 0;
    if (a.mixed) {
      const uint64_t last = (end - 1) / run_tile;
      for (uint64_t tile = start / run_tile + 1; tile <= last && !changed; ++tile) {
        changed = a.changes[tile] != 0;
      }
    }
    if (!changed) {
      settle(me, a, a.keys[start], static_cast<uint32_t>(end - start));
      continue;
    }
    // The distinct k-mers of the run in ascending order, one scan each: two of them, rarely three.
    K done{};
    for (bool any = false;; any = true) {
      K next{};
      uint32_t times = 0;
      for (uint64_t at = start; at < end; ++at) {
        const K key = a.keys[at];
        if (any && !(done < key)) continue;
        if (times == 0 || key < next) {
          next = key;
          times = 1;
        } else {
          times += key == next;
        }
      }
      if (times == 0) break;
      settle(me, a, next, times);
      done = next;
    }
  }
}

template <class K>
MGPU_HD uint32_t prefix_of(K kmer, int shift) {
  return static_cast<uint32_t>(kmer >> shift);
}
MGPU_HD uint32_t prefix_of(uint256 kmer, int shift) {
  return static_cast<uint32_t>(shift_right(kmer, shift).low);
}

/// Computes the index of the first k-mer with each prefix of `bits` bits: bounds[0] to bounds[2^bits].
/// One thread a prefix, by binary search. No shared memory; full occupancy.
template <class K>
__global__ void __launch_bounds__(run_threads)
    bounds_kernel(const K* kmers, uint64_t count, int k, int bits, uint64_t* bounds) {
  block<run_threads> me;
  const uint32_t prefix = me.index() * run_threads + me.thread();
  if (prefix > 1u << bits) return;
  uint64_t low = 0, high = count;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (prefix_of(kmers[middle], 2 * k - bits) < prefix) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bounds[prefix] = low;
}

}  // namespace mgpu
