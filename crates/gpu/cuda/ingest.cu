// Launchers of the kernels that turn bytes of files into packed letters, by the conventions of status.cuh.
#include "inflate.cuh"
#include "status.cuh"
#include "text.cuh"

#include "ingest_layout.cuh"

using mgpu::launch_status;

namespace {

/// The number of tiles of a text, at least 1.
unsigned tiles(const mgpu::text_arguments* a) {
  const uint32_t end = a->end > a->start ? a->end - 1 : a->start;
  return end / mgpu::text_tile - a->first_tile + 1;
}

}  // namespace

extern "C" {

/// Returns the constants that the host must agree on: bytes of a tile of text, and bytes that are read after a block.
mgpu_status mgpu_ingest_sizes(uint32_t* tile, uint32_t* slack) {
  *tile = mgpu::text_tile;
  *slack = mgpu::inflate_slack;
  return 0;
}

/// Inflates `count` BGZF blocks, one block of threads each.
mgpu_status mgpu_inflate(const mgpu::inflate_arguments* a, uint32_t count, cudaStream_t stream) {
  MGPU_LAUNCH(mgpu::inflate_kernel, count, mgpu::inflate_threads, stream, *a);
  return launch_status();
}

/// Counts the line ends of each tile.
mgpu_status mgpu_count_lines(const mgpu::text_arguments* a, cudaStream_t stream) {
  MGPU_LAUNCH(mgpu::count_lines_kernel, tiles(a), mgpu::text_threads, stream, *a);
  return launch_status();
}

/// Writes the positions of line ends.
mgpu_status mgpu_line_ends(const mgpu::text_arguments* a, cudaStream_t stream) {
  MGPU_LAUNCH(mgpu::line_ends_kernel, tiles(a), mgpu::text_threads, stream, *a);
  return launch_status();
}

/// Checks the lines of `records` FASTQ records.
mgpu_status mgpu_check_records(const mgpu::text_arguments* a, uint32_t records, cudaStream_t stream) {
  const unsigned blocks = mgpu::grid_size(records, mgpu::text_threads, mgpu::a_block_each);
  MGPU_LAUNCH(mgpu::check_records_kernel, blocks, mgpu::text_threads, stream, *a, records);
  return launch_status();
}

/// Counts the letters of each tile.
mgpu_status mgpu_count_letters(const mgpu::text_arguments* a, cudaStream_t stream) {
  MGPU_LAUNCH(mgpu::count_letters_kernel, tiles(a), mgpu::text_threads, stream, *a);
  return launch_status();
}

/// Packs the letters of each tile.
mgpu_status mgpu_pack_letters(const mgpu::text_arguments* a, cudaStream_t stream) {
  MGPU_LAUNCH(mgpu::pack_letters_kernel, tiles(a), mgpu::text_threads, stream, *a);
  return launch_status();
}
}
