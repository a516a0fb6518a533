// The launchers of counting, as status.cuh says. Kernels are in the headers beside this file.
#include "encode.cuh"
#include "expand.cuh"
#include "gather.cuh"
#include "pack.cuh"
#include "partition.cuh"
#include "runs.cuh"
#include "status.cuh"

#include <climits>

#include "count_layout.cuh"
#include "gather_layout.cuh"
#include "table_layout.cuh"

using mgpu::grid_size;
using mgpu::launch_status;

namespace mgpu {

/// Blocks that fill any device several times over.
constexpr unsigned many_blocks = 4096;
/// For kernels whose threads do one thing each.
constexpr unsigned a_block_each = INT_MAX;

template <class K>
mgpu_status bounds(const K* kmers, uint64_t count, int k, int bits, uint64_t* out,
                   cudaStream_t stream) {
  const unsigned blocks = grid_size((uint64_t{1} << bits) + 1, run_threads);
  MGPU_LAUNCH(bounds_kernel<K>, blocks, run_threads, stream, kmers, count, k, bits, out);
  return launch_status();
}

}  // namespace mgpu

// What a block shares fits into what every device gives without being asked.
static_assert(sizeof(mgpu::cut_shared) <= 48 * 1024, "the tiles of a cut are too large");
static_assert(sizeof(uint64_t) * mgpu::tile_words + sizeof(uint32_t) * mgpu::most_bins <= 48 * 1024,
              "the tiles of a scattering are too large");
// A piece's position, k-mers and bin have 12, 8 and 12 bits.
static_assert(mgpu::tile_bases <= 1 << 12 && mgpu::most_bins <= 1 << 12, "a piece has no room");

