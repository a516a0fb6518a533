// Host launchers of the counting kernels, by the conventions of status.cuh. The kernels are in the headers
// in this folder.
#include "dispatch.cuh"
#include "encode.cuh"
#include "expand.cuh"
#include "gather.cuh"
#include "pack.cuh"
#include "partition.cuh"
#include "runs.cuh"
#include "status.cuh"

#include "count_layout.cuh"
#include "gather_layout.cuh"
#include "table_layout.cuh"

using mgpu::grid_size;
using mgpu::launch_status;

namespace mgpu {

/// The largest grid of kernels whose blocks end by adding their totals to global memory: four times the blocks
/// that an H100 holds at once (132 multiprocessors of 8 blocks of 256 threads), so that few additions are needed.
constexpr unsigned sum_blocks = 4096;
/// The largest grid of the search for runs. It fills an H100 twice (132 multiprocessors, each with room for 4
/// blocks at 64 registers a thread) and smaller devices more often. Each block adds its histogram to the
/// global one when it ends, so there should be few blocks.
constexpr unsigned run_blocks = 132 * 8;
/// Keys for each block of the kernel for leftover runs: their list is short.
constexpr unsigned keys_a_left_run = 1024;
/// The largest grid of an expansion: one record a thread up to 2^30 records, beyond that several a thread.
constexpr unsigned max_expanding = 1u << 22;

/// Calls `launch` with a key of type `bytes` bytes wide and with `arguments` cast to the type for such keys.
template <template <class> class Arguments, class Launch>
mgpu_status with_key(uint32_t bytes, const void* arguments, Launch launch) {
  return for_key<uint32_t, uint64_t, uint128, uint256>(bytes, [&](auto key) {
    launch(key, *static_cast<const Arguments<decltype(key)>*>(arguments));
    return launch_status();
  });
}

}  // namespace mgpu

// Shared memory of a block stays within what every device grants by default.
static_assert(sizeof(mgpu::cut_shared) <= 48 * 1024, "cut_kernel needs more shared memory than a block has by default");
static_assert(sizeof(uint64_t) * mgpu::tile_words + sizeof(uint32_t) * mgpu::max_bins <= 48 * 1024,
              "scatter_kernel needs more shared memory than a block has by default");
// A piece packs position, k-mers less 1 and bin in 12, 8 and 12 bits (`make_piece`).
static_assert(mgpu::tile_bases <= 1 << 12 && mgpu::max_bins <= 1 << 12,
              "a piece has too few bits for a position or a bin");

extern "C" {

/// Returns the constants that the host must agree on: bases of a tile, largest number of bins, counters of the
/// histogram, keys of a run tile, k-mers of a table's block.
mgpu_status merganser_count_sizes(uint32_t* tile, uint32_t* bins, uint32_t* counters,
                                  uint32_t* run_tile, uint32_t* table_block) {
  *tile = mgpu::tile_bases;
  *bins = mgpu::max_bins;
  *counters = mgpu::counters;
  *run_tile = mgpu::run_tile;
  *table_block = mgpu::table_block;
  return 0;
}

/// Cuts tiles into super-k-mers, one block a tile. `rule` is the number of an mgpu::rule.
mgpu_status merganser_count_cut(uint32_t rule, const mgpu::partition_arguments* a,
                                cudaStream_t stream) {
  return mgpu::for_at_least<0, 1, 2, 3>(rule, [&](auto number) {
    constexpr auto own = static_cast<mgpu::rule>(decltype(number)::value);
    MGPU_LAUNCH(mgpu::cut_kernel<own>, a->tiles, mgpu::partition_threads, stream, *a);
    return launch_status();
  });
}

/// Computes the totals before each bin from the prefix sums of the counts, in one block.
mgpu_status merganser_count_bin_starts(const uint64_t* sums, uint32_t bins, uint32_t tiles,
                                       uint64_t* starts, cudaStream_t stream) {
  MGPU_LAUNCH(mgpu::bin_starts_kernel, 1, mgpu::partition_threads, stream, sums, bins, tiles, starts);
  return launch_status();
}

/// Writes the records of a cut, sorted by bin, one block a tile.
mgpu_status merganser_count_scatter(const mgpu::scatter_arguments* a, cudaStream_t stream) {
  return mgpu::for_at_least<1, 2, 4, 8>(a->words, [&](auto words) {
    MGPU_LAUNCH(mgpu::scatter_kernel<decltype(words)::value>, a->tiles, mgpu::partition_threads, stream,
                *a);
    return launch_status();
  });
}

/// Gathers pieces of `words` words in all, one block for each `gather_tile` words.
mgpu_status merganser_count_gather(const mgpu::gather_arguments* a, uint64_t words,
                                   cudaStream_t stream) {
  const unsigned blocks = grid_size(words, mgpu::gather_tile, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::gather_kernel, blocks, mgpu::gather_threads, stream, *a);
  return launch_status();
}

// The launchers below take keys of `key_bytes` bytes (4, 8, 16 or 32), and arguments of the type for such keys.

/// Expands records into k-mers, one block for `expand_threads` records at a time.
mgpu_status merganser_count_expand(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::with_key<mgpu::expand_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count, mgpu::expand_threads, mgpu::max_expanding);
    MGPU_LAUNCH(mgpu::expand_kernel<decltype(key)>, blocks, mgpu::expand_threads, stream, a);
  });
}

