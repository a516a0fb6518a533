// Measures Merganser's inflation of BGZF blocks in the same way as inflate_nvcomp.cu does nvCOMP's.
//
//   nvcc -O3 -std=c++17 --expt-relaxed-constexpr -lineinfo -arch=native -I crates/gpu/cuda bench/cuda/inflate.cu
//   a.out FILE.gz... [--text BYTES] [--batches 256,1024,4096,16384,0] [--streams N] [--runs N] [--once] [--damage]
//
// The file is on the device as it is, headers between the blocks included, and the text has no gaps. --damage changes
// one bit of each block's data: at least as many blocks must be refused as are wrong.
#include "inflate.cuh"

#include "bgzf_bench.cuh"

#ifndef OURS_KERNEL
#define OURS_KERNEL mgpu::inflate_kernel
#endif

#ifndef OURS_NAME
#define OURS_NAME "ours"
#endif

using our_block = mgpu::inflate_block;
our_block make_block(const bench::block& one) {
  our_block made{};
  made.from = one.from;
  made.to = one.to;
  made.size = one.size;
  made.text = one.text;
  return made;
}

/// Adds the number of refused blocks to `damaged`.
void launch_ours(const uint8_t* bytes, const our_block* blocks, uint8_t* text, uint32_t* damaged, uint64_t count,
                 cudaStream_t stream) {
  mgpu::inflate_arguments given{};
  given.bytes = reinterpret_cast<const uint32_t*>(bytes);
  given.blocks = blocks;
  given.text = text;
  given.damaged = damaged;
  MGPU_LAUNCH(OURS_KERNEL, static_cast<unsigned>(count), mgpu::inflate_threads, stream, given);
}
namespace {

#ifdef __CUDACC__
void describe() {
  cudaFuncAttributes about;
  bench::check(cudaFuncGetAttributes(&about, OURS_KERNEL), "attributes");
  int blocks = 0;
  bench::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, OURS_KERNEL, mgpu::inflate_threads, 0),
               "occupancy");
  cudaDeviceProp device;
  bench::check(cudaGetDeviceProperties(&device, 0), "device");
  std::printf("%s: %d registers, %zu bytes of shared memory, %zu of local memory, %d blocks a multiprocessor\n",
              device.name, about.numRegs, about.sharedSizeBytes, about.localSizeBytes, blocks);
}
#else
void describe() {}
#endif

void ours(const std::string& path, const bench::options& given) {
  bench::bgzf file = bench::load(path, given.text);
  std::vector<uint64_t> places;
  std::vector<our_block> made;
  uint64_t random = 1;
  for (const bench::block& one : file.blocks) {
    places.push_back(one.to), made.push_back(make_block(one));
    random = random * 6364136223846793005u + 1442695040888963407u;
    uint8_t& byte = file.bytes[one.from + (random >> 33) % one.size];
    if (given.damage) byte = static_cast<uint8_t>(byte ^ 1u << (random >> 60 & 7));
  }
  uint8_t* const bytes = bench::upload(file.bytes, 4096);
  uint8_t* const text = bench::device_array<uint8_t>(file.text + 4096);
  our_block* const device_blocks = bench::upload(made);
  uint32_t* const damaged = bench::upload(std::vector<uint32_t>{0});
  for (const uint64_t batch : given.batches) {
    const auto launch = [&](uint64_t first, uint64_t count, size_t, cudaStream_t stream) {
      launch_ours(bytes, device_blocks + first, text, damaged, count, stream);
      bench::check(cudaGetLastError(), "launch");
    };
    const auto verdict = [&] {
      const uint32_t refused = bench::download(damaged, 1)[0];
      bench::check(cudaMemsetAsync(damaged, 0, sizeof(uint32_t), nullptr), "reset");
      bench::check(cudaDeviceSynchronize(), "reset");
      return uint64_t{refused};
    };
    bench::measure(given.damage ? OURS_NAME ", damaged data" : OURS_NAME, path, file, text, file.text, places, batch,
                   given, launch, verdict);
  }
  for (void* memory : std::initializer_list<void*>{bytes, text, device_blocks, damaged}) cudaFree(memory);
}

}  // namespace

int main(int count, char** values) {
  bench::options given = bench::arguments(count, values);
  if (given.damage) given.once = true;
  describe();
  bench::title();
  for (const std::string& path : given.files) ours(path, given);
}
