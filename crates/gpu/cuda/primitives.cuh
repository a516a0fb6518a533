// What the functions of primitives.cu work on, whatever the width of their keys.
#pragma once

#include <cstdint>

namespace mgpu {

/// What a sort works on; without values keys alone.
struct sort_arguments {
  void* first;
  void* second;
  uint32_t* first_values;
  uint32_t* second_values;
  uint64_t items;
  int32_t begin_bit, end_bit;
};

/// What run lengths are made of, and where they go.
struct encode_arguments {
  const void* keys;
  void* unique;
  uint32_t* counts;
  uint64_t* runs;
  uint64_t items;
};

/// What is selected from, what of it, and where it goes.
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
