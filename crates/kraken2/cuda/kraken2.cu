// Launchers of the kernels in kraken2.cuh; status.cuh describes their interface.
#include "kraken2.cuh"
#include "status.cuh"

#include "kraken2_layout.cuh"

using mgpu::grid_size;
using mgpu::kraken2_threads;
using mgpu::launch_status;

extern "C" {

/// Finds the runs of sequences and counts them; the runs of a sequence begin at the position of its first letter.
mgpu_status merganser_kraken2_runs(const mgpu::kraken2_arguments* a, cudaStream_t stream) {
  using mgpu::kraken2_lookup;
  const auto several = a->databases == nullptr ? mgpu::kraken2_runs_kernel<kraken2_lookup::several>
                                               : mgpu::kraken2_runs_kernel<kraken2_lookup::noted>;
  const auto kernel =
      a->tables.count == 1 ? mgpu::kraken2_runs_kernel<kraken2_lookup::single> : several;
  MGPU_LAUNCH(kernel, grid_size(a->count, kraken2_threads, mgpu::many_blocks), kraken2_threads, stream,
              *a);
  return launch_status();
}

/// Performs searches in a range of a table.
mgpu_status merganser_kraken2_search(const mgpu::kraken2_searches* a, cudaStream_t stream) {
  const auto kernel = mgpu::kraken2_search_kernel;
  MGPU_LAUNCH(kernel, grid_size(a->count, kraken2_threads, mgpu::many_blocks), kraken2_threads, stream,
              *a);
  return launch_status();
}

/// Copies the runs of all sequences so that there are no gaps between them.
mgpu_status merganser_kraken2_gather(const mgpu::kraken2_gathering* a, cudaStream_t stream) {
  const auto kernel = mgpu::kraken2_gather_kernel;
  MGPU_LAUNCH(kernel, grid_size(a->count, kraken2_threads / 32, mgpu::many_blocks), kraken2_threads,
              stream, *a);
  return launch_status();
}
}
