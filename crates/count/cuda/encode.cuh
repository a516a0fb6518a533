// Encoding of sorted k-mers as the blocks of a table, byte for byte as crates/kmers/src/formats/mgk/block.rs
// does: one thread block for each table block, one thread for each k-mer.
#pragma once

#include "block.cuh"
#include "search.cuh"
#include "wide.cuh"

namespace mgpu {

/// The largest number of k-mers of a table's block, and the number of threads that encode one.
constexpr uint32_t table_block = 256;

/// The number of bits of a value without leading zeros.
MGPU_HD uint32_t bit_length(uint64_t value) {
#ifdef __CUDA_ARCH__
  return 64 - static_cast<uint32_t>(__clzll(static_cast<long long>(value)));
#else
  return value == 0 ? 0 : 64 - static_cast<uint32_t>(__builtin_clzll(value));
#endif
}
MGPU_HD uint32_t bit_length(uint32_t value) { return bit_length(uint64_t{value}); }
MGPU_HD uint32_t bit_length(uint128 value) {
  const uint64_t high = static_cast<uint64_t>(value >> 64);
  return high != 0 ? 64 + bit_length(high) : bit_length(static_cast<uint64_t>(value));
}
MGPU_HD uint32_t bit_length(uint256 value) {
  return value.high != 0 ? 128 + bit_length(value.high) : bit_length(value.low);
}

/// Shifts right by `bits`, which is less than the width of K.
template <class K>
MGPU_HD K shift_right(K value, int bits) {
  return value >> bits;
}

template <class K>
MGPU_HD K difference(K more, K less) {
  return more - less;
}
MGPU_HD uint256 difference(uint256 more, uint256 less) {
  return {more.high - less.high - (more.low < less.low), more.low - less.low};
}

template <class K>
MGPU_HD K of_number(uint32_t number) {
  return static_cast<K>(number);
}
template <>
MGPU_HD uint256 of_number<uint256>(uint32_t number) {
  return {0, number};
}

MGPU_HD uint64_t lowest(uint256 value) { return static_cast<uint64_t>(value.low); }
template <class K>
MGPU_HD uint64_t lowest(K value) {
  return static_cast<uint64_t>(value);
}

template <class K>
struct block_arguments {
  /// The k-mers, sorted.
  const K* kmers;
  const uint32_t* counts;
  /// The index of each section's first k-mer, and the number of k-mers.
  const uint64_t* kmer_starts;
  /// The index of each section's first block, and the number of blocks.
  const uint64_t* block_starts;
  uint32_t sections;
  /// Output: the bytes of each block.
  uint32_t* sizes;
  /// Output: the first k-mer of each block.
  K* firsts;
  /// Input: the offset of each block in `bytes`.
  const uint64_t* places;
  /// Output: the encoded blocks.
  uint8_t* bytes;
};

/// The encoding of a block, and of this thread's k-mer in it.
template <class K>
struct coding {
  /// The index of the block's first k-mer.
  uint64_t start;
  /// The number of k-mers of the block.
  uint32_t kmers;
  /// The width in bits of the binary part of a difference.
  uint32_t low_bits;
  /// The width in bits of a count.
  uint32_t width;
  /// The difference to the k-mer before, less 1.
  K more;
  /// The unary part of the difference: the number of zeros before its one bit.
  uint32_t zeros;
  /// The bit position of the difference in the block.
  uint32_t place;
  /// The number of bits of all differences of the block.
  uint32_t difference_bits;
  /// The count of this thread's k-mer.
  uint32_t count;
  /// Whether the count is escaped: too large for `width` bits.
  bool escapes;
  /// The number of escaped counts before this thread's.
  uint32_t escapes_before;
  /// The number of escaped counts of the block.
  uint32_t all_escapes;

