// The launchers of counting, as status.cuh says. Kernels are in the headers beside this file.
#include "expand.cuh"
#include "partition.cuh"
#include "runs.cuh"
#include "status.cuh"

using mgpu::grid_size;
using mgpu::launch_status;

namespace mgpu {

/// Blocks that fill any device several times over.
constexpr unsigned many_blocks = 4096;

template <class K>
mgpu_status expand(const record<record_words<K>>* records, uint64_t count, int k, bool canonical,
                   uint32_t parts, uint32_t part, K* out, uint64_t room, uint64_t* made,
                   cudaStream_t stream) {
  const expand_arguments<K> a{records, count, k, canonical, parts, part, out, room, made};
  MGPU_LAUNCH(expand_kernel<K>, grid_size(count, expand_threads, 1u << 22), expand_threads, stream, a);
  return launch_status();
}

template <class K>
run_arguments<K> arguments(const K* keys, uint64_t count, int bits, int k, uint32_t least,
                           uint32_t most, K* kmers, uint32_t* counts, uint8_t* changes,
                           uint64_t* left, uint64_t left_room, uint32_t* large, run_totals* totals) {
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const bool mixed = bits < 2 * k;
  return {keys, count, mask, mixed, k, least, most, kmers, counts, changes, left, left_room, large, totals};
}

template <class K>
mgpu_status bounds(const K* kmers, uint64_t count, int k, int bits, uint64_t* out,
                   cudaStream_t stream) {
  const unsigned blocks = grid_size((uint64_t{1} << bits) + 1, run_threads);
  MGPU_LAUNCH(bounds_kernel<K>, blocks, run_threads, stream, kmers, count, k, bits, out);
  return launch_status();
}

}  // namespace mgpu

