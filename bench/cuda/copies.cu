// Four ways to copy reads from host to device, as in Figure 8 of the RapidGKC paper (§IV-A). Prints a Markdown table
// of effective GB/s with one host thread.
//
//   one call per read        each read is copied from where it is stored
//   fresh pinned memory      reads are gathered in pinned memory that is allocated for the batch
//   pinned memory, reused    reads are gathered in the pinned memory of the previous batch
//   two buffers, reused      like this, with one batch gathered while another is copied
//
//   nvcc -O3 -std=c++17 -arch=native bench/cuda/copies.cu
#include <cstring>
#include <vector>

#include "clock.cuh"

namespace {

constexpr size_t batch_bytes = size_t{64} << 20;
constexpr size_t batches = 16;

struct reads {
  std::vector<char> text;
  size_t length;
  size_t per_batch() const { return batch_bytes / length; }
  const char* read(size_t batch, size_t number) const {
    return text.data() + (batch * per_batch() + number) * length;
  }
};

void gather(const reads& from, size_t batch, char* to) {
  for (size_t i = 0; i < from.per_batch(); ++i) {
    std::memcpy(to + i * from.length, from.read(batch, i), from.length);
  }
}

char* pinned(size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), "pinned memory");
  return static_cast<char*>(memory);
}

void a_call_a_read(const reads& from, char* device) {
  for (size_t batch = 0; batch < batches; ++batch) {
    for (size_t i = 0; i < from.per_batch(); ++i) {
      check(cudaMemcpyAsync(device + i * from.length, from.read(batch, i), from.length, cudaMemcpyHostToDevice), "copy");
    }
  }
}

void fresh_pinned(const reads& from, char* device) {
  for (size_t batch = 0; batch < batches; ++batch) {
    char* const host = pinned(batch_bytes);
    gather(from, batch, host);
    check(cudaMemcpy(device, host, batch_bytes, cudaMemcpyHostToDevice), "copy");
    check(cudaFreeHost(host), "freeing");
  }
}

void reused_pinned(const reads& from, char* device, char* host) {
  for (size_t batch = 0; batch < batches; ++batch) {
    gather(from, batch, host);
    check(cudaMemcpy(device, host, batch_bytes, cudaMemcpyHostToDevice), "copy");
  }
}

void two_buffers(const reads& from, char* device, char* const (&hosts)[2], cudaEvent_t const (&copied)[2]) {
  for (size_t batch = 0; batch < batches; ++batch) {
    check(cudaEventSynchronize(copied[batch % 2]), "waiting");
    gather(from, batch, hosts[batch % 2]);
    check(cudaMemcpyAsync(device, hosts[batch % 2], batch_bytes, cudaMemcpyHostToDevice), "copy");
    check(cudaEventRecord(copied[batch % 2]), "event");
  }
}

}  // namespace

int main() {
  char* device = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&device), batch_bytes), "device memory");
  char* const hosts[2] = {pinned(batch_bytes), pinned(batch_bytes)};
  cudaEvent_t copied[2];
  for (auto& event : copied) check(cudaEventCreate(&event), "event");
  std::printf("| bases per read | one call per read | fresh pinned memory | pinned memory, reused | two buffers, reused |\n|---|---|---|---|---|\n");
  for (const size_t length : {size_t{150}, size_t{10000}}) {
    const reads from{std::vector<char>(batches * batch_bytes, 'A'), length};
    const double gigabytes = static_cast<double>(batches * from.per_batch() * length) / 1e9;
    const double times[] = {
        least_seconds([&] { a_call_a_read(from, device); }),
        least_seconds([&] { fresh_pinned(from, device); }),
        least_seconds([&] { reused_pinned(from, device, hosts[0]); }),
        least_seconds([&] { two_buffers(from, device, hosts, copied); }),
    };
    std::printf("| %zu | %.2f | %.2f | %.2f | %.2f |\n", length, gigabytes / times[0], gigabytes / times[1], gigabytes / times[2], gigabytes / times[3]);
  }
  return 0;
}