  /// The number of whole bytes before the escaped counts.
  MGPU_HD uint32_t head_bytes() const { return 2 + (difference_bits + kmers * width + 7) / 8; }
  /// The number of bytes of the block.
  MGPU_HD uint32_t bytes() const { return head_bytes() + 4 * all_escapes; }
};

/// Whether a count does not fit into `width` bits, of which the value of all ones marks an escaped count.
MGPU_HD bool is_escaped(uint32_t count, uint32_t width) {
  return uint64_t{count} - 1 >= (uint64_t{1} << width) - 1;
}

/// Plans the encoding of block `number`; called by all threads of a thread block, one for each k-mer.
///
/// The width of the binary parts follows from the mean difference (Golomb-Rice coding). The width of the counts
/// is the cheapest for this block, an escaped count costing 32 bits more.
template <class K, class Block>
__device__ coding<K> plan_coding(Block& me, const block_arguments<K>& a, uint64_t number) {
  MGPU_SHARED uint32_t by_length[33];
  MGPU_SHARED uint32_t best_width;
  coding<K> mine{};
  const uint32_t section = last_upto(a.block_starts, a.sections, number);
  mine.start = a.kmer_starts[section] + (number - a.block_starts[section]) * table_block;
  const uint64_t left = a.kmer_starts[section + 1] - mine.start;
  mine.kmers = left < table_block ? static_cast<uint32_t>(left) : table_block;
  const uint32_t at = me.thread();
  const bool valid = at < mine.kmers;
  const K* kmers = a.kmers + mine.start;
  const uint32_t span_bits = bit_length(difference(kmers[mine.kmers - 1], kmers[0]));
  const uint32_t mean_bits = bit_length(mine.kmers > 1 ? mine.kmers - 1 : 1u);
  mine.low_bits = span_bits > mean_bits ? span_bits - mean_bits : 0;
  uint32_t bits = 0;
  if (valid && at > 0) {
    mine.more = difference(difference(kmers[at], kmers[at - 1]), of_number<K>(1));
    mine.zeros = static_cast<uint32_t>(lowest(shift_right(mine.more, static_cast<int>(mine.low_bits))));
    bits = mine.zeros + 1 + mine.low_bits;
  }
  mine.place = 16 + me.sum_before(bits, mine.difference_bits);
  if (at < 33) by_length[at] = 0;
  me.sync();
  mine.count = valid ? a.counts[mine.start + at] : 0;
  if (valid) me.add(&by_length[bit_length(mine.count)], 1u);
  me.sync();
  if (at == 0) {
    uint32_t above = mine.kmers, least = ~0u;
    for (uint32_t width = 0; width <= 32; ++width) {
      above -= by_length[width];
      const uint32_t cost = width * mine.kmers + 32 * above;
      if (cost < least) {
        least = cost;
        best_width = width;
      }
    }
  }
  me.sync();
  mine.width = best_width;
  mine.escapes = valid && is_escaped(mine.count, mine.width);
  mine.escapes_before = me.sum_before(mine.escapes, mine.all_escapes);
  return mine;
}

/// Computes the size in bytes and the first k-mer of each table block: one thread block per table block, one
/// thread per k-mer.
/// O(k-mers + widths) per block. Shared: 172 bytes; full occupancy.
template <class K>
__global__ void __launch_bounds__(table_block) block_sizes_kernel(block_arguments<K> a) {
  block<table_block> me;
  const coding<K> mine = plan_coding(me, a, me.index());
  if (me.thread() != 0) return;
  a.sizes[me.index()] = mine.bytes();
  a.firsts[me.index()] = a.kmers[mine.start];
}

/// Sets the low `bits` (at most 32) bits of `value`, which has no others, at bit `place` of `words`, which is 0 there.
template <class Block>
MGPU_HD void put_bits(Block& me, uint32_t* words, uint32_t place, uint32_t value, uint32_t bits) {
  const uint32_t word = place / 32, shift = place % 32;
  if (value == 0) return;
  me.add(&words[word], value << shift);
  if (shift + bits > 32) me.add(&words[word + 1], value >> (32 - shift));
}

/// Writes the table blocks: one thread block per table block, one thread per k-mer.
/// O(bits) per k-mer: each thread sets its k-mer's bits in shared memory by atomics, then all copy the bytes out.
/// Shared: the encoded block, 2.3 to 9.3 KiB; full occupancy, three quarters with keys of 256 bits.
template <class K>
__global__ void __launch_bounds__(table_block) write_blocks_kernel(block_arguments<K> a) {
  // The unary parts take at most 3 bits per k-mer, counts including escapes at most 32.
  constexpr uint32_t max_words = 2 + table_block * (8 * sizeof(K) + 3 + 32) / 32 + 2;
  MGPU_SHARED uint32_t words[max_words];
  block<table_block> me;
  for (uint32_t i = me.thread(); i < max_words; i += table_block) words[i] = 0;
  const coding<K> mine = plan_coding(me, a, me.index());
  const uint32_t at = me.thread();
  if (at == 0) put_bits(me, words, 0, mine.low_bits | mine.width << 8, 16);
  if (at > 0 && at < mine.kmers) {
    uint32_t place = mine.place + mine.zeros;
    put_bits(me, words, place++, 1, 1);
    for (uint32_t done = 0; done < mine.low_bits; done += 32) {
      const uint32_t bits = mine.low_bits - done < 32 ? mine.low_bits - done : 32;
      const uint32_t part = static_cast<uint32_t>(lowest(shift_right(mine.more, static_cast<int>(done))));
      put_bits(me, words, place + done, bits < 32 ? part & ((1u << bits) - 1) : part, bits);
    }
  }
  if (at < mine.kmers) {
    const uint32_t all_ones = mine.width < 32 ? (1u << mine.width) - 1 : ~0u;
    const uint32_t place = 16 + mine.difference_bits + at * mine.width;
    put_bits(me, words, place, mine.escapes ? all_ones : mine.count - 1, mine.width);
    if (mine.escapes) {
      put_bits(me, words, 8 * (mine.head_bytes() + 4 * mine.escapes_before), mine.count, 32);
    }
  }
  me.sync();
  uint8_t* out = a.bytes + a.places[me.index()];
  for (uint32_t i = at; i < mine.bytes(); i += table_block) {
    out[i] = static_cast<uint8_t>(words[i / 4] >> 8 * (i % 4));
  }
}

}  // namespace mgpu