extern "C" {

/// What the host needs to know of the kernels: bases of a tile, most bins, counters of a histogram,
/// keys of a run tile.
mgpu_status merganser_count_sizes(uint32_t* tile, uint32_t* bins, uint32_t* counters,
                                  uint32_t* run_tile) {
  *tile = mgpu::tile_bases;
  *bins = mgpu::most_bins;
  *counters = mgpu::counters;
  *run_tile = mgpu::run_tile;
  return 0;
}

/// Cuts tiles into super-k-mers. `rule` is the number of an mgpu::rule; `words` of a record.
mgpu_status merganser_count_cut(uint32_t rule, const uint64_t* bases, const uint64_t* cuts,
                                const uint16_t* bin_of, uint32_t multiplier, uint32_t shift,
                                uint32_t bins, uint32_t tiles, int32_t k, int32_t p, int32_t words,
                                bool canonical, uint32_t* pieces, uint32_t* piece_count,
                                uint64_t* counts, cudaStream_t stream) {
  const mgpu::partition_arguments a{bases, cuts, {bin_of, multiplier, shift}, bins, tiles, k, p,
                                    words, canonical, pieces, piece_count, counts};
  const auto kernel = rule == 0   ? mgpu::cut_kernel<mgpu::rule::gkc>
                      : rule == 1 ? mgpu::cut_kernel<mgpu::rule::kmc2>
                      : rule == 2 ? mgpu::cut_kernel<mgpu::rule::minimizer>
                                  : mgpu::cut_kernel<mgpu::rule::hash>;
  MGPU_LAUNCH(kernel, tiles, mgpu::partition_threads, stream, a);
  return launch_status();
}

mgpu_status merganser_count_bin_starts(const uint64_t* sums, uint32_t bins, uint32_t tiles,
                                       uint64_t* starts, cudaStream_t stream) {
  MGPU_LAUNCH(mgpu::bin_starts_kernel, 1, mgpu::partition_threads, stream, sums, bins, tiles, starts);
  return launch_status();
}

/// Writes the records that a cut has found.
mgpu_status merganser_count_scatter(const uint64_t* bases, uint32_t bins, uint32_t tiles, int32_t k,
                                    int32_t words, uint32_t* pieces, uint32_t* piece_count,
                                    const uint64_t* sums, uint64_t* out, cudaStream_t stream) {
  mgpu::partition_arguments a{};
  a.bases = bases;
  a.bin_count = bins;
  a.tiles = tiles;
  a.k = k;
  a.words = words;
  a.pieces = pieces;
  a.piece_count = piece_count;
  const unsigned threads = mgpu::partition_threads;
  switch (words) {
    case 1:
      MGPU_LAUNCH(mgpu::scatter_kernel<1>, tiles, threads, stream, a, sums,
                  reinterpret_cast<mgpu::record<1>*>(out));
      break;
    case 2:
      MGPU_LAUNCH(mgpu::scatter_kernel<2>, tiles, threads, stream, a, sums,
                  reinterpret_cast<mgpu::record<2>*>(out));
      break;
    case 4:
      MGPU_LAUNCH(mgpu::scatter_kernel<4>, tiles, threads, stream, a, sums,
                  reinterpret_cast<mgpu::record<4>*>(out));
      break;
    default:
      MGPU_LAUNCH(mgpu::scatter_kernel<8>, tiles, threads, stream, a, sums,
                  reinterpret_cast<mgpu::record<8>*>(out));
  }
  return launch_status();
}

#define MERGANSER_COUNT_FUNCTIONS(Key, suffix)                                                       \
  mgpu_status merganser_count_expand_##suffix(const uint64_t* records, uint64_t count, int32_t k,    \
                                              bool canonical, uint32_t parts, uint32_t part,         \
                                              Key* out, uint64_t room, uint64_t* made,               \
                                              cudaStream_t stream) {                                 \
    using record = mgpu::record<mgpu::record_words<Key>>;                                            \
    return mgpu::expand<Key>(reinterpret_cast<const record*>(records), count, k, canonical, parts,   \
                             part, out, room, made, stream);                                         \
  }                                                                                                  \
  mgpu_status merganser_count_runs_##suffix(                                                         \
      const Key* keys, uint64_t count, int32_t bits, int32_t k, uint32_t least, uint32_t most,       \
      Key* kmers, uint32_t* counts, uint8_t* changes, uint64_t* left, uint64_t left_room,            \
      uint32_t* large, uint64_t* totals, cudaStream_t stream) {                                      \
    const auto a = mgpu::arguments(keys, count, bits, k, least, most, kmers, counts, changes, left,  \
                                   left_room, large, reinterpret_cast<mgpu::run_totals*>(totals));   \
    const unsigned blocks = grid_size(count, mgpu::run_tile, 132 * 8);                               \
    MGPU_LAUNCH(mgpu::runs_kernel<Key>, blocks, mgpu::run_threads, stream, a);                       \
    return launch_status();                                                                          \
  }                                                                                                  \
  mgpu_status merganser_count_left_runs_##suffix(                                                    \
      const Key* keys, uint64_t count, int32_t bits, int32_t k, uint32_t least, uint32_t most,       \
      Key* kmers, uint32_t* counts, uint8_t* changes, uint64_t* left, uint64_t left_room,            \
      uint32_t* large, uint64_t* totals, cudaStream_t stream) {                                      \
    const auto a = mgpu::arguments(keys, count, bits, k, least, most, kmers, counts, changes, left,  \
                                   left_room, large, reinterpret_cast<mgpu::run_totals*>(totals));   \
    MGPU_LAUNCH(mgpu::left_runs_kernel<Key>, grid_size(count / 1024 + 1, 1, mgpu::many_blocks),      \
                mgpu::run_threads, stream, a);                                                       \
    return launch_status();                                                                          \
  }                                                                                                  \
  mgpu_status merganser_count_bounds_##suffix(const Key* kmers, uint64_t count, int32_t k,           \
                                              int32_t bits, uint64_t* bounds, cudaStream_t stream) { \
    return mgpu::bounds(kmers, count, k, bits, bounds, stream);                                      \
  }

MERGANSER_COUNT_FUNCTIONS(uint32_t, u32)
MERGANSER_COUNT_FUNCTIONS(uint64_t, u64)
MERGANSER_COUNT_FUNCTIONS(mgpu::uint128, u128)
MERGANSER_COUNT_FUNCTIONS(mgpu::uint256, u256)
}
