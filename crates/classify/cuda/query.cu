// Launchers of the kernels for queries, as described in status.cuh. The kernels are in the headers of this folder.
#include "for_rule.cuh"
#include "reads.cuh"
#include "status.cuh"

#include "query_layout.cuh"

using mgpu::grid_size;
using mgpu::launch_status;

namespace mgpu {

/// Blocks for reads with many hits: 4 for each of an H100's 132 multiprocessors, whose 228 KiB of shared memory have
/// room for 5 blocks of 42 KiB. Such reads are rare.
constexpr unsigned large_blocks = 4 * 132;
/// Reads for each of these blocks: few have many hits.
constexpr unsigned reads_a_large_block = 32;

template <class Word, int Kmers>
mgpu_status query_reads(const reads_arguments& a, cudaStream_t stream) {
  const auto small = small_reads_kernel<Word, Kmers>;
  MGPU_LAUNCH(small, grid_size(a.count, 1, many_blocks), threads_for(Kmers), stream, a);
  const mgpu_status status = launch_status();
  if (status != 0) return status;
  const auto large = large_reads_kernel<Word, Kmers>;
  MGPU_LAUNCH(large, grid_size(a.count, reads_a_large_block, large_blocks), large_threads, stream, a);
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

}  // namespace mgpu

extern "C" {

/// Finds the candidates of reads. `over` has room for all reads, and `over_count` is 0. Adds the cycles that a sample
/// of the blocks spent in each phase to `phases`.
mgpu_status merganser_classify_reads(const mgpu::reads_arguments* a, cudaStream_t stream) {
  return mgpu::for_rule(a->rule, [&](auto word, auto kmers) {
    return mgpu::query_reads<decltype(word), decltype(kmers)::value>(*a, stream);
  });
}

/// Counts the hits of windows or, with `keys`, writes them.
mgpu_status merganser_classify_windows(const mgpu::windows_arguments* a, cudaStream_t stream) {
  return mgpu::for_rule(a->rule, [&](auto word, auto kmers) {
    return mgpu::query_windows<decltype(word), decltype(kmers)::value>(*a, stream);
  });
}

/// Finds the candidates of long reads from their sorted hits.
mgpu_status merganser_classify_long_reads(const mgpu::long_arguments* a, cudaStream_t stream) {
  MGPU_LAUNCH(mgpu::long_reads_kernel, grid_size(a->count, 1, mgpu::many_blocks),
              mgpu::large_threads, stream, *a);
  return launch_status();
}
}