/// Counts runs within tiles and lists the others, one block a tile at a time.
mgpu_status merganser_count_runs(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::with_key<mgpu::run_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count, mgpu::run_tile, mgpu::run_blocks);
    MGPU_LAUNCH(mgpu::runs_kernel<decltype(key)>, blocks, mgpu::run_threads, stream, a);
  });
}

/// Counts the listed runs, one thread a run.
mgpu_status merganser_count_left_runs(uint32_t key_bytes, const void* arguments,
                                      cudaStream_t stream) {
  return mgpu::with_key<mgpu::run_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count / mgpu::keys_a_left_run + 1, 1, mgpu::sum_blocks);
    MGPU_LAUNCH(mgpu::left_runs_kernel<decltype(key)>, blocks, mgpu::run_threads, stream, a);
  });
}

/// Computes the index of the first k-mer with each prefix of `bits` bits, and the number of k-mers.
mgpu_status merganser_count_bounds(uint32_t key_bytes, const void* kmers, uint64_t count, int32_t k,
                                   int32_t bits, uint64_t* bounds, cudaStream_t stream) {
  return mgpu::for_key<uint32_t, uint64_t, mgpu::uint128, mgpu::uint256>(key_bytes, [&](auto key) {
    using Key = decltype(key);
    const unsigned blocks = grid_size((uint64_t{1} << bits) + 1, mgpu::run_threads);
    MGPU_LAUNCH(mgpu::bounds_kernel<Key>, blocks, mgpu::run_threads, stream,
                static_cast<const Key*>(kmers), count, k, bits, bounds);
    return launch_status();
  });
}

/// Partitions k-mers into those with small and those with large counts, one thread per k-mer.
mgpu_status merganser_count_split(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::with_key<mgpu::split_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count, mgpu::pack_threads, mgpu::sum_blocks);
    MGPU_LAUNCH(mgpu::split_kernel<decltype(key)>, blocks, mgpu::pack_threads, stream, a);
  });
}

/// Packs k-mers, whose counts are all large or all small, one thread per k-mer.
mgpu_status merganser_count_pack(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::with_key<mgpu::pack_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count, mgpu::pack_threads, mgpu::a_block_each);
    MGPU_LAUNCH(mgpu::pack_kernel<decltype(key)>, blocks, mgpu::pack_threads, stream, a);
  });
}

/// Unpacks runs with only small counts, one thread per record.
mgpu_status merganser_count_unpack(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::with_key<mgpu::unpack_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count, mgpu::pack_threads, mgpu::a_block_each);
    MGPU_LAUNCH(mgpu::unpack_kernel<decltype(key)>, blocks, mgpu::pack_threads, stream, a);
  });
}

/// Unpacks any runs, one thread a run.
mgpu_status merganser_count_unpack_any(uint32_t key_bytes, const void* arguments,
                                       cudaStream_t stream) {
  return mgpu::with_key<mgpu::unpack_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.runs.runs, mgpu::pack_threads, mgpu::a_block_each);
    MGPU_LAUNCH(mgpu::unpack_any_kernel<decltype(key)>, blocks, mgpu::pack_threads, stream, a);
  });
}

/// Computes the size in bytes of each of a table's blocks, one thread block a table block.
mgpu_status merganser_count_block_sizes(uint32_t key_bytes, const void* arguments, uint32_t blocks,
                                        cudaStream_t stream) {
  return mgpu::with_key<mgpu::block_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    MGPU_LAUNCH(mgpu::block_sizes_kernel<decltype(key)>, blocks, mgpu::table_block, stream, a);
  });
}

/// Writes a table's blocks, one thread block a table block.
mgpu_status merganser_count_write_blocks(uint32_t key_bytes, const void* arguments, uint32_t blocks,
                                         cudaStream_t stream) {
  return mgpu::with_key<mgpu::block_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    MGPU_LAUNCH(mgpu::write_blocks_kernel<decltype(key)>, blocks, mgpu::table_block, stream, a);
  });
}
}
