// The launchers of counting, as status.cuh says. Kernels are in the headers beside this file.
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

/// Blocks of loops that end by adding up a block's share: four times as many as an H100 holds at once
/// (132 multiprocessors of 8 blocks of 256 threads), so that few ends cost.
constexpr unsigned sum_blocks = 4096;
/// Blocks that fill an H100 twice (132 multiprocessors, which have room for 4 blocks with their 64 registers a
/// thread) and smaller devices more often: a block adds its counters to those of all when it ends, and
/// so few should end.
constexpr unsigned run_blocks = 132 * 8;
/// Keys for each block that settles runs left over: the lists are short.
constexpr unsigned keys_a_left_run = 1024;
/// Blocks of an expansion: a thread has a record up to 2^30 of them, beyond which it takes several.
constexpr unsigned max_expanding = 1u << 22;

/// Calls `launch` with a key of `bytes` bytes and with `arguments`, which are those of such keys.
template <template <class> class Arguments, class Launch>
mgpu_status with_key(uint32_t bytes, const void* arguments, Launch launch) {
  return for_key<uint32_t, uint64_t, uint128, uint256>(bytes, [&](auto key) {
    launch(key, *static_cast<const Arguments<decltype(key)>*>(arguments));
    return launch_status();
  });
}

}  // namespace mgpu

// What a block shares fits into what every device gives without being asked.
static_assert(sizeof(mgpu::cut_shared) <= 48 * 1024, "the tiles of a cut are too large");
static_assert(sizeof(uint64_t) * mgpu::tile_words + sizeof(uint32_t) * mgpu::max_bins <= 48 * 1024,
              "the tiles of a scattering are too large");
// A piece's position, k-mers and bin have 12, 8 and 12 bits.
static_assert(mgpu::tile_bases <= 1 << 12 && mgpu::max_bins <= 1 << 12, "a piece has no room");

extern "C" {

/// What the host needs to know of the kernels: bases of a tile, most bins, counters of a histogram,
/// keys of a run tile, k-mers of a table's block.
mgpu_status merganser_count_sizes(uint32_t* tile, uint32_t* bins, uint32_t* counters,
                                  uint32_t* run_tile, uint32_t* table_block) {
  *tile = mgpu::tile_bases;
  *bins = mgpu::max_bins;
  *counters = mgpu::counters;
  *run_tile = mgpu::run_tile;
  *table_block = mgpu::table_block;
  return 0;
}

/// Cuts tiles into super-k-mers. `rule` is the number of an mgpu::rule.
mgpu_status merganser_count_cut(uint32_t rule, const mgpu::partition_arguments* a,
                                cudaStream_t stream) {
  return mgpu::for_at_least<0, 1, 2, 3>(rule, [&](auto number) {
    constexpr auto own = static_cast<mgpu::rule>(decltype(number)::value);
    MGPU_LAUNCH(mgpu::cut_kernel<own>, a->tiles, mgpu::partition_threads, stream, *a);
    return launch_status();
  });
}

mgpu_status merganser_count_bin_starts(const uint64_t* sums, uint32_t bins, uint32_t tiles,
                                       uint64_t* starts, cudaStream_t stream) {
  MGPU_LAUNCH(mgpu::bin_starts_kernel, 1, mgpu::partition_threads, stream, sums, bins, tiles, starts);
  return launch_status();
}

/// Writes the records that a cut has found.
mgpu_status merganser_count_scatter(const mgpu::scatter_arguments* a, cudaStream_t stream) {
  return mgpu::for_at_least<1, 2, 4, 8>(a->words, [&](auto words) {
    MGPU_LAUNCH(mgpu::scatter_kernel<decltype(words)::value>, a->tiles, mgpu::partition_threads, stream,
                *a);
    return launch_status();
  });
}

/// Moves pieces of `words` words in all.
mgpu_status merganser_count_gather(const mgpu::gather_arguments* a, uint64_t words,
                                   cudaStream_t stream) {
  const unsigned blocks = grid_size(words, mgpu::gather_tile, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::gather_kernel, blocks, mgpu::gather_threads, stream, *a);
  return launch_status();
}

// What follows takes keys of `key_bytes` bytes: 4, 8, 16 or 32. The arguments are those of such keys.

/// Expands records into k-mers.
mgpu_status merganser_count_expand(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::with_key<mgpu::expand_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count, mgpu::expand_threads, mgpu::max_expanding);
    MGPU_LAUNCH(mgpu::expand_kernel<decltype(key)>, blocks, mgpu::expand_threads, stream, a);
  });
}

