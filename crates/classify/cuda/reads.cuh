// Kernels that find the candidates of reads. Most reads have so few hits that one block does everything in shared
// memory, and only candidates leave it. Reads with more hits are processed by larger blocks. The windows of long
// reads, and of reads with very many hits, are spread over blocks, and their hits are sorted by (read, location) in
// device memory.
#pragma once

#include "candidates.cuh"
#include "lookup.cuh"
#include "read.cuh"

namespace mgpu {

/// Numbers of hits that small and large blocks have room for.
constexpr uint32_t small_hits = 512;
constexpr uint32_t large_hits = 4096;
constexpr int large_threads = 256;

struct reads_arguments {
  sketch_rule rule;
  table_part part;
  target_table targets;
  const uint8_t* letters;
  const read_entry* reads;
  uint32_t count;        // number of reads
  uint32_t most;         // maximum number of candidates of a read
  candidate* out;        // `most` for each read
  uint32_t* out_count;   // number of candidates of each read
  uint32_t* over;        // the reads with too many hits for a small block
  uint32_t* over_count;  // number of these reads
  uint64_t* phases;      // cycles of a sample of the reads
};

/// Shared memory of a block: first the sketch, then the data of each hit.
template <class Word, int Kmers, uint32_t Hits, int Threads>
struct read_space {
  uint32_t hits[Hits];
  union {
    struct {
      sketch_space<Word, Kmers> sketch;
      found_features found;
    } before;
    struct {
      uint32_t taxa[Hits];
      uint16_t sums[Hits];
      uint64_t best[Threads];
    } after;
  };
};

/// Finds the candidates of a read. Returns too_many if its hits do not fit into shared memory.
template <class Word, int Kmers, uint32_t Hits, class Block, int Threads>
MGPU_HD uint32_t find_candidates(Block& block, read_space<Word, Kmers, Hits, Threads>& space,
                                 const reads_arguments& a, uint32_t number) {
  const read_entry read = a.reads[number];
  phase_clock<Block> clock(block, number % sample_step == 0 ? a.phases : nullptr);
  uint32_t hits = 0;
  for (uint32_t mate = 0; mate < 2; ++mate) {
    const uint32_t bases = mate == 0 ? read.first : read.second;
    const uint8_t* letters = a.letters + read.start + (mate == 0 ? 0 : read.first);
    const uint32_t windows = count_windows(bases, a.rule);
    for (uint32_t window = 0; window < windows; ++window) {
      const uint32_t from = window * a.rule.stride;
      const uint32_t length = bases - from < a.rule.window ? bases - from : a.rule.window;
      uint32_t features = 0;
      const uint32_t found =
          find_features<Word, Kmers>(block, space.before.sketch, space.before.found, letters + from,
                                     length, a.rule, a.part, features,
                                     [&] { clock.end(block, sketching); });
      clock.end(block, looking_up);
      if (found > Hits - hits) return too_many;
      for (uint32_t i = block.thread(); i < found; i += Block::threads()) {
        space.hits[hits + i] = location_at(space.before.found, features, a.part, i);
      }
      hits += found;
      block.sync();
      clock.end(block, ordering);
    }
  }
  if (hits == 0) return 0;
  sort_shared(block, space.hits, hits);
  clock.end(block, ordering);
  const uint32_t chosen = choose_candidates(block, plain_hits{space.hits}, hits, read.range,
                                            a.targets, space.after.taxa, space.after.sums,
                                            space.after.best, a.most,
                                            a.out + uint64_t{number} * a.most);
  clock.end(block, choosing);
  return chosen;
}

/// One block per read. O(k-mers + h log^2 h) for h hits, sorted by Batcher's network. Shared: a sketch's space and
/// its hits, 5.3 to 20.6 KiB; three quarters of the threads of a multiprocessor, limited by registers, half with
/// blocks of 32.
template <class Word, int Kmers>
__global__ void __launch_bounds__(threads_for(Kmers)) small_reads_kernel(reads_arguments a) {
  constexpr int threads = threads_for(Kmers);
  block<threads> me;
  MGPU_SHARED read_space<Word, Kmers, small_hits, threads> space;
  for (uint32_t read = me.index(); read < a.count; read += me.count()) {
    const uint32_t found = find_candidates<Word, Kmers, small_hits>(me, space, a, read);
    if (me.thread() == 0) {
      a.out_count[read] = found;
      if (found == too_many) a.over[me.add(a.over_count, 1u)] = read;
    }
    me.sync();
  }
}

/// Processes the reads that have too many hits for small blocks, with up to 4,096 hits. As small_reads_kernel.
/// Shared: 42 KiB of the 48 that every device provides by default; 5 blocks of 256 threads per multiprocessor.
template <class Word, int Kmers>
__global__ void __launch_bounds__(large_threads) large_reads_kernel(reads_arguments a) {
  block<large_threads> me;
  MGPU_SHARED read_space<Word, Kmers, large_hits, large_threads> space;
  const uint32_t count = *a.over_count;
  for (uint32_t i = me.index(); i < count; i += me.count()) {
    const uint32_t read = a.over[i];
    const uint32_t found = find_candidates<Word, Kmers, large_hits>(me, space, a, read);
    if (me.thread() == 0) a.out_count[read] = found;
    me.sync();
  }
}

/// A window of a long read.
struct window_entry {
  uint32_t start;
  uint32_t bases;
  uint32_t read;
};

struct windows_arguments {
  sketch_rule rule;
  table_part part;
  const uint8_t* letters;
  const window_entry* windows;
  uint32_t count;
  uint32_t* counts;        // hits of each window, followed by 0; written without `keys`
  const uint64_t* before;  // number of hits before each window
  uint64_t skip;           // number of hits before the first of these windows
  uint64_t* keys;          // read << 32 | location
};

/// Shared memory of a block that processes a window.
template <class Word, int Kmers>
struct window_space {
  sketch_space<Word, Kmers> sketch;
  found_features found;
};

/// Counts the hits of each window, or writes them. One block per window: O(k-mers + hits). Shared: a sketch's space,
/// 2.7 to 18.6 KiB; three quarters or all of the threads of a multiprocessor, half with blocks of 32.
template <class Word, int Kmers, bool Write>
__global__ void __launch_bounds__(threads_for(Kmers)) windows_kernel(windows_arguments a) {
  block<threads_for(Kmers)> me;
  MGPU_SHARED window_space<Word, Kmers> space;
  for (uint32_t window = me.index(); window < a.count; window += me.count()) {
    const window_entry entry = a.windows[window];
    uint32_t features = 0;
    const uint32_t found =
        find_features<Word, Kmers>(me, space.sketch, space.found, a.letters + entry.start,
                                   entry.bases, a.rule, a.part, features, [] {});
    if (Write) {
      uint64_t* out = a.keys + (a.before[window] - a.skip);
      for (uint32_t i = me.thread(); i < found; i += me.threads()) {
        out[i] = uint64_t{entry.read} << 32 | location_at(space.found, features, a.part, i);
      }
    } else if (me.thread() == 0) {
      a.counts[window] = found;
      if (window == 0) a.counts[a.count] = 0;
    }
    me.sync();
  }
}

/// Long reads with their sorted hits.
struct long_arguments {
  target_table targets;
  const uint64_t* keys;
  const uint64_t* before;         // number of hits before each window
  uint64_t skip;                  // number of hits before the first of these keys
  const uint32_t* first_windows;  // first window of each read, and the number of all windows
  const uint32_t* ranges;         // maximum number of windows in a run, for each read
  uint32_t count;                 // number of reads
  uint32_t most;                  // maximum number of candidates of a read
  uint32_t* taxa;                 // for each hit
  uint32_t* sums;                 // for each hit
  candidate* out;                 // `most` for each read
  uint32_t* out_count;            // number of candidates of each read
};

/// One block per read: O(hits). Shared: 2 KiB, one candidate per thread; full occupancy.
__global__ void __launch_bounds__(large_threads) long_reads_kernel(long_arguments a) {
  block<large_threads> me;
  MGPU_SHARED uint64_t best[large_threads];
  for (uint32_t read = me.index(); read < a.count; read += me.count()) {
    const uint64_t start = a.before[a.first_windows[read]] - a.skip;
    const uint64_t end = a.before[a.first_windows[read + 1]] - a.skip;
    const uint32_t found =
        choose_candidates(me, keyed_hits{a.keys + start}, static_cast<uint32_t>(end - start), a.ranges[read],
                          a.targets, a.taxa + start, a.sums + start, best, a.most,
                          a.out + uint64_t{read} * a.most);
    if (me.thread() == 0) a.out_count[read] = found;
    me.sync();
  }
}

}  // namespace mgpu
