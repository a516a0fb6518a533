// k-mers that stay, with their counts, in few bytes while they wait: the records of
// crates/kmers/src/scattered/record.rs. What all k-mers of a range (a few first bits) begin with is
// left out: a record is the bytes of the rest, the lowest first, and a byte for the count, or 255 and
// four more bytes for those that are larger. Records of a range lie side by side.
#pragma once

#include "block.cuh"
#include "search.cuh"
#include "wide.cuh"

namespace mgpu {

constexpr int pack_threads = 256;
/// A count byte that says that the count follows, and the least count that needs it.
constexpr uint32_t large_count = 255;
/// Bytes of a large count behind that byte.
constexpr uint32_t large_bytes = 4;

MGPU_HD uint8_t byte_of(uint256 kmer, uint32_t at) {
  return static_cast<uint8_t>(at < 16 ? kmer.low >> 8 * at : kmer.high >> 8 * (at - 16));
}
template <class K>
MGPU_HD uint8_t byte_of(K kmer, uint32_t at) {
  return static_cast<uint8_t>(kmer >> 8 * at);
}

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

/// The k-mer whose first bits are `range` and whose last `rest` bits (fewer than all) are those of
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
  /// As many, those with small counts from the start on, the others from the end on.
  K* kmers_out;
  uint32_t* counts_out;
  /// How many have small counts, and how many large ones; from 0.
  uint64_t* numbers;
};

/// Tells k-mers apart whose counts are large, in no order.
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
  /// Bytes of a k-mer in a record.
  uint32_t kmer_bytes;
  /// All counts are large, or none is.
  bool large;
  uint8_t* records;
};

/// A k-mer a thread, a store a byte, which the caches merge. No shared memory; full occupancy.
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

/// Packed records: runs of them, each of one range.
struct packed_runs {
  const uint8_t* records;
  /// Of the run's records: its first byte, with one item more; its range.
  const uint64_t* starts;
  const uint32_t* ranges;
  uint32_t runs;
  uint32_t kmer_bytes;
  /// Bits of a k-mer that are not its range's.
  int32_t rest;
};

template <class K>
MGPU_HD K unpacked(const packed_runs& a, const uint8_t* record, uint32_t range) {
  K kmer{};
  for (uint32_t i = 0; i < a.kmer_bytes; ++i) or_byte(kmer, i, record[i]);
  return in_range(kmer, range, a.rest);
}

template <class K>
struct unpack_arguments {
  packed_runs runs;
  /// k-mers of all runs, where their number is known; else the room for them.
  uint64_t count;
  K* kmers;
  uint32_t* counts;
  /// How many there are, from 0, where their number is not known.
  uint64_t* made;
};

/// Runs none of whose counts is large: a thread a record, in their order.
/// O(log(runs) + bytes of a record) a thread. No shared memory; full occupancy.
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

/// Any runs, a thread a run: it goes over its records twice, first for their number. In no order.
/// A run a thread: O(bytes of a run), of few k-mers. No shared memory; three quarters of the threads or
/// all.
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
