// Launchers of the kernels for pooling, as described in status.cuh. The kernels are in the headers of this folder.
#include "for_rule.cuh"
#include "pool.cuh"
#include "status.cuh"

#include "pool_layout.cuh"

using mgpu::grid_size;
using mgpu::launch_status;

namespace mgpu {

/// The number of blocks that a large device can run at once. Each block takes reads until all are done, because the
/// host does not know their number. Fewer under emulation, which starts the threads of each block anew.
#ifdef __CUDACC__
constexpr unsigned pool_blocks = 4096;
#else
constexpr unsigned pool_blocks = 16;
#endif

template <class Word, int Kmers>
mgpu_status pool_reads(const pool_arguments& a, cudaStream_t stream) {
  const auto kernel = pool_kernel<Word, Kmers>;
  MGPU_LAUNCH(kernel, grid_size(a.count, 1, pool_blocks), threads_for(Kmers), stream, a);
  return launch_status();
}

}  // namespace mgpu

extern "C" {

/// Selects the reads that have near candidates. `chosen` has room for all reads, and `chosen_count` is 0.
mgpu_status merganser_classify_near(const mgpu::near_arguments* a, cudaStream_t stream) {
  const auto kernel = mgpu::near_kernel;
  MGPU_LAUNCH(kernel, grid_size(a->count, mgpu::near_threads), mgpu::near_threads, stream, *a);
  return launch_status();
}

/// Pools the near candidates of reads.
mgpu_status merganser_classify_pool(const mgpu::pool_arguments* a, cudaStream_t stream) {
  return mgpu::for_rule(a->rule, [&](auto word, auto kmers) {
    return mgpu::pool_reads<decltype(word), decltype(kmers)::value>(*a, stream);
  });
}
}
