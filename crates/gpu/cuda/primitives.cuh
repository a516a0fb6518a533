// The arguments of the functions of primitives.cu, for keys of any width.
#pragma once

#include <cstdint>

namespace mgpu {

/// The arguments of a sort; without values, only keys are sorted.
struct sort_arguments {
  void* first;
  void* second;
  uint32_t* first_values;
  uint32_t* second_values;
  uint64_t items;
  int32_t begin_bit, end_bit;
};

/// The input and outputs of run-length encoding.
struct encode_arguments {
  const void* keys;
  void* unique;
  uint32_t* counts;
  uint64_t* runs;
  uint64_t items;
};

/// The input, criterion and outputs of a selection.
struct select_arguments {
  const void* keys;
  const uint32_t* counts;
  void* keys_out;
  uint32_t* counts_out;
  uint64_t* selected;
  uint64_t runs;
  uint32_t least, most;
};

}  // namespace mgpu