/// Settles runs within tiles, and lists the others.
mgpu_status merganser_count_runs(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::with_key<mgpu::run_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count, mgpu::run_tile, mgpu::run_blocks);
    MGPU_LAUNCH(mgpu::runs_kernel<decltype(key)>, blocks, mgpu::run_threads, stream, a);
  });
}

/// Settles the runs that were listed.
mgpu_status merganser_count_left_runs(uint32_t key_bytes, const void* arguments,
                                      cudaStream_t stream) {
  return mgpu::with_key<mgpu::run_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count / mgpu::keys_a_left_run + 1, 1, mgpu::sum_blocks);
    MGPU_LAUNCH(mgpu::left_runs_kernel<decltype(key)>, blocks, mgpu::run_threads, stream, a);
  });
}

/// Where the k-mers of each prefix of `bits` bits begin, and their number.
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

/// Tells k-mers with large counts apart.
mgpu_status merganser_count_split(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::with_key<mgpu::split_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count, mgpu::pack_threads, mgpu::sum_blocks);
    MGPU_LAUNCH(mgpu::split_kernel<decltype(key)>, blocks, mgpu::pack_threads, stream, a);
  });
}

/// Packs k-mers, all with large counts or none.
mgpu_status merganser_count_pack(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::with_key<mgpu::pack_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count, mgpu::pack_threads, mgpu::a_block_each);
    MGPU_LAUNCH(mgpu::pack_kernel<decltype(key)>, blocks, mgpu::pack_threads, stream, a);
  });
}

/// Unpacks runs none of whose counts is large.
mgpu_status merganser_count_unpack(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::with_key<mgpu::unpack_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.count, mgpu::pack_threads, mgpu::a_block_each);
    MGPU_LAUNCH(mgpu::unpack_kernel<decltype(key)>, blocks, mgpu::pack_threads, stream, a);
  });
}

/// Unpacks any runs.
mgpu_status merganser_count_unpack_any(uint32_t key_bytes, const void* arguments,
                                       cudaStream_t stream) {
  return mgpu::with_key<mgpu::unpack_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    const unsigned blocks = grid_size(a.runs.runs, mgpu::pack_threads, mgpu::a_block_each);
    MGPU_LAUNCH(mgpu::unpack_any_kernel<decltype(key)>, blocks, mgpu::pack_threads, stream, a);
  });
}

/// How many bytes each of a table's blocks takes.
mgpu_status merganser_count_block_sizes(uint32_t key_bytes, const void* arguments, uint32_t blocks,
                                        cudaStream_t stream) {
  return mgpu::with_key<mgpu::block_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    MGPU_LAUNCH(mgpu::block_sizes_kernel<decltype(key)>, blocks, mgpu::table_block, stream, a);
  });
}

/// Writes a table's blocks.
mgpu_status merganser_count_write_blocks(uint32_t key_bytes, const void* arguments, uint32_t blocks,
                                         cudaStream_t stream) {
  return mgpu::with_key<mgpu::block_arguments>(key_bytes, arguments, [&](auto key, const auto& a) {
    MGPU_LAUNCH(mgpu::write_blocks_kernel<decltype(key)>, blocks, mgpu::table_block, stream, a);
  });
}
}
