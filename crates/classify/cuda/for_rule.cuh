// Selects the instance of a kernel template for a sketching rule.
#pragma once

#include "dispatch.cuh"
#include "sketch.cuh"

namespace mgpu {

/// Calls `launch` with a word that fits the k-mers of the rule, and the maximum number of k-mers of its windows.
template <class Launch>
mgpu_status for_rule(const sketch_rule& rule, Launch launch) {
  const uint32_t kmers = rule.window + 1 - static_cast<uint32_t>(rule.k);
  if (rule.k <= 16) {
    return for_at_least<128, 1024>(kmers, [&](auto most) { return launch(uint32_t{}, most); });
  }
  return for_at_least<256, 1024>(kmers, [&](auto most) { return launch(uint64_t{}, most); });
}

}  // namespace mgpu
