// Finds the candidates of a read among its sorted locations (crates/classify/src/cpu/query.rs): the best run of
// windows of each target, the best target of each taxon, the best of those.
#pragma once

#include "block.cuh"

namespace mgpu {

/// The taxon of targets that have none and are never candidates: NO_TAXON of candidates.rs.
constexpr uint32_t no_taxon = 0xffffffffu;

/// The targets of the database.
struct target_table {
  const uint32_t* starts;  // first window of each, and the number of all windows
  const uint32_t* taxa;    // at the lowest rank
  const uint32_t* nodes;
  uint32_t targets;
};

/// A candidate as returned to the host. Windows are numbered over all targets. The nodes are those of decide.rs,
/// complete for the first candidate of a read.
struct candidate {
  uint32_t target;
  uint32_t hits;
  uint32_t first;
  uint32_t last;
  uint32_t low;
  uint32_t high;
};

/// Returns the target of a window, which must exist.
MGPU_HD uint32_t target_of(const target_table& table, uint32_t window) {
  uint32_t low = 0, high = table.targets;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (table.starts[middle] <= window) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Sorted locations in 32-bit words.
struct plain_hits {
  const uint32_t* items;
  MGPU_HD uint32_t operator[](uint32_t i) const { return items[i]; }
};

/// Sorted locations in the lower halves of keys.
struct keyed_hits {
  const uint64_t* items;
  MGPU_HD uint32_t operator[](uint32_t i) const { return static_cast<uint32_t>(items[i]); }
};

/// Returns the first index in `from..count` whose hit is not below `bound`.
template <class Hits>
MGPU_HD uint32_t lower_bound(const Hits& hits, uint32_t from, uint32_t count, uint64_t bound) {
  uint32_t low = from, high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (hits[middle] < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Reduces the values of a block's threads with `of_two`, in any order. `shared` has room for one value per thread.
template <class Block, class OfTwo>
MGPU_HD uint64_t of_all(Block& block, uint64_t* shared, uint64_t value, const OfTwo& of_two) {
  block.sync();
  shared[block.thread()] = value;
  for (uint32_t half = Block::threads() / 2; half > 0; half /= 2) {
    block.sync();
    if (block.thread() < half) {
      shared[block.thread()] = of_two(shared[block.thread()], shared[block.thread() + half]);
    }
  }
  block.sync();
  return shared[0];
}

/// Returns the larger of two values.
struct larger {
  MGPU_HD uint64_t operator()(uint64_t a, uint64_t b) const { return a > b ? a : b; }
};

/// Returns the smallest range that contains two ranges, each low << 32 | high.
struct wider {
  MGPU_HD uint64_t operator()(uint64_t a, uint64_t b) const {
    const uint64_t low = (a < b ? a : b) >> 32;
    const uint32_t one = static_cast<uint32_t>(a), other = static_cast<uint32_t>(b);
    return low << 32 | (one > other ? one : other);
  }
};

/// Writes up to `most` candidates among the sorted hits of a read, ordered by hits (descending), then target, and
/// returns their number. `taxa` and `sums` have room for one item per hit, `best` for one per thread.
template <class Block, class Hits, class Sum>
MGPU_HD uint32_t choose_candidates(Block& block, const Hits& hits, uint32_t count, uint32_t range,
                                   const target_table& table, uint32_t* taxa, Sum* sums,
                                   uint64_t* best, uint32_t most, candidate* out) {
  const uint32_t windows = table.starts[table.targets];
  // A run that begins at a hit has all hits from there to its end. Of equal hits, the run of the first has most.
  for (uint32_t i = block.thread(); i < count; i += Block::threads()) {
    const uint32_t hit = hits[i];
    // Windows beyond the last one can occur in damaged tables.
    const bool starts = (i == 0 || hits[i - 1] != hit) && hit < windows;
    uint32_t taxon = 0, sum = 0;
    if (starts) {
      const uint32_t target = target_of(table, hit);
      const uint64_t end = table.starts[target + 1], far = uint64_t{hit} + range;
      taxon = table.taxa[target];
      if (taxon != no_taxon) sum = lower_bound(hits, i, count, far < end ? far : end) - i;
    }
    taxa[i] = taxon;
    sums[i] = static_cast<Sum>(sum);
  }
  uint32_t written = 0;
  for (; written < most; ++written) {
    // More hits first, then the lower target and window, which have the lower index.
    uint64_t mine = 0;
    for (uint32_t i = block.thread(); i < count; i += Block::threads()) {
      const uint64_t key = uint64_t{sums[i]} << 32 | (0xffffffffu - i);
      if (sums[i] != 0 && key > mine) mine = key;
    }
    const uint64_t top = of_all(block, best, mine, larger{});
    if (top == 0) break;
    const uint32_t at = 0xffffffffu - static_cast<uint32_t>(top);
    const uint32_t sum = static_cast<uint32_t>(top >> 32), taxon = taxa[at];
    const uint32_t target = target_of(table, hits[at]);
    uint64_t nodes = uint64_t{table.nodes[target]} << 32 | table.nodes[target];
    if (written == 0) {
      // Include the nodes of the other targets of the taxon with the same number of hits.
      for (uint32_t i = block.thread(); i < count; i += Block::threads()) {
        if (taxa[i] != taxon || sums[i] != sum) continue;
        const uint32_t node = table.nodes[target_of(table, hits[i])];
        nodes = wider{}(nodes, uint64_t{node} << 32 | node);
      }
      nodes = of_all(block, best, nodes, wider{});
    }
    if (block.thread() == 0) {
      out[written] = {target,
                      sum,
                      hits[at],
                      hits[at + sum - 1],
                      static_cast<uint32_t>(nodes >> 32),
                      static_cast<uint32_t>(nodes)};
    }
    // The other targets of the taxon are no better.
    for (uint32_t i = block.thread(); i < count; i += Block::threads()) {
      if (taxa[i] == taxon) sums[i] = 0;
    }
  }
  return written;
}

}  // namespace mgpu
