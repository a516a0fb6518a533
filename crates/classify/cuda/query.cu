// The launchers of queries, as status.cuh says. Kernels are in the headers beside this file.
#include "reads.cuh"
#include "status.cuh"

using mgpu::grid_size;
using mgpu::launch_status;

namespace mgpu {

/// Blocks that fill any device several times over.
constexpr unsigned many_blocks = 1u << 16;
/// Large blocks: a few for each multiprocessor.
constexpr unsigned large_blocks = 528;

template <class Word, int Kmers>
mgpu_status query_reads(const reads_arguments& a, cudaStream_t stream) {
  const auto small = small_reads_kernel<Word, Kmers>;
  MGPU_LAUNCH(small, grid_size(a.count, 1, many_blocks), threads_for(Kmers), stream, a);
  const mgpu_status status = launch_status();
  if (status != 0) return status;
  const auto large = large_reads_kernel<Word, Kmers>;
  MGPU_LAUNCH(large, grid_size(a.count, 32, large_blocks), large_threads, stream, a);
  return launch_status();
}

template <class Word, int Kmers>
mgpu_status query_windows(const windows_arguments& a, cudaStream_t stream) {
  const unsigned blocks = grid_size(a.count, 1, many_blocks), threads = threads_for(Kmers);
  const auto kernel =
      a.keys == nullptr ? windows_kernel<Word, Kmers, false> : windows_kernel<Word, Kmers, true>;
  MGPU_LAUNCH(kernel, blocks, threads, stream, a);
  return launch_status();
}

/// K-mers of a window.
inline uint32_t kmers_of(const sketch_rule& rule) {
  return rule.window + 1 - static_cast<uint32_t>(rule.k);
}

}  // namespace mgpu

extern "C" {

/// Candidates of reads: `over` has room for all of them, and `over_count` is 0. Adds to `phases` how
/// many cycles a sample of the blocks spent in each.
mgpu_status merganser_classify_reads(const mgpu::sketch_rule* rule, const uint64_t* words,
                                     const mgpu::table_section* sections, const uint32_t* starts,
                                     const uint32_t* taxa, const uint32_t* nodes,
                                     uint32_t targets, const uint8_t* letters,
                                     const mgpu::read_entry* reads, uint32_t count, uint32_t most,
                                     mgpu::candidate* out, uint32_t* out_count, uint32_t* over,
                                     uint32_t* over_count, uint64_t* phases,
                                     cudaStream_t stream) {
  const mgpu::reads_arguments a{*rule,   {words, sections}, {starts, taxa, nodes, targets},
                                letters, reads,             count,
                                most,    out,               out_count,
                                over,    over_count,        phases};
  if (rule->k <= 16) {
    return mgpu::kmers_of(*rule) <= 128 ? mgpu::query_reads<uint32_t, 128>(a, stream)
                                        : mgpu::query_reads<uint32_t, 1024>(a, stream);
  }
  return mgpu::kmers_of(*rule) <= 256 ? mgpu::query_reads<uint64_t, 256>(a, stream)
                                      : mgpu::query_reads<uint64_t, 1024>(a, stream);
}

/// Hits of windows: without `keys` how many each has, with them the hits themselves.
mgpu_status merganser_classify_windows(const mgpu::sketch_rule* rule, const uint64_t* words,
                                       const mgpu::table_section* sections, const uint8_t* letters,
                                       const mgpu::window_entry* windows, uint32_t count,
                                       uint32_t* counts, const uint64_t* before, uint64_t skip,
                                       uint64_t* keys, cudaStream_t stream) {
  const mgpu::windows_arguments a{*rule, {words, sections}, letters, windows,
                                  count, counts,            before,  skip,    keys};
  if (rule->k <= 16) {
    return mgpu::kmers_of(*rule) <= 128 ? mgpu::query_windows<uint32_t, 128>(a, stream)
                                        : mgpu::query_windows<uint32_t, 1024>(a, stream);
  }
  return mgpu::kmers_of(*rule) <= 256 ? mgpu::query_windows<uint64_t, 256>(a, stream)
                                      : mgpu::query_windows<uint64_t, 1024>(a, stream);
}

/// Candidates of long reads, whose hits are sorted.
mgpu_status merganser_classify_long_reads(const uint32_t* starts, const uint32_t* taxa_of,
                                          const uint32_t* nodes, uint32_t targets, const uint64_t* keys,
                                          const uint64_t* before, uint64_t skip,
                                          const uint32_t* first_windows, const uint32_t* ranges,
                                          uint32_t count, uint32_t most, uint32_t* taxa,
                                          uint32_t* sums, mgpu::candidate* out, uint32_t* out_count,
                                          cudaStream_t stream) {
  const mgpu::long_arguments a{{starts, taxa_of, nodes, targets}, keys, before, skip, first_windows,
                               ranges, count, most, taxa, sums, out, out_count};
  MGPU_LAUNCH(mgpu::long_reads_kernel, grid_size(count, 1, mgpu::many_blocks), mgpu::large_threads,
              stream, a);
  return launch_status();
}
}
