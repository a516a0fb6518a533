// As much of the CUDA runtime as crates/gpu/cuda uses, on host memory and at once: for tests of the
// device path where there is no GPU (block.cuh). Two devices of MERGANSER_EMULATED_MEMORY bytes
// (1 GiB) each.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

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

/// What is allocated on each device.
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

}  // namespace emulation
}  // namespace mgpu

inline const char* cudaGetErrorName(cudaError_t) { return "emulated"; }
inline const char* cudaGetErrorString(cudaError_t) { return "an error of the emulation"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) {
  return *count = mgpu::emulation::devices, cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  *out = {};
  std::snprintf(out->name, sizeof(out->name), "emulated GPU");
  out->totalGlobalMem = mgpu::emulation::memory();
  out->major = 9;
  out->multiProcessorCount = 2;
  out->pciBusID = device;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= mgpu::emulation::devices) return cudaErrorInvalidDevice;
  mgpu::emulation::current_device() = device;
  return cudaSuccess;
}
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 1, cudaSuccess; }
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  auto& account = mgpu::emulation::memory_account();
  const std::lock_guard<std::mutex> lock(account.mutex);
  *total_bytes = mgpu::emulation::memory();
  *free_bytes = *total_bytes - account.used[mgpu::emulation::current_device()];
  return cudaSuccess;
}
/// What is in it at first is anything, as on a device: a pattern that shows.
inline cudaError_t cudaMalloc(void** out, size_t bytes) {
  auto& account = mgpu::emulation::memory_account();
  const std::lock_guard<std::mutex> lock(account.mutex);
  const int device = mgpu::emulation::current_device();
  if (account.used[device] + bytes > mgpu::emulation::memory()) return cudaErrorMemoryAllocation;
  *out = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*out == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*out, 0xa5, bytes);
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
  account.blocks.erase(block);
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned) {
  *out = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFreeHost(void* memory) { return std::free(memory), cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned) {
  return *out = new emulated_stream, cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return delete stream, cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned) {
  return *out = new emulated_event, cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return event->time = std::chrono::steady_clock::now(), cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* memory, int byte, size_t bytes, cudaStream_t) {
  return std::memset(memory, byte, bytes), cudaSuccess;
}
