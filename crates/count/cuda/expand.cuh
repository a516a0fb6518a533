// Phase 2, first step: super-k-mers become k-mers (RapidGKC §III-C.3, Algorithm 1). A block expands 256
// records at a time and distributes their k-mers evenly over its threads, whatever the records' lengths.
#pragma once

#include "block.cuh"
#include "scramble.cuh"
#include "search.cuh"

namespace mgpu {

constexpr int expand_threads = 256;

template <class K>
struct expand_arguments {
  const record<record_words<K>>* records;
  uint64_t count;
  int32_t k;
  bool canonical;
  /// Only k-mers of part `part` of `parts`, by their hash, are made.
  uint32_t parts;
  uint32_t part;
  K* out;
  /// The number of k-mers that `out` holds; further k-mers are counted but not written.
  uint64_t room;
  /// The number of k-mers made, 0 at first.
  uint64_t* made;
};

/// Expands records into scrambled, optionally canonical k-mers. Each thread first loads one record, then makes
/// every 256th k-mer of the block, finding its record by a binary search among 256: O(k-mers). The grid
/// strides over the records.
/// Shared: the block's records, 3 to 17 KiB; full occupancy.
template <class K>
__global__ void __launch_bounds__(expand_threads) expand_kernel(expand_arguments<K> a) {
  constexpr int words = record_words<K>;
  MGPU_SHARED uint64_t records[expand_threads * words];
  MGPU_SHARED uint32_t starts[expand_threads];
  MGPU_SHARED uint64_t place;
  block<expand_threads> me;
  const uint64_t stride = uint64_t{me.count()} * expand_threads;
  for (uint64_t base = uint64_t{me.index()} * expand_threads; base < a.count; base += stride) {
    const uint64_t mine = base + me.thread();
    uint32_t kmers = 0;
    if (mine < a.count) {
      const record<words> one = a.records[mine];
      for (int i = 0; i < words; ++i) records[me.thread() * words + i] = one.words[i];
      kmers = static_cast<uint32_t>(one.words[words - 1] & 0xff) + 1;
    }
    uint32_t total;
    starts[me.thread()] = me.sum_before(kmers, total);
    if (me.thread() == 0 && a.parts == 1) place = me.add(a.made, uint64_t{total});
    me.sync();
    const uint32_t rounds = (total + expand_threads - 1) / expand_threads;
    for (uint32_t round = 0; round < rounds; ++round) {
      const uint32_t i = round * expand_threads + me.thread();
      K key{};
      bool wanted = i < total;
      if (wanted) {
        const uint32_t from = last_upto(starts, expand_threads, i);
        const int at = static_cast<int>(i - starts[from]);
        key = kmer_at<K>::read(records + from * words, words, at, a.k);
        if (a.canonical) key = canonical(key, a.k);
        key = scramble(key, a.k);
      }
      if (a.parts == 1) {
        if (wanted && place + i < a.room) a.out[place + i] = key;
        continue;
      }
      wanted = wanted && part_of(key, a.parts) == a.part;
      uint32_t found;
      const uint32_t before = me.sum_before(wanted, found);
      if (me.thread() == 0) place = me.add(a.made, uint64_t{found});
      me.sync();
      if (wanted && place + before < a.room) a.out[place + before] = key;
    }
    me.sync();
  }
}

}  // namespace mgpu
