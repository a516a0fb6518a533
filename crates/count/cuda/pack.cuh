// Compact records of kept k-mers and their counts, for storage before the final sort: the format of
// crates/kmers/src/scattered/record.rs. The leading bits that all k-mers of a range share are left out. A record
// has the bytes of the other bits, the lowest first, and a byte for the count, or 255 and four more bytes for
// larger counts. Records of a range are contiguous.
#pragma once

#include "block.cuh"
#include "search.cuh"
#include "wide.cuh"

namespace mgpu {

constexpr int pack_threads = 256;
/// The count byte of a large count, and the smallest count that is large.
constexpr uint32_t large_count = 255;
/// The number of bytes of a large count after that byte.
constexpr uint32_t large_bytes = 4;

/// Byte `at` of a k-mer, the lowest first.
MGPU_HD uint8_t byte_of(uint256 kmer, uint32_t at) {
  return static_cast<uint8_t>(at < 16 ? kmer.low >> 8 * at : kmer.high >> 8 * (at - 16));
}
template <class K>
MGPU_HD uint8_t byte_of(K kmer, uint32_t at) {
  return static_cast<uint8_t>(kmer >> 8 * at);
}

/// Sets byte `at` of a k-mer, which is 0 there.
MGPU_HD void or_byte(uint256& kmer, uint32_t at, uint8_t byte) {
  if (at < 16) {
    kmer.low |= uint128{byte} << 8 * at;
  } else {
    kmer.high |= uint128{byte} << 8 * (at - 16);
  }
}
template <class K>
MGPU_HD void or_byte(K& kmer, uint32_t at, uint8_t byte) {
  kmer |= static_cast<K>(byte) << 8 * at;
}

/// The k-mer that begins with the bits of `range` and ends with the last `rest` bits (fewer than all) of
/// `kmer`.
MGPU_HD uint256 in_range(uint256 kmer, uint32_t range, int rest) {
  if (rest < 128) {
    const uint128 mask = ~(~uint128{0} << rest);
    const uint128 above = rest == 0 ? 0 : uint128{range} >> (128 - rest);
    return {above, (kmer.low & mask) | uint128{range} << rest};
  }
  const uint128 mask = ~(~uint128{0} << (rest - 128));
  return {(kmer.high & mask) | uint128{range} << (rest - 128), kmer.low};
}
template <class K>
MGPU_HD K in_range(K kmer, uint32_t range, int rest) {
  const K mask = static_cast<K>(~(~K{0} << rest));
  return (kmer & mask) | static_cast<K>(static_cast<K>(range) << rest);
}

template <class K>
struct split_arguments {
  const K* kmers;
  const uint32_t* counts;
  uint64_t count;
  /// Output: the k-mers with small counts from the start, those with large counts from the end.
  K* kmers_out;
  /// Output: their counts.
  uint32_t* counts_out;
  /// The number of small counts and the number of large counts, 0 at first.
  uint64_t* numbers;
};

/// Partitions k-mers, unordered, into those with small and those with large counts, one thread per k-mer.
/// The grid strides over the k-mers; a block reserves its output by two atomic additions per step.
/// O(k-mers). Shared: 52 bytes; full occupancy.
template <class K>
__global__ void __launch_bounds__(pack_threads) split_kernel(split_arguments<K> a) {
  MGPU_SHARED uint64_t places[2];
  block<pack_threads> me;
  const uint64_t stride = uint64_t{me.count()} * pack_threads;
  for (uint64_t base = uint64_t{me.index()} * pack_threads; base < a.count; base += stride) {
    const uint64_t at = base + me.thread();
    const uint32_t here = a.count - base < pack_threads ? static_cast<uint32_t>(a.count - base) : pack_threads;
    const uint32_t count = at < a.count ? a.counts[at] : 0;
    const bool small = at < a.count && count < large_count;
    uint32_t smalls;
    const uint32_t before = me.sum_before(small, smalls);
    if (me.thread() == 0) {
      places[0] = me.add(&a.numbers[0], uint64_t{smalls});
      places[1] = me.add(&a.numbers[1], uint64_t{here - smalls});
    }
    me.sync();
    if (at < a.count) {
      const uint64_t place =
          small ? places[0] + before : a.count - 1 - (places[1] + me.thread() - before);
      a.kmers_out[place] = a.kmers[at];
      a.counts_out[place] = count;
    }
    me.sync();
  }
}

template <class K>
struct pack_arguments {
  const K* kmers;
  const uint32_t* counts;
  uint64_t count;
  /// The number of bytes of a k-mer in a record.
  uint32_t kmer_bytes;
  /// Whether all counts are large; otherwise all are small.
  bool large;
  uint8_t* records;
};

/// Packs one k-mer per thread, with one store per byte; the caches merge the stores. No shared memory; full
/// occupancy.
template <class K>
__global__ void __launch_bounds__(pack_threads) pack_kernel(pack_arguments<K> a) {
  block<pack_threads> me;
  const uint64_t at = uint64_t{me.index()} * pack_threads + me.thread();
  if (at >= a.count) return;
  uint8_t* record = a.records + at * (a.kmer_bytes + 1 + (a.large ? large_bytes : 0));
  const K kmer = a.kmers[at];
  for (uint32_t i = 0; i < a.kmer_bytes; ++i) record[i] = byte_of(kmer, i);
  const uint32_t count = a.counts[at];
  record[a.kmer_bytes] = static_cast<uint8_t>(a.large ? large_count : count);
  if (!a.large) return;
  for (uint32_t i = 0; i < large_bytes; ++i) {
    record[a.kmer_bytes + 1 + i] = static_cast<uint8_t>(count >> 8 * i);
  }
}

/// Runs of packed records; all records of a run are of one range.
struct packed_runs {
  const uint8_t* records;
  /// The first byte of each run, and the end of the last.
  const uint64_t* starts;
  /// The range of each run.
  const uint32_t* ranges;
  uint32_t runs;
  uint32_t kmer_bytes;
  /// The number of low bits of a k-mer, below those of its range.
  int32_t rest;
};

/// The k-mer of a record.
template <class K>
MGPU_HD K unpacked(const packed_runs& a, const uint8_t* record, uint32_t range) {
  K kmer{};
  for (uint32_t i = 0; i < a.kmer_bytes; ++i) or_byte(kmer, i, record[i]);
  return in_range(kmer, range, a.rest);
}

template <class K>
struct unpack_arguments {
  packed_runs runs;
  /// The number of k-mers of all runs if it is known, otherwise the capacity for them.
  uint64_t count;
  K* kmers;
  uint32_t* counts;
  /// The number of k-mers made, 0 at first; used if it is not known before.
  uint64_t* made;
};

/// Unpacks runs with only small counts, one record per thread, in the order of the runs; the thread finds its
/// run by a binary search. O(log(runs) + bytes of a record) per thread. No shared memory; full occupancy.
template <class K>
__global__ void __launch_bounds__(pack_threads) unpack_kernel(unpack_arguments<K> a) {
  block<pack_threads> me;
  const uint64_t at = uint64_t{me.index()} * pack_threads + me.thread();
  if (at >= a.count) return;
  const uint64_t byte = at * (a.runs.kmer_bytes + 1);
  const uint32_t run = last_upto(a.runs.starts, a.runs.runs, byte);
  const uint8_t* record = a.runs.records + byte;
  a.kmers[at] = unpacked<K>(a.runs, record, a.runs.ranges[run]);
  a.counts[at] = record[a.runs.kmer_bytes];
}

/// Unpacks any runs, one run a thread, unordered: the thread scans its records once for their number, reserves
/// the output, and scans them again. Runs are short.
/// O(bytes of a run) a thread. No shared memory; full occupancy, three quarters with some key widths.
template <class K>
__global__ void __launch_bounds__(pack_threads) unpack_any_kernel(unpack_arguments<K> a) {
  block<pack_threads> me;
  const uint32_t run = me.index() * pack_threads + me.thread();
  if (run >= a.runs.runs) return;
  const uint32_t count_at = a.runs.kmer_bytes;
  const uint8_t* end = a.runs.records + a.runs.starts[run + 1];
  const uint8_t* start = a.runs.records + a.runs.starts[run];
  const auto bytes_of = [&](const uint8_t* record) {
    return count_at + 1 + (record[count_at] == large_count ? large_bytes : 0);
  };
  uint64_t number = 0;
  for (const uint8_t* record = start; record < end; record += bytes_of(record)) ++number;
  uint64_t place = me.add(a.made, number);
  if (place + number > a.count) return;
  const uint32_t range = a.runs.ranges[run];
  for (const uint8_t* record = start; record < end; record += bytes_of(record)) {
    uint32_t count = record[count_at];
    if (count == large_count) {
      count = 0;
      for (uint32_t i = 0; i < large_bytes; ++i) {
        count |= uint32_t{record[count_at + 1 + i]} << 8 * i;
      }
    }
    a.kmers[place] = unpacked<K>(a.runs, record, range);
    a.counts[place++] = count;
  }
}

}  // namespace mgpu
