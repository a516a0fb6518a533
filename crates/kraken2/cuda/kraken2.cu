// The launchers of Kraken 2's rules, as status.cuh says; kernels are in the header beside this file.
#include "kraken2.cuh"
#include "status.cuh"

#include "kraken2_layout.cuh"

using mgpu::grid_size;
using mgpu::kraken2_threads;
using mgpu::launch_status;

extern "C" {

/// The runs of sequences, each from the place of its first letter on, and how many these are.
mgpu_status merganser_kraken2_runs(const mgpu::kraken2_arguments* a, cudaStream_t stream) {
  const auto kernel = mgpu::kraken2_runs_kernel;
  MGPU_LAUNCH(kernel, grid_size(a->count, kraken2_threads, mgpu::many_blocks), kraken2_threads, stream,
              *a);
  return launch_status();
}

/// The same runs, one after the other.
mgpu_status merganser_kraken2_gather(const mgpu::kraken2_gathering* a, cudaStream_t stream) {
  const auto kernel = mgpu::kraken2_gather_kernel;
  MGPU_LAUNCH(kernel, grid_size(a->count, kraken2_threads / 32, mgpu::many_blocks), kraken2_threads,
              stream, *a);
  return launch_status();
}
}
