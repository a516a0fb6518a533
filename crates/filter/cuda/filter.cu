// The launchers of the filter's kernels, with the conventions of status.cuh. The kernels are in the headers
// next to this file.
#include "kernels.cuh"
#include "pack.cuh"
#include "status.cuh"

#include "filter_layout.cuh"

extern "C" {

/// Reports the number of kernels and the sizes of the shared structures, which the host checks.
mgpu_status merganser_filter_sizes(uint32_t* kernels, uint32_t* entry, uint32_t* arguments) {
  *kernels = static_cast<uint32_t>(mgpu::filter::kernel::count);
  *entry = sizeof(mgpu::filter::entry);
  *arguments = sizeof(mgpu::filter::arguments);
  return 0;
}

/// Decides pairs, all of which the kernel with this number must support.
mgpu_status merganser_filter_decide(uint32_t number, const mgpu::filter::arguments* a,
                                    cudaStream_t stream) {
  using mgpu::filter::threads;
  if (a->pairs == 0) return 0;
  const unsigned blocks = (a->pairs + threads - 1) / threads;
  const bool known = mgpu::filter::with_kernel(number, [&](auto kernel) {
    MGPU_LAUNCH(mgpu::filter::decide_kernel<kernel.value>, blocks, threads, stream, *a);
  });
  return known ? mgpu::launch_status() : static_cast<mgpu_status>(cudaErrorInvalidValue);
}

/// Packs the sequences of a text, which must only have bases, each to its place.
mgpu_status merganser_filter_pack(const uint8_t* text, const mgpu::filter::line* lines,
                                  uint32_t count, uint64_t* words, cudaStream_t stream) {
  using mgpu::filter::pack_threads;
  const unsigned blocks = mgpu::grid_size(count, pack_threads / 32, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::filter::pack_kernel, blocks, pack_threads, stream, text, lines, count, words);
  return mgpu::launch_status();
}
}
