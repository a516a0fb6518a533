// Measurement of time on the device and the host, and the exit after a failure.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

/// Ends the program if a call of the CUDA runtime, or one of our launchers, failed.
inline void check(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(static_cast<cudaError_t>(status)));
  std::exit(1);
}

/// Returns the seconds that `work` takes on the default stream, including synchronization.
template <class Work>
double seconds(const Work& work) {
  check(cudaDeviceSynchronize(), "waiting");
  const auto start = std::chrono::steady_clock::now();
  work();
  check(cudaDeviceSynchronize(), "working");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Returns the shortest time of three runs.
template <class Work>
double least_seconds(const Work& work) {
  double least = seconds(work);
  for (int again = 0; again < 2; ++again) {
    const double next = seconds(work);
    if (next < least) least = next;
  }
  return least;
}
