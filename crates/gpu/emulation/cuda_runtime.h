// The part of the CUDA runtime that crates/gpu/cuda uses, synchronous and on host memory, for tests of the
// device code without a GPU (block.cuh). There are two devices of MERGANSER_EMULATED_MEMORY bytes
// (1 GiB) each.
//
// For tests of error handling, MERGANSER_EMULATED_FAULT=N:STATUS makes the N-th call fail (from
// 1; launches of kernels and CUB's routines count too, freeing does not), N:STATUS:on that call and all later
// ones. MERGANSER_EMULATED_CALLS names a file to which the number of calls is written when one is made to fail and
// when the process ends.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "emulated_memory.hpp"

#define CUDART_VERSION 13000
#define __host__
#define __device__
#define __forceinline__ inline

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorSetOnActiveProcess = 708,
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  int major, minor, multiProcessorCount, pciDomainID, pciBusID, pciDeviceID;
};
struct uint4 {
  uint32_t x, y, z, w;
};
struct emulated_stream {};
struct emulated_event {
  std::chrono::steady_clock::time_point time;
};
using cudaStream_t = emulated_stream*;
using cudaEvent_t = emulated_event*;
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
constexpr unsigned cudaDeviceScheduleBlockingSync = 4, cudaHostAllocPortable = 1,
                   cudaStreamNonBlocking = 1, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;

namespace mgpu {
namespace emulation {

constexpr int devices = 2;

inline size_t memory() {
  const char* text = std::getenv("MERGANSER_EMULATED_MEMORY");
  return text ? std::strtoull(text, nullptr, 10) : size_t{1} << 30;
}

/// The allocations on each device.
struct account {
  std::mutex mutex;
  std::map<void*, std::pair<int, size_t>> blocks;
  size_t used[devices] = {};
};
inline account& memory_account() {
  static account only;
  return only;
}
inline int& current_device() {
  static thread_local int device = 0;
  return device;
}

/// The counter of this process's calls, which decides which of them fail.
class faults {
 public:
  static faults& get() {
    static faults only;
    return only;
  }

  /// Counts a call; returns the error that it is to return, or success.
  cudaError_t next() {
    const uint64_t number = ++calls_;
    if (first_ == 0 || number < first_ || (number > first_ && !on_)) return cudaSuccess;
    if (number == first_) note();
    return static_cast<cudaError_t>(status_);
  }

 private:
  faults() {
    const char* text = std::getenv("MERGANSER_EMULATED_FAULT");
    if (text == nullptr) return;
    char* end = nullptr;
    first_ = std::strtoull(text, &end, 10);
    status_ = *end == ':' ? static_cast<int>(std::strtol(end + 1, &end, 10)) : 1;
    on_ = std::strcmp(end, ":on") == 0;
  }
  ~faults() { note(); }

  void note() const {
    const char* path = std::getenv("MERGANSER_EMULATED_CALLS");
    std::FILE* file = path ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) return;
    std::fprintf(file, "%llu", static_cast<unsigned long long>(calls_.load()));
    std::fclose(file);
  }

  std::atomic<uint64_t> calls_{0};
  uint64_t first_ = 0;
  int status_ = 1;
  bool on_ = false;
};

/// The failure of a launch, until it is queried.
inline cudaError_t& last_error() {
  static thread_local cudaError_t error = cudaSuccess;
  return error;
}

}  // namespace emulation
}  // namespace mgpu

/// Returns from a function of the runtime with an error if its call is to fail.
#define MGPU_MAY_FAIL()                                              \
  do {                                                               \
    const cudaError_t fault = mgpu::emulation::faults::get().next(); \
    if (fault != cudaSuccess) return fault;                          \
  } while (false)

inline const char* cudaGetErrorName(cudaError_t) { return "emulated"; }
inline const char* cudaGetErrorString(cudaError_t) { return "an error of the emulation"; }
inline cudaError_t cudaGetLastError() {
  cudaError_t& last = mgpu::emulation::last_error();
  const cudaError_t error = last;
  return last = cudaSuccess, error;
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  MGPU_MAY_FAIL();
  return *version = CUDART_VERSION, cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  MGPU_MAY_FAIL();
  return *count = mgpu::emulation::devices, cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  MGPU_MAY_FAIL();
  *out = {};
  std::snprintf(out->name, sizeof(out->name), "emulated GPU");
  out->totalGlobalMem = mgpu::emulation::memory();
  out->major = 9;
  out->multiProcessorCount = 2;
  out->pciBusID = device;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  MGPU_MAY_FAIL();
  if (device < 0 || device >= mgpu::emulation::devices) return cudaErrorInvalidDevice;
  mgpu::emulation::current_device() = device;
  return cudaSuccess;
}
inline cudaError_t cudaSetDeviceFlags(unsigned) {
  MGPU_MAY_FAIL();
  return cudaSuccess;
}
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  MGPU_MAY_FAIL();
  return *can = 1, cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  MGPU_MAY_FAIL();
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
  MGPU_MAY_FAIL();
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  MGPU_MAY_FAIL();
  auto& account = mgpu::emulation::memory_account();
  const std::lock_guard<std::mutex> lock(account.mutex);
  *total_bytes = mgpu::emulation::memory();
  *free_bytes = *total_bytes - account.used[mgpu::emulation::current_device()];
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** out, size_t bytes) {
  MGPU_MAY_FAIL();
  auto& account = mgpu::emulation::memory_account();
  const std::lock_guard<std::mutex> lock(account.mutex);
  const int device = mgpu::emulation::current_device();
  if (account.used[device] + bytes > mgpu::emulation::memory()) return cudaErrorMemoryAllocation;
  *out = mgpu::emulation::take_memory(bytes);
  if (*out == nullptr) return cudaErrorMemoryAllocation;
  account.blocks[*out] = {device, bytes};
  account.used[device] += bytes;
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  auto& account = mgpu::emulation::memory_account();
  const std::lock_guard<std::mutex> lock(account.mutex);
  const auto block = account.blocks.find(memory);
  if (block == account.blocks.end()) return cudaErrorInvalidValue;
  account.used[block->second.first] -= block->second.second;
  mgpu::emulation::give_memory(memory, block->second.second);
  account.blocks.erase(block);
  return cudaSuccess;
}
inline cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned) {
  MGPU_MAY_FAIL();
  *out = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFreeHost(void* memory) { return std::free(memory), cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned) {
  MGPU_MAY_FAIL();
  return *out = new emulated_stream, cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return delete stream, cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  MGPU_MAY_FAIL();
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  MGPU_MAY_FAIL();
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned) {
  MGPU_MAY_FAIL();
  return *out = new emulated_event, cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  MGPU_MAY_FAIL();
  return event->time = std::chrono::steady_clock::now(), cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) {
  MGPU_MAY_FAIL();
  return cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t) {
  MGPU_MAY_FAIL();
  return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  MGPU_MAY_FAIL();
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  MGPU_MAY_FAIL();
  return std::memcpy(to, from, bytes), cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* memory, int byte, size_t bytes, cudaStream_t) {
  MGPU_MAY_FAIL();
  return std::memset(memory, byte, bytes), cudaSuccess;
}
