// All uses of CUB in Merganser: radix sort, scan, run lengths and selection, by the conventions of status.cuh. A
// call with a null `temporary` only returns the number of temporary bytes. Item counts are 64 bits wide as far
// as the toolkit's CUB allows (mgpu_item_limits).
#include "dispatch.cuh"
#include "portable.cuh"
#include "primitives.cuh"
#include "status.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/functional.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <climits>
#include <type_traits>
#include <cuda/std/tuple>

using mgpu::status_of;
using mgpu::uint128;

namespace mgpu {

// Before CCCL 2.8 (CUDA 12.9) scan and select count their items with int.
#if CUB_VERSION >= 200800
using item_count = int64_t;
#else
using item_count = int;
#endif

/// The words of a wide key, most significant first: the decomposition that the radix sort needs.
struct words_of {
  __host__ __device__ cuda::std::tuple<uint128&, uint128&> operator()(uint256& key) const {
    return {key.high, key.low};
  }
};

/// Sorts keys, and values if there are any. Both buffers have room for `items` keys; `in_second` becomes whether
/// the second has the result.
template <class Key>
mgpu_status sort(void* temporary, uint64_t* temporary_bytes, const sort_arguments& a,
                 bool* in_second, cudaStream_t stream) {
  cub::DoubleBuffer<Key> keys(static_cast<Key*>(a.first), static_cast<Key*>(a.second));
  cub::DoubleBuffer<uint32_t> values(a.first_values, a.second_values);
  size_t bytes = *temporary_bytes;
  const auto order = [&](auto... words) {
    using sorts = cub::DeviceRadixSort;
    return a.first_values == nullptr
               ? sorts::SortKeys(temporary, bytes, keys, a.items, words..., a.begin_bit, a.end_bit, stream)
               : sorts::SortPairs(temporary, bytes, keys, values, a.items, words..., a.begin_bit,
                                  a.end_bit, stream);
  };
  cudaError_t error;
  if constexpr (std::is_same<Key, uint256>::value) {
    error = order(words_of{});
  } else {
    error = order();
  }
  *temporary_bytes = bytes;
  *in_second = keys.selector == 1;
  return status_of(error);
}

/// Encodes runs of equal neighbours: each run's key and length, and the number of runs.
template <class Key>
mgpu_status encode_runs(void* temporary, uint64_t* temporary_bytes, const encode_arguments& a,
                        cudaStream_t stream) {
  size_t bytes = *temporary_bytes;
  const mgpu_status status = status_of(cub::DeviceRunLengthEncode::Encode(
      temporary, bytes, static_cast<const Key*>(a.keys), static_cast<Key*>(a.unique), a.counts,
      a.runs, static_cast<int>(a.items), stream));
  *temporary_bytes = bytes;
  return status;
}

struct count_is_within {
  uint32_t least;
  uint32_t most;
  template <class Pair>
  __host__ __device__ bool operator()(const Pair& run) const {
    const uint32_t count = thrust::get<1>(run);
    return least <= count && count <= most;
  }
};

/// Selects the runs whose count is from `least` to `most`, in order, and counts them.
template <class Key>
mgpu_status select_runs(void* temporary, uint64_t* temporary_bytes, const select_arguments& a,
                        cudaStream_t stream) {
  size_t bytes = *temporary_bytes;
  using thrust::make_tuple;
  using thrust::make_zip_iterator;
  const auto in = make_zip_iterator(make_tuple(static_cast<const Key*>(a.keys), a.counts));
  const auto out = make_zip_iterator(make_tuple(static_cast<Key*>(a.keys_out), a.counts_out));
  const mgpu_status status = status_of(
      cub::DeviceSelect::If(temporary, bytes, in, out, a.selected, static_cast<item_count>(a.runs),
                            count_is_within{a.least, a.most}, stream));
  *temporary_bytes = bytes;
  return status;
}

/// Sets out[i] to the sum of in[0] to in[i - 1], in 64 bits for any width of `in`.
template <class Value>
mgpu_status scan_exclusive(void* temporary, uint64_t* temporary_bytes, const Value* in,
                           uint64_t* out, uint64_t items, cudaStream_t stream) {
  size_t bytes = *temporary_bytes;
  const mgpu_status status = status_of(
      cub::DeviceScan::ExclusiveScan(temporary, bytes, in, out, thrust::plus<uint64_t>{}, uint64_t{0},
                                     static_cast<item_count>(items), stream));
  *temporary_bytes = bytes;
  return status;
}

}  // namespace mgpu

#include "primitives_layout.cuh"

extern "C" {

/// Returns the largest number of items of a scan or selection, and of keys of a run-length encoding. The latter is
/// limited by int positions in every CUB, so that 32-bit counts cannot wrap. Sorts have no limit.
mgpu_status mgpu_item_limits(uint64_t* items, uint64_t* runs) {
  *items = sizeof(mgpu::item_count) == sizeof(int) ? INT_MAX : INT64_MAX;
  *runs = INT_MAX;
  return 0;
}

/// Sorts keys of 4, 8, 16 or 32 bytes.
mgpu_status mgpu_sort(uint32_t key_bytes, void* temporary, uint64_t* temporary_bytes,
                      const mgpu::sort_arguments* a, bool* in_second, cudaStream_t stream) {
  return mgpu::for_key<uint32_t, uint64_t, uint128, mgpu::uint256>(key_bytes, [&](auto key) {
    return mgpu::sort<decltype(key)>(temporary, temporary_bytes, *a, in_second, stream);
  });
}

/// Encodes runs of keys of 4, 8 or 16 bytes.
mgpu_status mgpu_encode_runs(uint32_t key_bytes, void* temporary, uint64_t* temporary_bytes,
                             const mgpu::encode_arguments* a, cudaStream_t stream) {
  return mgpu::for_key<uint32_t, uint64_t, uint128>(key_bytes, [&](auto key) {
    return mgpu::encode_runs<decltype(key)>(temporary, temporary_bytes, *a, stream);
  });
}

/// Selects runs of keys of 4, 8 or 16 bytes.
mgpu_status mgpu_select_runs(uint32_t key_bytes, void* temporary, uint64_t* temporary_bytes,
                             const mgpu::select_arguments* a, cudaStream_t stream) {
  return mgpu::for_key<uint32_t, uint64_t, uint128>(key_bytes, [&](auto key) {
    return mgpu::select_runs<decltype(key)>(temporary, temporary_bytes, *a, stream);
  });
}

/// Computes exclusive prefix sums of values of 4 or 8 bytes.
mgpu_status mgpu_scan_exclusive(uint32_t value_bytes, void* temporary, uint64_t* temporary_bytes,
                                const void* in, uint64_t* out, uint64_t items, cudaStream_t stream) {
  return mgpu::for_key<uint32_t, uint64_t>(value_bytes, [&](auto value) {
    const auto* values = static_cast<const decltype(value)*>(in);
    return mgpu::scan_exclusive(temporary, temporary_bytes, values, out, items, stream);
  });
}
}
