// Access to the reference and the reads, which are bit planes: crates/map/src/{reference,queries}.rs.
#pragma once

#include "masks.cuh"
#include "task.cuh"

namespace mgpu {
namespace map {

using filter::below;

/// Returns 32 bits of a plane of the reference, beginning at a position.
MGPU_HD uint32_t text_bits(const task& t, uint32_t plane, uint64_t position) {
  const uint32_t* words = t.planes + uint64_t{t.stride} * plane + position / 32;
  return funnel(words[0], words[1], static_cast<uint32_t>(position % 32));
}

/// Returns the i-th 32-bit word of a plane of a read.
MGPU_HD uint32_t query_word(const task& t, const query& of, uint32_t plane, uint32_t i) {
  const uint32_t words = (of.len + 63) / 64;
  return reinterpret_cast<const uint32_t*>(t.words + of.at)[2 * words * plane + i];
}

/// Returns 32 bits of a plane of a read, beginning at a base, with zeros past the plane's last word.
MGPU_HD uint32_t query_bits(const task& t, const query& of, uint32_t plane, uint32_t at) {
  const uint32_t words = 2 * ((of.len + 63) / 64), i = at / 32;
  const uint32_t next = i + 1 < words ? query_word(t, of, plane, i + 1) : 0;
  return funnel(query_word(t, of, plane, i), next, at % 32);
}

/// Whether a range of a read has ambiguous letters.
MGPU_HD bool query_has_others(const task& t, const query& of, uint32_t from, uint32_t to) {
  if (of.unknown == 0) return false;
  for (uint32_t at = from; at < to; at += 32) {
    if (query_bits(t, of, 2, at) & below(static_cast<int32_t>(to - at))) return true;
  }
  return false;
}

/// Whether a range of the reference has ambiguous letters.
MGPU_HD bool text_has_others(const task& t, uint64_t from, uint64_t to) {
  if (!t.has_others) return false;
  for (uint64_t at = from; at < to; at += 32) {
    const int32_t left = to - at < 32 ? static_cast<int32_t>(to - at) : 32;
    if (text_bits(t, 2, at) & below(left)) return true;
  }
  return false;
}

/// Returns the last contig that begins at or before a position; the first one if none does.
MGPU_HD uint32_t contig_at(const task& t, int64_t position) {
  uint32_t from = 0, to = t.contig_count;
  while (to - from > 1) {
    const uint32_t middle = from + (to - from) / 2;
    if (static_cast<int64_t>(t.contigs[2 * middle]) <= position) {
      from = middle;
    } else {
      to = middle;
    }
  }
  return from;
}

/// Whether the positions `from` to `to` (exclusive) are bases of one contig.
MGPU_HD bool is_plain(const task& t, int64_t from, int64_t to) {
  if (from < 0) return false;
  const uint32_t contig = contig_at(t, from);
  if (static_cast<int64_t>(t.contigs[2 * contig + 1]) < to) return false;
  return !text_has_others(t, static_cast<uint64_t>(from), static_cast<uint64_t>(to));
}

/// Returns a word with all bits equal to bit `k`.
MGPU_HD uint32_t as_bit(uint32_t word, uint32_t k) {
  return static_cast<uint32_t>(static_cast<int32_t>(word << (31 - k)) >> 31);
}

/// Returns the number of diagonals of the band of lanes for queries with this many edits; 0 if no lane is wide
/// enough.
MGPU_HD uint32_t band_of(uint32_t edits) { return edits <= 6 ? 16 : edits <= 15 ? 32 : 0; }

/// Adds the values of all threads of a block to a counter. All threads must call it.
template <class Block>
MGPU_HD void count(Block& me, const task& t, counter which, uint32_t value) {
  uint32_t sum;
  me.sum_before(value, sum);
  if (me.thread() == 0 && sum != 0) me.add(t.counts + which, uint64_t{sum});
}

}  // namespace map
}  // namespace mgpu
