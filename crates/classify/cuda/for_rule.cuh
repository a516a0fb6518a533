// Which of a template's kernels looks at the windows of a rule.
#pragma once

#include <type_traits>

#include "sketch.cuh"
#include "status.cuh"

namespace mgpu {

/// Calls `launch` with a word that k-mers of the rule fit in, and the k-mers that a window of it has at
/// most.
template <class Launch>
mgpu_status for_rule(const sketch_rule& rule, Launch launch) {
  const uint32_t kmers = rule.window + 1 - static_cast<uint32_t>(rule.k);
  using std::integral_constant;
  if (rule.k <= 16) {
    return kmers <= 128 ? launch(uint32_t{}, integral_constant<uint32_t, 128>{})
                        : launch(uint32_t{}, integral_constant<uint32_t, 1024>{});
  }
  return kmers <= 256 ? launch(uint64_t{}, integral_constant<uint32_t, 256>{})
                      : launch(uint64_t{}, integral_constant<uint32_t, 1024>{});
}

}  // namespace mgpu
