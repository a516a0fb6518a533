// Dispatch from a number that a launcher is given to the constant or type for which a kernel is compiled.
#pragma once

#include <type_traits>

#include "status.cuh"

namespace mgpu {

/// Calls `launch`, which returns a status, with a key of the first of these types that has `bytes` bytes.
template <class First, class... Rest, class Launch>
mgpu_status for_key(uint32_t bytes, Launch launch) {
  if (bytes == sizeof(First)) return launch(First{});
  if constexpr (sizeof...(Rest) > 0) return for_key<Rest...>(bytes, launch);
  return static_cast<mgpu_status>(cudaErrorInvalidValue);
}

/// Calls `launch`, which returns a status, with the first of these ascending constants that is at
/// least `number`.
template <uint32_t First, uint32_t... Rest, class Launch>
mgpu_status for_at_least(uint32_t number, Launch launch) {
  if (number <= First) return launch(std::integral_constant<uint32_t, First>{});
  if constexpr (sizeof...(Rest) > 0) return for_at_least<Rest...>(number, launch);
  return static_cast<mgpu_status>(cudaErrorInvalidValue);
}

}  // namespace mgpu
