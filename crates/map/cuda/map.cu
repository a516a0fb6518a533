// The launchers of the mapping kernels, with the conventions of status.cuh. The kernels are in the headers next to
// this file; the comment of each kernel says what it computes, its launch shape and its cost.
#include "build.cuh"
#include "dispatch.cuh"
#include "layout.cuh"
#include "status.cuh"
#include "trace.cuh"

namespace {

using mgpu::grid_size;
using mgpu::map::task;
using mgpu::map::threads;

/// The maximum number of blocks of kernels that loop over a number of items which only the device knows. It is
/// eight times the number that an H100 holds at once (132 multiprocessors with 16 blocks of 128 threads);
/// blocks without items end at once.
constexpr unsigned max_blocks = 1u << 14;

}  // namespace

extern "C" {

/// Returns the number of counters.
mgpu_status merganser_map_counters(uint32_t* counters) {
  *counters = mgpu::map::counters;
  return 0;
}

/// Looks up the seeds of all queries, each divided into equal stretches, and lists the queries whose seeds occur
/// too often.
mgpu_status merganser_map_look_up(const task* t, cudaStream_t stream) {
  const unsigned seeds = grid_size(uint64_t{t->slot_count} + 1, threads, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::map::look_up_kernel, seeds, threads, stream, *t);
  const unsigned queries = grid_size(t->query_count, threads, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::map::weigh_kernel, queries, threads, stream, *t);
  return mgpu::launch_status();
}

/// Returns the number of queries that a round of improving processes.
mgpu_status merganser_map_improve_room(const task* t, uint32_t* room) {
  *room = mgpu::map::improving::of(*t).room;
  return 0;
}

/// Divides the listed queries of a round again, into the seeds that have the fewest occurrences.
mgpu_status merganser_map_improve(const task* t, uint32_t round, cudaStream_t stream) {
  const auto m = mgpu::map::improving::of(*t);
  const uint32_t queries = m.room < t->query_count ? m.room : t->query_count;
  const unsigned blocks = grid_size(uint64_t{queries} * m.places, threads, max_blocks);
  MGPU_LAUNCH(mgpu::map::count_stretches_kernel, blocks, threads, stream, *t, round);
  using mgpu::map::improve_threads;
  MGPU_LAUNCH(mgpu::map::improve_kernel, queries, improve_threads, stream, *t, round);
  return mgpu::launch_status();
}

/// Computes, for each query, the number of occurrences of the seeds of all queries before it.
mgpu_status merganser_map_gather(const task* t, cudaStream_t stream) {
  const unsigned blocks = grid_size(uint64_t{t->query_count} + 1, threads, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::map::gather_kernel, blocks, threads, stream, *t);
  return mgpu::launch_status();
}

/// Writes a key (query and diagonal) for each occurrence of the current queries' seeds.
mgpu_status merganser_map_expand(const task* t, cudaStream_t stream) {
  const unsigned blocks = grid_size(t->items, threads, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::map::expand_kernel, blocks, threads, stream, *t);
  return mgpu::launch_status();
}

/// Writes the keys of the current query's occurrences that are in the current slice of the reference.
mgpu_status merganser_map_expand_slice(const task* t, cudaStream_t stream) {
  const unsigned blocks = grid_size(t->items, threads, max_blocks);
  MGPU_LAUNCH(mgpu::map::expand_slice_kernel, blocks, threads, stream, *t);
  return mgpu::launch_status();
}

/// Writes the candidates, with a marker in place of repeated and rejected ones.
mgpu_status merganser_map_reject(const task* t, cudaStream_t stream) {
  const unsigned blocks = grid_size(t->items, threads, max_blocks);
  MGPU_LAUNCH(mgpu::map::reject_kernel, blocks, threads, stream, *t);
  return mgpu::launch_status();
}

/// Merges neighbouring candidates into windows.
mgpu_status merganser_map_merge(const task* t, cudaStream_t stream) {
  const unsigned blocks = grid_size(t->items, threads, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::map::merge_kernel, blocks, threads, stream, *t);
  return mgpu::launch_status();
}

/// Appends windows around runs of ambiguous letters in the reference that match everything.
mgpu_status merganser_map_gaps(const task* t, cudaStream_t stream) {
  const uint64_t all = uint64_t{t->gap_count} * (t->last_query - t->first_query);
  const unsigned blocks = grid_size(all, threads, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::map::gaps_kernel, blocks, threads, stream, *t);
  return mgpu::launch_status();
}

/// Verifies the windows that fit into a lane; there are at most `most`.
mgpu_status merganser_map_lanes(const task* t, uint64_t most, cudaStream_t stream) {
  const unsigned blocks = grid_size(most, threads, max_blocks);
  MGPU_LAUNCH(mgpu::map::lanes_kernel, blocks, threads, stream, *t);
  return mgpu::launch_status();
}

/// Verifies all other windows; there are at most `most`. The kernel with just enough words for the longest read
/// is launched.
mgpu_status merganser_map_scan(const task* t, uint64_t most, cudaStream_t stream) {
  const unsigned blocks = grid_size(most, threads, max_blocks);
  const uint32_t words = (t->longest + 63) / 64;
  if (t->hamming) {
    MGPU_LAUNCH(mgpu::map::hamming_kernel, blocks, threads, stream, *t);
    return mgpu::launch_status();
  }
  return mgpu::for_at_least<2, 4, 8, 16>(words, [&](auto most) {
    MGPU_LAUNCH(mgpu::map::scan_kernel<decltype(most)::value>, blocks, threads, stream, *t);
    return mgpu::launch_status();
  });
}

/// Selects the hits among the sorted good ends: a good end suppresses worse ones near it.
mgpu_status merganser_map_silence(const task* t, cudaStream_t stream) {
  const unsigned blocks = grid_size(t->items, threads, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::map::silence_kernel, blocks, threads, stream, *t);
  return mgpu::launch_status();
}

/// Writes the scripts of hits without gaps, from hit `first` on, with `width` entries each.
mgpu_status merganser_map_trace(const task* t, uint64_t first, uint32_t width, cudaStream_t stream) {
  const unsigned blocks = grid_size(t->items, threads, max_blocks);
  MGPU_LAUNCH(mgpu::map::trace_kernel, blocks, threads, stream, *t, first, width);
  return mgpu::launch_status();
}

/// Writes the scripts of hits with gaps, which the stage before left open, for up to `most` edits. The number
/// of threads is limited by the scratch memory. Bands of one word and of two words have kernels of their own.
mgpu_status merganser_map_trace_gaps(const task* t, uint64_t first, uint32_t width, uint32_t most,
                                     cudaStream_t stream) {
  if (t->hamming) return 0;
  for (uint32_t words = 1; words <= 2 && 5 * (words - 1) < most; ++words) {
    const uint64_t room = t->scratch_bytes / mgpu::map::bytes_of_ways(*t, words) / threads;
    if (room == 0) break;
    const unsigned blocks = grid_size(t->items, threads, room < max_blocks ? room : max_blocks);
    const mgpu_status status = mgpu::for_at_least<1, 2>(words, [&](auto most) {
      MGPU_LAUNCH(mgpu::map::trace_gaps_kernel<decltype(most)::value>, blocks, threads, stream, *t, first, width);
      return mgpu::launch_status();
    });
    if (status != 0) return status;
  }
  return 0;
}

/// Counts, for each piece of the reference, the positions that belong to the task's parts of the index.
mgpu_status merganser_map_count_positions(const mgpu::map::build_task* t, cudaStream_t stream) {
  if (t->piece_count == 0) return 0;
  MGPU_LAUNCH(mgpu::map::count_positions_kernel, t->piece_count, threads, stream, *t);
  return mgpu::launch_status();
}

/// Writes the positions that `merganser_map_count_positions` counted, with their keys.
mgpu_status merganser_map_take_positions(const mgpu::map::build_task* t, cudaStream_t stream) {
  if (t->piece_count == 0) return 0;
  MGPU_LAUNCH(mgpu::map::take_positions_kernel, t->piece_count, threads, stream, *t);
  return mgpu::launch_status();
}

/// Fills in the table that gives, for each k-mer, the index of its first position.
mgpu_status merganser_map_table(const mgpu::map::build_task* t, cudaStream_t stream) {
  const unsigned blocks = grid_size(t->items + 1, threads, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::map::table_kernel, blocks, threads, stream, *t);
  return mgpu::launch_status();
}
}
