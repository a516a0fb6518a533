// The launchers of the search's kernels, with the conventions of status.cuh. The kernels are in the headers next to
// this file.
#include "dispatch.cuh"
#include "scan.cuh"
#include "status.cuh"

#include "search_layout.cuh"

namespace {

using mgpu::search::scan_arguments;

/// The maximum number of rows whose differences are in registers: more would be spilled.
constexpr uint32_t register_rows = 80;

/// Calls `launch` with the numbers of rows for which a kernel is compiled, in ascending order, until it returns true.
/// Guides and primers have kernels of just their length; other patterns compute up to an eighth more rows.
template <class Launch>
mgpu_status for_rows(uint32_t rows, Launch launch) {
  return mgpu::for_at_least<4, 8, 12, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 30, 32, 36, 40, 44, 48, 56, 64,
                            72, 80, 96, mgpu::search::max_pattern>(rows, launch);
}

}  // namespace

extern "C" {

/// Returns the constants that the host must agree on: the lanes of a tile, the columns of a chunk, the patterns of a
/// block, and the bytes of a pattern.
mgpu_status merganser_search_sizes(uint32_t* lanes, uint32_t* columns, uint32_t* patterns, uint32_t* bytes) {
  *lanes = mgpu::search::tile_lanes;
  *columns = mgpu::search::chunk_columns;
  *patterns = mgpu::search::block_patterns;
  *bytes = sizeof(mgpu::search::pattern);
  return 0;
}

/// Returns the number of rows that are computed for a pattern of `len` letters. Patterns of one launch must have the
/// same.
mgpu_status merganser_search_rows(uint32_t len, uint32_t* rows) {
  return for_rows(len, [&](auto most) { return *rows = most.value, 0; });
}

/// Makes the planes of `tiles` tiles.
mgpu_status merganser_search_planes(const mgpu::search::planes_arguments* a, uint32_t tiles, cudaStream_t stream) {
  const unsigned blocks = tiles * ((a->to.own + a->to.before) / mgpu::search::chunk_columns);
  MGPU_LAUNCH(mgpu::search::planes_kernel, blocks, mgpu::search::planes_threads, stream, *a);
  return mgpu::launch_status();
}

/// Finds the ends of patterns, all of which have kernels of `rows` rows, in `tiles` tiles.
mgpu_status merganser_search_scan(uint32_t rows, const scan_arguments* a, uint32_t tiles, cudaStream_t stream) {
  scan_arguments own = *a;
  own.groups = (a->count + mgpu::search::block_patterns - 1) / mgpu::search::block_patterns;
  return for_rows(rows, [&](auto most) {
    constexpr uint32_t rows = most.value;
    constexpr int in_registers = rows < register_rows ? rows : register_rows;
    MGPU_LAUNCH((mgpu::search::scan_kernel<rows, in_registers>), own.groups * tiles,
                mgpu::search::scan_threads, stream, own);
    return mgpu::launch_status();
  });
}
}
