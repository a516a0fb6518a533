// The functions of the CUDA runtime that Rust uses, by the conventions of status.cuh. Handles of streams and
// events are opaque to Rust.
#include "status.cuh"

#include <cstring>

using mgpu::status_of;

extern "C" {

struct mgpu_device_properties {
  char name[256];
  uint64_t total_memory;
  int32_t major;
  int32_t minor;
  int32_t multiprocessors;
  int32_t pci_domain;
  int32_t pci_bus;
  int32_t pci_device;
};
}

#include "runtime_layout.cuh"

extern "C" {

/// Returns the CUDA version with which this was compiled: 13000 is 13.0.
mgpu_status mgpu_runtime_version(int32_t* version) {
  *version = CUDART_VERSION;
  return 0;
}

/// Returns the newest CUDA version that the driver supports; 0 if there is no driver, which is not an error.
mgpu_status mgpu_driver_version(int32_t* version) { return status_of(cudaDriverGetVersion(version)); }

/// Returns the name and the text of a CUDA status: constants with static lifetime.
mgpu_status mgpu_describe_status(mgpu_status status, const char** name, const char** text) {
  *name = cudaGetErrorName(static_cast<cudaError_t>(status));
  *text = cudaGetErrorString(static_cast<cudaError_t>(status));
  return 0;
}

mgpu_status mgpu_device_count(int32_t* count) { return status_of(cudaGetDeviceCount(count)); }

mgpu_status mgpu_describe_device(int32_t device, mgpu_device_properties* out) {
  cudaDeviceProp properties;
  const mgpu_status status = status_of(cudaGetDeviceProperties(&properties, device));
  if (status != 0) {
    return status;
  }
  static_assert(sizeof(out->name) == sizeof(properties.name), "CUDA's names are 256 bytes");
  std::memcpy(out->name, properties.name, sizeof(out->name));
  out->total_memory = properties.totalGlobalMem;
  out->major = properties.major;
  out->minor = properties.minor;
  out->multiprocessors = properties.multiProcessorCount;
  out->pci_domain = properties.pciDomainID;
  out->pci_bus = properties.pciBusID;
  out->pci_device = properties.pciDeviceID;
  return 0;
}

/// Makes a device the calling thread's current one. The first call for a device creates its context.
mgpu_status mgpu_set_device(int32_t device) { return status_of(cudaSetDevice(device)); }

/// Prepares the current device: creates its context, and makes threads that wait for the device sleep
/// instead of spin, since the CPU has work of its own.
mgpu_status mgpu_start_device() {
  const cudaError_t error = cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
  const mgpu_status status = status_of(error);
  // Old drivers do not change the flags of an existing context: waits then spin.
  if (status != 0 && error != cudaErrorSetOnActiveProcess) {
    return status;
  }
  // CUDA 11's cudaSetDevice does not create the context; freeing null does, in all versions.
  return status_of(cudaFree(nullptr));
}

/// Enables access of the current device to the memory of device `other`, if the hardware supports it:
/// copies between them then bypass the host.
mgpu_status mgpu_reach_device(int32_t device, int32_t other, int32_t* reached) {
  *reached = 0;
  const mgpu_status status = status_of(cudaDeviceCanAccessPeer(reached, device, other));
  if (status != 0 || *reached == 0) {
    return status;
  }
  const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
    return 0;
  }
  *reached = error == cudaSuccess ? 1 : 0;
  return status_of(error);
}

mgpu_status mgpu_synchronize_device() { return status_of(cudaDeviceSynchronize()); }

mgpu_status mgpu_memory_info(uint64_t* free_bytes, uint64_t* total_bytes) {
  size_t free_size = 0, total_size = 0;
  const mgpu_status status = status_of(cudaMemGetInfo(&free_size, &total_size));
  *free_bytes = free_size;
  *total_bytes = total_size;
  return status;
}

mgpu_status mgpu_allocate(uint64_t bytes, void** out) { return status_of(cudaMalloc(out, bytes)); }
mgpu_status mgpu_free(void* memory) { return status_of(cudaFree(memory)); }

/// Allocates pinned host memory that every device can access. Not write-combined: the host reads it too.
mgpu_status mgpu_allocate_pinned(uint64_t bytes, void** out) {
  return status_of(cudaHostAlloc(out, bytes, cudaHostAllocPortable));
}
mgpu_status mgpu_free_pinned(void* memory) { return status_of(cudaFreeHost(memory)); }

mgpu_status mgpu_create_stream(cudaStream_t* out) {
  return status_of(cudaStreamCreateWithFlags(out, cudaStreamNonBlocking));
}
mgpu_status mgpu_destroy_stream(cudaStream_t stream) { return status_of(cudaStreamDestroy(stream)); }
mgpu_status mgpu_synchronize_stream(cudaStream_t stream) {
  return status_of(cudaStreamSynchronize(stream));
}
/// Makes work enqueued on `stream` from now on wait for `event`.
mgpu_status mgpu_stream_wait(cudaEvent_t event, cudaStream_t stream) {
  return status_of(cudaStreamWaitEvent(stream, event, 0));
}

/// Creates an event. `timing`: whether it records the time; without, events are cheaper.
mgpu_status mgpu_create_event(bool timing, cudaEvent_t* out) {
  const unsigned flags = cudaEventBlockingSync | (timing ? 0u : cudaEventDisableTiming);
  return status_of(cudaEventCreateWithFlags(out, flags));
}
mgpu_status mgpu_destroy_event(cudaEvent_t event) { return status_of(cudaEventDestroy(event)); }
mgpu_status mgpu_record_event(cudaEvent_t event, cudaStream_t stream) {
  return status_of(cudaEventRecord(event, stream));
}
mgpu_status mgpu_synchronize_event(cudaEvent_t event) {
  return status_of(cudaEventSynchronize(event));
}
/// Returns in `done` whether all work before the event's record has ended.
mgpu_status mgpu_query_event(cudaEvent_t event, bool* done) {
  const cudaError_t error = cudaEventQuery(event);
  *done = error == cudaSuccess;
  const mgpu_status status = status_of(error);
  return error == cudaErrorNotReady ? 0 : status;
}
mgpu_status mgpu_elapsed_milliseconds(cudaEvent_t from, cudaEvent_t to, float* milliseconds) {
  return status_of(cudaEventElapsedTime(milliseconds, from, to));
}

/// Enqueues a copy between host memory, pinned or not, and memory of any device, in any combination. The runtime
/// detects the kind of memory from the address.
mgpu_status mgpu_copy(void* to, const void* from, uint64_t bytes, cudaStream_t stream) {
  return status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}
mgpu_status mgpu_fill(void* memory, uint8_t byte, uint64_t bytes, cudaStream_t stream) {
  return status_of(cudaMemsetAsync(memory, byte, bytes, stream));
}
}
