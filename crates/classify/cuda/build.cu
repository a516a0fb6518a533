// The launchers of building, as status.cuh says; each takes what its kernel takes. Kernels are in the
// headers beside this file.
#include "layout.cuh"
#include "status.cuh"

#include "build_layout.cuh"

using mgpu::grid_size;
using mgpu::launch_status;

namespace mgpu {

/// Blocks that fill any device several times over.
constexpr unsigned many_blocks = 1u << 16;
/// Blocks for sections. A host that emulates starts each of a block's threads anew.
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

/// The sketches of windows.
mgpu_status merganser_classify_sketch(const mgpu::sketch_arguments* a, cudaStream_t stream) {
  const uint32_t kmers = a->rule.window + 1 - static_cast<uint32_t>(a->rule.k);
  if (a->rule.k <= 16) {
    return kmers <= 128 ? mgpu::sketch<uint32_t, 128>(*a, stream)
                        : mgpu::sketch<uint32_t, 1024>(*a, stream);
  }
  return kmers <= 256 ? mgpu::sketch<uint64_t, 256>(*a, stream)
                      : mgpu::sketch<uint64_t, 1024>(*a, stream);
}

/// Counts or gathers the features of some sections; `wide` if they are packed in 64 bits.
mgpu_status merganser_classify_gather(const mgpu::gather_arguments* a, bool wide,
                                      cudaStream_t stream) {
  return wide ? mgpu::gather<uint64_t>(*a, stream) : mgpu::gather<uint32_t>(*a, stream);
}

/// The runs of sorted entries; `out->bounds` is written, too, and `kept` only if entries are wide.
mgpu_status merganser_classify_runs(const mgpu::sorted_entries* a, bool wide, uint64_t* bounds,
                                    const mgpu::section_runs* out, uint32_t* kept,
                                    cudaStream_t stream) {
  return wide ? mgpu::find_runs<uint64_t>(*a, bounds, *out, kept, stream)
              : mgpu::find_runs<uint32_t>(*a, bounds, *out, nullptr, stream);
}

/// The sizes of a part's sections.
mgpu_status merganser_classify_measure(const mgpu::layout_arguments* a, mgpu::section_size* sizes,
                                       mgpu::section_counts* counts, cudaStream_t stream) {
  const auto kernel = mgpu::measure_kernel<mgpu::layout_threads>;
  MGPU_LAUNCH(kernel, grid_size(a->sections, 1, mgpu::section_blocks),
              mgpu::layout_threads, stream, *a, sizes, counts);
  return launch_status();
}

/// The tables of a part.
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
