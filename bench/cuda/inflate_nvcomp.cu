// Measures nvCOMP's batched inflation of raw DEFLATE on BGZF blocks, one chunk per block.
//
//   nvcc -O3 -std=c++17 -arch=native -I N/include bench/cuda/inflate_nvcomp.cu -L N/lib64 -lnvcomp
//   a.out FILE.gz... [--text BYTES] [--batches 256,1024,4096,16384,0] [--streams N] [--runs N]
//
// nvCOMP is in the wheel nvidia-libnvcomp-cu13 of PyPI (folder nvidia/libnvcomp; its library must be linked as
// libnvcomp.so). The DEFLATE data and the text of each block begin at multiples of the alignment that nvCOMP requires,
// at least 16. All launches of a pass over the file are timed together, by events.
#include <nvcomp/deflate.h>

#include "bgzf_bench.cuh"

namespace {

void check_nvcomp(nvcompStatus_t status, const char* what) {
  if (status == nvcompSuccess) return;
  bench::fail(std::string("nvCOMP: ") + what + ": status " + std::to_string(static_cast<int>(status)));
}

uint64_t up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

void judge(const std::string& path, const bench::options& given) {
  const bench::bgzf file = bench::load(path, given.text);
  const size_t blocks = file.blocks.size();
  const nvcompBatchedDeflateDecompressOpts_t opts = nvcompBatchedDeflateDecompressDefaultOpts;
  nvcompAlignmentRequirements_t needs;
  check_nvcomp(nvcompBatchedDeflateDecompressGetRequiredAlignments(opts, &needs), "alignment");
  const uint64_t in_step = std::max<uint64_t>(16, needs.input), out_step = std::max<uint64_t>(16, needs.output);

  std::vector<uint64_t> ins, places;
  uint64_t in_size = 0, size = 0;
  for (const bench::block& one : file.blocks) {
    ins.push_back(in_size), places.push_back(size);
    in_size += up(one.size, in_step), size += up(one.text, out_step);
  }
  std::vector<uint8_t> aligned(in_size);
  for (size_t b = 0; b < blocks; ++b) {
    std::memcpy(aligned.data() + ins[b], file.bytes.data() + file.blocks[b].from, file.blocks[b].size);
  }
  uint8_t* const in = bench::upload(aligned, 4096);
  uint8_t* const text = bench::device_array<uint8_t>(size + 4096);

  std::vector<const void*> in_pointers;
  std::vector<void*> out_pointers;
  std::vector<size_t> in_sizes, out_sizes;
  for (size_t b = 0; b < blocks; ++b) {
    in_pointers.push_back(in + ins[b]), out_pointers.push_back(text + places[b]);
    in_sizes.push_back(file.blocks[b].size), out_sizes.push_back(file.blocks[b].text);
  }
  const void** const device_in = bench::upload(in_pointers);
  void** const device_out = bench::upload(out_pointers);
  size_t* const device_in_sizes = bench::upload(in_sizes);
  size_t* const device_out_sizes = bench::upload(out_sizes);
  size_t* const device_sizes = bench::device_array<size_t>(blocks);
  nvcompStatus_t* const device_statuses = bench::device_array<nvcompStatus_t>(blocks);
  const auto poison = [&] {
    bench::check(cudaMemsetAsync(device_sizes, 0xff, blocks * sizeof(size_t), nullptr), "poison");
    bench::check(cudaMemsetAsync(device_statuses, 0xff, blocks * sizeof(nvcompStatus_t), nullptr), "poison");
    bench::check(cudaDeviceSynchronize(), "poison");
  };

  for (const uint64_t batch : given.batches) {
    const uint64_t each = batch == 0 ? blocks : std::min<uint64_t>(batch, blocks);
    size_t temp_size = 0;
    check_nvcomp(nvcompBatchedDeflateDecompressGetTempSize(each, file.largest, opts, &temp_size,
                                                           each * size_t{file.largest}, nullptr),
                 "temporary memory");
    std::vector<void*> temps;
    for (int s = 0; s < given.streams; ++s) temps.push_back(bench::device_array<uint8_t>(temp_size));
    const auto launch = [&](uint64_t first, uint64_t count, size_t s, cudaStream_t stream) {
      check_nvcomp(nvcompBatchedDeflateDecompressAsync(
                       device_in + first, device_in_sizes + first, device_out_sizes + first, device_sizes + first,
                       count, temps[s], temp_size, device_out + first, opts, device_statuses + first, stream),
                   "launch");
    };
    const auto verdict = [&] {
      const auto statuses = bench::download(device_statuses, blocks);
      const auto sizes = bench::download(device_sizes, blocks);
      uint64_t refused = 0;
      for (size_t b = 0; b < blocks; ++b) refused += statuses[b] != nvcompSuccess || sizes[b] != out_sizes[b];
      poison();
      return refused;
    };
    poison();
    bench::measure("nvCOMP", path, file, text, size, places, batch, given, launch, verdict);
    for (void* temp : temps) cudaFree(temp);
  }
  for (void* memory : std::initializer_list<void*>{in, text, device_in, device_out, device_in_sizes, device_out_sizes,
                                                   device_sizes, device_statuses}) {
    cudaFree(memory);
  }
}

}  // namespace

int main(int count, char** values) {
  const bench::options given = bench::arguments(count, values);
  bench::title();
  for (const std::string& path : given.files) judge(path, given);
}