extern "C" {

/// What the host needs to know of the kernels: bases of a tile, most bins, counters of a histogram,
/// keys of a run tile, k-mers of a table's block.
mgpu_status merganser_count_sizes(uint32_t* tile, uint32_t* bins, uint32_t* counters,
                                  uint32_t* run_tile, uint32_t* table_block) {
  *tile = mgpu::tile_bases;
  *bins = mgpu::most_bins;
  *counters = mgpu::counters;
  *run_tile = mgpu::run_tile;
  *table_block = mgpu::table_block;
  return 0;
}

/// Cuts tiles into super-k-mers. `rule` is the number of an mgpu::rule.
mgpu_status merganser_count_cut(uint32_t rule, const mgpu::partition_arguments* a,
                                cudaStream_t stream) {
  const auto kernel = rule == 0   ? mgpu::cut_kernel<mgpu::rule::gkc>
                      : rule == 1 ? mgpu::cut_kernel<mgpu::rule::kmc2>
                      : rule == 2 ? mgpu::cut_kernel<mgpu::rule::minimizer>
                                  : mgpu::cut_kernel<mgpu::rule::hash>;
  MGPU_LAUNCH(kernel, a->tiles, mgpu::partition_threads, stream, *a);
  return launch_status();
}

mgpu_status merganser_count_bin_starts(const uint64_t* sums, uint32_t bins, uint32_t tiles,
                                       uint64_t* starts, cudaStream_t stream) {
  MGPU_LAUNCH(mgpu::bin_starts_kernel, 1, mgpu::partition_threads, stream, sums, bins, tiles, starts);
  return launch_status();
}

/// Writes the records that a cut has found.
mgpu_status merganser_count_scatter(const mgpu::scatter_arguments* a, cudaStream_t stream) {
  const auto kernel = a->words == 1   ? mgpu::scatter_kernel<1>
                      : a->words == 2 ? mgpu::scatter_kernel<2>
                      : a->words == 4 ? mgpu::scatter_kernel<4>
                                      : mgpu::scatter_kernel<8>;
  MGPU_LAUNCH(kernel, a->tiles, mgpu::partition_threads, stream, *a);
  return launch_status();
}

/// Moves pieces of `words` words in all.
mgpu_status merganser_count_gather(const mgpu::gather_arguments* a, uint64_t words,
                                   cudaStream_t stream) {
  const unsigned blocks = grid_size(words, mgpu::gather_tile, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::gather_kernel, blocks, mgpu::gather_threads, stream, *a);
  return launch_status();
}

#define MERGANSER_COUNT_FUNCTIONS(Key, suffix)                                                       \
  mgpu_status merganser_count_expand_##suffix(const mgpu::expand_arguments<Key>* a,                  \
                                              cudaStream_t stream) {                                 \
    const unsigned blocks = grid_size(a->count, mgpu::expand_threads, 1u << 22);                     \
    MGPU_LAUNCH(mgpu::expand_kernel<Key>, blocks, mgpu::expand_threads, stream, *a);                 \
    return launch_status();                                                                          \
  }                                                                                                  \
  mgpu_status merganser_count_runs_##suffix(const mgpu::run_arguments<Key>* a,                       \
                                            cudaStream_t stream) {                                   \
    const unsigned blocks = grid_size(a->count, mgpu::run_tile, 132 * 8);                            \
    MGPU_LAUNCH(mgpu::runs_kernel<Key>, blocks, mgpu::run_threads, stream, *a);                      \
    return launch_status();                                                                          \
  }                                                                                                  \
  mgpu_status merganser_count_left_runs_##suffix(const mgpu::run_arguments<Key>* a,                  \
                                                 cudaStream_t stream) {                              \
    const unsigned blocks = grid_size(a->count / 1024 + 1, 1, mgpu::many_blocks);                    \
    MGPU_LAUNCH(mgpu::left_runs_kernel<Key>, blocks, mgpu::run_threads, stream, *a);                 \
    return launch_status();                                                                          \
  }                                                                                                  \
  mgpu_status merganser_count_bounds_##suffix(const Key* kmers, uint64_t count, int32_t k,           \
                                              int32_t bits, uint64_t* bounds, cudaStream_t stream) { \
    return mgpu::bounds(kmers, count, k, bits, bounds, stream);                                      \
  }                                                                                                  \
  mgpu_status merganser_count_split_##suffix(const mgpu::split_arguments<Key>* a,                    \
                                             cudaStream_t stream) {                                  \
    const unsigned blocks = grid_size(a->count, mgpu::pack_threads, mgpu::many_blocks);              \
    MGPU_LAUNCH(mgpu::split_kernel<Key>, blocks, mgpu::pack_threads, stream, *a);                    \
    return launch_status();                                                                          \
  }                                                                                                  \
  mgpu_status merganser_count_pack_##suffix(const mgpu::pack_arguments<Key>* a,                      \
                                            cudaStream_t stream) {                                   \
    const unsigned blocks = grid_size(a->count, mgpu::pack_threads, mgpu::a_block_each);            \
    MGPU_LAUNCH(mgpu::pack_kernel<Key>, blocks, mgpu::pack_threads, stream, *a);                     \
    return launch_status();                                                                          \
  }                                                                                                  \
  mgpu_status merganser_count_unpack_##suffix(const mgpu::unpack_arguments<Key>* a,                  \
                                              cudaStream_t stream) {                                 \
    const unsigned blocks = grid_size(a->count, mgpu::pack_threads, mgpu::a_block_each);            \
    MGPU_LAUNCH(mgpu::unpack_kernel<Key>, blocks, mgpu::pack_threads, stream, *a);                   \
    return launch_status();                                                                          \
  }                                                                                                  \
  mgpu_status merganser_count_unpack_any_##suffix(const mgpu::unpack_arguments<Key>* a,              \
                                                  cudaStream_t stream) {                             \
    const unsigned blocks = grid_size(a->runs.runs, mgpu::pack_threads, mgpu::a_block_each);        \
    MGPU_LAUNCH(mgpu::unpack_any_kernel<Key>, blocks, mgpu::pack_threads, stream, *a);               \
    return launch_status();                                                                          \
  }                                                                                                  \
  mgpu_status merganser_count_block_sizes_##suffix(const mgpu::block_arguments<Key>* a,              \
                                                   uint32_t blocks, cudaStream_t stream) {           \
    MGPU_LAUNCH(mgpu::block_sizes_kernel<Key>, blocks, mgpu::table_block, stream, *a);               \
    return launch_status();                                                                          \
  }                                                                                                  \
  mgpu_status merganser_count_write_blocks_##suffix(const mgpu::block_arguments<Key>* a,             \
                                                    uint32_t blocks, cudaStream_t stream) {          \
    MGPU_LAUNCH(mgpu::write_blocks_kernel<Key>, blocks, mgpu::table_block, stream, *a);              \
    return launch_status();                                                                          \
  }

MERGANSER_COUNT_FUNCTIONS(uint32_t, u32)
MERGANSER_COUNT_FUNCTIONS(uint64_t, u64)
MERGANSER_COUNT_FUNCTIONS(mgpu::uint128, u128)
MERGANSER_COUNT_FUNCTIONS(mgpu::uint256, u256)
}
