// The part of CUB and Thrust that crates/gpu/cuda/primitives.cu uses, implemented with the standard library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda_runtime.h"

#define CUB_VERSION 300000

namespace cuda {
namespace std {
using ::std::tuple;
}
}  // namespace cuda

namespace cub {

template <class T>
struct DoubleBuffer {
  DoubleBuffer(T* first, T* second) : buffers{first, second} {}
  T* buffers[2];
  int selector = 0;
};

/// Whether a call is a query for the number of temporary bytes.
inline bool asks(void* temporary, size_t& bytes) {
  if (temporary == nullptr) bytes = 1;
  return temporary == nullptr;
}

template <class Key>
struct bits_of {
  int begin, end;
  Key operator()(Key key) const {
    key = static_cast<Key>(key >> begin);
    const int bits = end - begin;
    return bits < 8 * static_cast<int>(sizeof(Key)) ? static_cast<Key>(key & ((Key{1} << bits) - 1)) : key;
  }
};

struct DeviceRadixSort {
  template <class Key>
  static cudaError_t SortKeys(void* temporary, size_t& bytes, DoubleBuffer<Key>& keys, uint64_t items,
                              int begin, int end, cudaStream_t) {
    if (asks(temporary, bytes)) return cudaSuccess;
    MGPU_MAY_FAIL();
    return sort(keys, items, [=](const Key& key) { return bits_of<Key>{begin, end}(key); });
  }
  template <class Key, class Decompose>
  static cudaError_t SortKeys(void* temporary, size_t& bytes, DoubleBuffer<Key>& keys, uint64_t items,
                              Decompose, int begin, int end, cudaStream_t) {
    if (asks(temporary, bytes)) return cudaSuccess;
    MGPU_MAY_FAIL();
    return sort(keys, items, [=](const Key& key) { return key.bits(begin, end); });
  }
  template <class Key, class Value>
  static cudaError_t SortPairs(void* temporary, size_t& bytes, DoubleBuffer<Key>& keys,
                               DoubleBuffer<Value>& values, uint64_t items, int begin, int end,
                               cudaStream_t) {
    if (asks(temporary, bytes)) return cudaSuccess;
    MGPU_MAY_FAIL();
    return sort_pairs(keys, values, items,
                      [=](const Key& key) { return bits_of<Key>{begin, end}(key); });
  }
  template <class Key, class Value, class Decompose>
  static cudaError_t SortPairs(void* temporary, size_t& bytes, DoubleBuffer<Key>& keys,
                               DoubleBuffer<Value>& values, uint64_t items, Decompose, int begin,
                               int end, cudaStream_t) {
    if (asks(temporary, bytes)) return cudaSuccess;
    MGPU_MAY_FAIL();
    return sort_pairs(keys, values, items, [=](const Key& key) { return key.bits(begin, end); });
  }

 private:
  /// Sorts into the other buffer, as a sort with an odd number of passes does.
  template <class Key, class By>
  static cudaError_t sort(DoubleBuffer<Key>& keys, uint64_t items, By by) {
    Key* from = keys.buffers[keys.selector];
    keys.selector ^= 1;
    Key* to = keys.buffers[keys.selector];
    std::copy(from, from + items, to);
    std::stable_sort(to, to + items, [&](const Key& a, const Key& b) { return by(a) < by(b); });
    std::fill(from, from + items, Key{});
    return cudaSuccess;
  }
  template <class Key, class Value, class By>
  static cudaError_t sort_pairs(DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values, uint64_t items,
                                By by) {
    const Key* from = keys.buffers[keys.selector];
    const Value* from_values = values.buffers[values.selector];
    std::vector<uint64_t> order(items);
    std::iota(order.begin(), order.end(), uint64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](uint64_t a, uint64_t b) { return by(from[a]) < by(from[b]); });
    keys.selector ^= 1;
    values.selector ^= 1;
    for (uint64_t i = 0; i < items; ++i) {
      keys.buffers[keys.selector][i] = from[order[i]];
      values.buffers[values.selector][i] = from_values[order[i]];
    }
    return cudaSuccess;
  }
};

struct DeviceRunLengthEncode {
  template <class Key>
  static cudaError_t Encode(void* temporary, size_t& bytes, const Key* keys, Key* unique,
                            uint32_t* counts, uint64_t* runs, int items, cudaStream_t) {
    if (asks(temporary, bytes)) return cudaSuccess;
    MGPU_MAY_FAIL();
    *runs = 0;
    for (int i = 0; i < items; ++i) {
      if (i == 0 || !(keys[i] == keys[i - 1])) {
        unique[*runs] = keys[i];
        counts[(*runs)++] = 0;
      }
      ++counts[*runs - 1];
    }
    return cudaSuccess;
  }
};

struct DeviceScan {
  template <class In, class Out, class Plus, class Zero>
  static cudaError_t ExclusiveScan(void* temporary, size_t& bytes, const In* in, Out* out, Plus,
                                   Zero zero, int64_t items, cudaStream_t) {
    if (asks(temporary, bytes)) return cudaSuccess;
    MGPU_MAY_FAIL();
    Out sum = zero;
    for (int64_t i = 0; i < items; ++i) {
      const Out next = sum + in[i];
      out[i] = sum;
      sum = next;
    }
    return cudaSuccess;
  }
};

struct DeviceSelect {
  template <class In, class Out, class If_>
  static cudaError_t If(void* temporary, size_t& bytes, In in, Out out, uint64_t* selected,
                        int64_t items, If_ wanted, cudaStream_t) {
    if (asks(temporary, bytes)) return cudaSuccess;
    MGPU_MAY_FAIL();
    *selected = 0;
    for (int64_t i = 0; i < items; ++i) {
      if (wanted(in.get(i))) out.set((*selected)++, in.get(i));
    }
    return cudaSuccess;
  }
};

}  // namespace cub

namespace thrust {

template <class T>
struct plus {};

using std::get;
using std::make_tuple;

template <class A, class B>
struct zip {
  A* a;
  B* b;
  auto get(int64_t i) const { return std::make_tuple(a[i], b[i]); }
  template <class Pair>
  void set(int64_t i, const Pair& pair) const {
    a[i] = std::get<0>(pair);
    b[i] = std::get<1>(pair);
  }
};

template <class A, class B>
zip<A, B> make_zip_iterator(const std::tuple<A*, B*>& both) {
  return {std::get<0>(both), std::get<1>(both)};
}

}  // namespace thrust
