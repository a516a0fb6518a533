// Pooling (crates/classify/src/cpu/query/pool.rs): counts the features of a read that the targets of a taxon have
// together, for candidates near the best one. One thread per read selects the reads that have such candidates. One
// block per read sketches its windows, looks up their features once more, and compares the taxa of all locations with
// the candidates' taxa. Locations are not stored, so that their number is not limited.
#pragma once

#include "candidates.cuh"
#include "lookup.cuh"
#include "read.cuh"

namespace mgpu {

/// Maximum number of candidates of a read that are pooled.
constexpr uint32_t max_near = 64;
/// Number of candidates that locations are compared with at a time: a byte of a word for each.
constexpr uint32_t near_group = 8;
/// Threads of a block that selects reads.
constexpr int near_threads = 128;

struct near_arguments {
  target_table targets;
  const uint8_t* several;  // whether each target's taxon has further targets
  const read_entry* reads;
  const candidate* found;  // `most` for each read
  const uint32_t* counts;  // candidates of each read
  uint32_t count;
  uint32_t most;
  uint32_t near;            // candidates fewer than this number of hits behind the best are near
  uint32_t max_bases;      // longest read whose candidates are pooled
  uint32_t* values;         // `most` for each read: taxa of near candidates, hits of others
  uint32_t* near_counts;    // near candidates of each read
  uint32_t* chosen;         // the reads with near candidates
  uint32_t* chosen_count;
};

/// Returns how many of a read's candidates, ordered by hits, are to be pooled: see QueryParams::count_near.
MGPU_HD uint32_t count_near(const near_arguments& a, const candidate* found, uint32_t count,
                            uint32_t bases) {
  if (count < 2 || bases > a.max_bases) return 0;
  const uint32_t most = count < max_near ? count : max_near;
  uint32_t near = 0;
  bool any = false;
  for (; near < most && uint64_t{found[near].hits} + a.near > found[0].hits; ++near) {
    any |= a.several[found[near].target] != 0;
  }
  return near > 1 && any ? near : 0;
}

/// One thread per read: O(candidates), at most `max_near`. No shared memory; full occupancy.
__global__ void __launch_bounds__(near_threads) near_kernel(near_arguments a) {
  block<near_threads> me;
  const uint32_t read = me.index() * me.threads() + me.thread();
  if (read >= a.count) return;
  const uint32_t count = a.counts[read] == too_many ? 0 : a.counts[read];
  const candidate* found = a.found + uint64_t{read} * a.most;
  const uint32_t bases = a.reads[read].first + a.reads[read].second;
  const uint32_t near = count_near(a, found, count, bases);
  uint32_t* values = a.values + uint64_t{read} * a.most;
  for (uint32_t i = 0; i < count; ++i) {
    values[i] = i < near ? a.targets.taxa[found[i].target] : found[i].hits;
  }
  a.near_counts[read] = near;
  if (near > 0) a.chosen[me.add(a.chosen_count, 1u)] = read;
}

struct pool_arguments {
  sketch_rule rule;
  table_part part;
  target_table targets;
  const uint8_t* letters;
  const read_entry* reads;
  const uint32_t* chosen;        // reads to process; null: the first `count`
  const uint32_t* chosen_count;
  uint32_t count;                // number of reads
  uint32_t most;
  const uint32_t* near_counts;   // near candidates of each read
  uint32_t* values;              // `most` for each read: taxa, replaced by feature counts if `seen` is null
  uint64_t* seen;                // a word for each feature, with a bit for each candidate that has it; or null
  const uint32_t* places;        // position of each read's words in `seen`
  uint32_t* features;            // number of features of each read
  uint64_t* phases;
};

/// Shared memory of a block that pools the candidates of a read.
template <class Word, int Kmers>
struct pool_space {
  sketch_space<Word, Kmers> sketch;
  found_features found;
  uint64_t seen[max_features];  // for each feature, 1 in the byte of each candidate that has it
  uint32_t taxa[max_near];
  uint32_t sums[max_near];
};

/// Packs the bytes of a group, each 0 or 1, into bits.
MGPU_HD uint64_t bits_of_bytes(uint64_t bytes) { return bytes * 0x0102040810204080u >> 56; }

/// Notes which of a group of near candidates have the features of a window, given their locations.
template <class Block>
MGPU_HD void hold_against(Block& block, const pool_arguments& a, const found_features& found,
                          uint32_t features, uint32_t locations, const uint32_t* taxa, uint32_t near,
                          uint64_t* seen) {
  const uint32_t windows = a.targets.starts[a.targets.targets];
  const uint64_t all = 0x0101010101010101u >> 8 * (near_group - near);
  for (uint32_t i = block.thread(); i < features; i += Block::threads()) seen[i] = 0;
  block.sync();
  for (uint32_t i = block.thread(); i < locations; i += Block::threads()) {
    const uint32_t feature = feature_at(found, features, i);
    // Other threads set bytes concurrently and never clear them: a thread with an old value only repeats work.
    if (block.load(seen + feature) == all) continue;
    const uint32_t window = location_of(found, feature, a.part, i);
    // Windows beyond the last one can occur in damaged tables.
    if (window >= windows) continue;
    const uint32_t taxon = a.targets.taxa[target_of(a.targets, window)];
    for (uint32_t at = 0; at < near; ++at) {
      const uint64_t one = uint64_t{1} << 8 * at;
      if (taxa[at] == taxon && (block.load(seen + feature) & one) == 0) block.set(seen + feature, one);
    }
  }
  block.sync();
}

/// Counts the features of a window that each candidate of a group has, and writes the candidates' bits to `out` if it
/// is not null.
template <class Block>
MGPU_HD void add_up(Block& block, const uint64_t* seen, uint32_t features, uint32_t first,
                    uint32_t near, uint32_t* sums, uint64_t* out) {
  // A byte has room for the number of features of a window.
  uint64_t own = 0;
  for (uint32_t i = block.thread(); i < features; i += Block::threads()) {
    own += seen[i];
    if (out != nullptr) out[i] |= bits_of_bytes(seen[i]) << first;
  }
  uint32_t low = 0, high = 0;
  block.sum_before(static_cast<uint32_t>(own), low);
  block.sum_before(static_cast<uint32_t>(own >> 32), high);
  const uint64_t sum = uint64_t{high} << 32 | low;
  if (block.thread() < near) sums[first + block.thread()] += sum >> 8 * block.thread() & 0xff;
}

/// Pools the near candidates of a read.
template <class Word, int Kmers, class Block>
MGPU_HD void pool_read(Block& block, pool_space<Word, Kmers>& space, const pool_arguments& a,
                       uint32_t number) {
  const read_entry read = a.reads[number];
  const uint32_t near = a.near_counts[number];
  uint32_t* values = a.values + uint64_t{number} * a.most;
  for (uint32_t i = block.thread(); i < near; i += Block::threads()) {
    space.taxa[i] = values[i];
    space.sums[i] = 0;
  }
  block.sync();
  uint64_t* out = a.seen == nullptr ? nullptr : a.seen + a.places[number];
  uint32_t all = 0;
  for (uint32_t mate = 0; mate < 2; ++mate) {
    const uint32_t bases = mate == 0 ? read.first : read.second;
    const uint8_t* letters = a.letters + read.start + (mate == 0 ? 0 : read.first);
    const uint32_t windows = count_windows(bases, a.rule);
    for (uint32_t window = 0; window < windows; ++window) {
      const uint32_t from = window * a.rule.stride;
      const uint32_t length = bases - from < a.rule.window ? bases - from : a.rule.window;
      uint32_t features = 0;
      const uint32_t found = find_features<Word, Kmers>(block, space.sketch, space.found,
                                                        letters + from, length, a.rule, a.part,
                                                        features, [] {});
      for (uint32_t first = 0; first < near; first += near_group) {
        const uint32_t group = near - first < near_group ? near - first : near_group;
        hold_against(block, a, space.found, features, found, space.taxa + first, group, space.seen);
        add_up(block, space.seen, features, first, group, space.sums,
               out == nullptr ? nullptr : out + all);
      }
      all += features;
    }
  }
  block.sync();
  if (out != nullptr) {
    if (block.thread() == 0) a.features[number] = all;
    return;
  }
  for (uint32_t i = block.thread(); i < near; i += Block::threads()) values[i] = space.sums[i];
}

/// One block per read. O(hits × near candidates of a group). Shared: a sketch's space, a word a feature and the near
/// taxa, 4.2 to 20.1 KiB; full occupancy, half with blocks of 32 threads.
template <class Word, int Kmers>
__global__ void __launch_bounds__(threads_for(Kmers)) pool_kernel(pool_arguments a) {
  using own_block = block<threads_for(Kmers)>;
  own_block me;
  MGPU_SHARED pool_space<Word, Kmers> space;
  const uint32_t count = a.chosen == nullptr ? a.count : *a.chosen_count;
  for (uint32_t i = me.index(); i < count; i += me.count()) {
    const uint32_t read = a.chosen == nullptr ? i : a.chosen[i];
    phase_clock<own_block> clock(me, read % sample_step == 0 ? a.phases : nullptr);
    pool_read(me, space, a, read);
    me.sync();
    clock.end(me, pooling);
  }
}

}  // namespace mgpu
