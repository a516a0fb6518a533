// Launchers of the kernels for building, as described in status.cuh. Each takes the arguments of its kernel. The
// kernels are in the headers of this folder.
#include "for_rule.cuh"
#include "layout.cuh"
#include "status.cuh"

#include "build_layout.cuh"

using mgpu::grid_size;
using mgpu::launch_status;

namespace mgpu {

/// The number of blocks for sections that an H100 can run at once (132 multiprocessors with 32 blocks of 32 threads).
/// Each takes every 4,096th section. Fewer under emulation, which starts the threads of each block anew.
#ifdef __CUDACC__
constexpr unsigned section_blocks = 4096;
#else
constexpr unsigned section_blocks = 16;
#endif

template <class Word, int Kmers>
mgpu_status sketch(const sketch_arguments& a, cudaStream_t stream) {
  const auto kernel = sketch_kernel<Word, Kmers>;
  MGPU_LAUNCH(kernel, grid_size(a.count, 1, many_blocks), sketch_threads(Kmers), stream, a);
  return launch_status();
}

template <class Word>
mgpu_status gather(const gather_arguments& a, cudaStream_t stream) {
  const auto kernel = gather_kernel<Word>;
  MGPU_LAUNCH(kernel, grid_size(a.windows, gather_threads / 32, many_blocks), gather_threads, stream, a);
  return launch_status();
}

template <class Word>
mgpu_status find_runs(const sorted_entries& a, uint64_t* bounds, const section_runs& out, uint32_t* kept,
                      cudaStream_t stream) {
  const auto bounds_of = bounds_kernel<Word>;
  MGPU_LAUNCH(bounds_of, grid_size(a.sections + 1, gather_threads), gather_threads, stream, a, bounds);
  const mgpu_status status = launch_status();
  if (status != 0) return status;
  const auto runs_of = runs_kernel<Word>;
  MGPU_LAUNCH(runs_of, grid_size(a.sections, 1, section_blocks), layout_threads, stream, a, out, kept);
  return launch_status();
}

}  // namespace mgpu

extern "C" {

/// Sketches windows.
mgpu_status merganser_classify_sketch(const mgpu::sketch_arguments* a, cudaStream_t stream) {
  return mgpu::for_rule(a->rule, [&](auto word, auto kmers) {
    return mgpu::sketch<decltype(word), decltype(kmers)::value>(*a, stream);
  });
}

/// Counts or gathers the features of some sections; `wide` if they are packed in 64 bits.
mgpu_status merganser_classify_gather(const mgpu::gather_arguments* a, bool wide,
                                      cudaStream_t stream) {
  return wide ? mgpu::gather<uint64_t>(*a, stream) : mgpu::gather<uint32_t>(*a, stream);
}

/// Finds the runs of sorted entries. Also writes `out->bounds`, and `kept` only if entries are wide.
mgpu_status merganser_classify_runs(const mgpu::sorted_entries* a, bool wide, uint64_t* bounds,
                                    const mgpu::section_runs* out, uint32_t* kept,
                                    cudaStream_t stream) {
  return wide ? mgpu::find_runs<uint64_t>(*a, bounds, *out, kept, stream)
              : mgpu::find_runs<uint32_t>(*a, bounds, *out, nullptr, stream);
}

/// Measures the sections of a part.
mgpu_status merganser_classify_measure(const mgpu::layout_arguments* a, mgpu::section_size* sizes,
                                       mgpu::section_counts* counts, cudaStream_t stream) {
  const auto kernel = mgpu::measure_kernel<mgpu::layout_threads>;
  MGPU_LAUNCH(kernel, grid_size(a->sections, 1, mgpu::section_blocks),
              mgpu::layout_threads, stream, *a, sizes, counts);
  return launch_status();
}

/// Writes the tables of a part.
mgpu_status merganser_classify_lay_out(const mgpu::layout_arguments* a,
                                       const mgpu::section_size* sizes,
                                       const mgpu::section_place* places, uint64_t* words,
                                       cudaStream_t stream) {
  const auto kernel = mgpu::layout_kernel<mgpu::layout_threads>;
  MGPU_LAUNCH(kernel, grid_size(a->sections, 1, mgpu::section_blocks),
              mgpu::layout_threads, stream, *a, sizes, places, words);
  return launch_status();
}
}
