// From good ends to hits and their alignments: crates/map/src/{hits,trace}.rs.
#pragma once

#include "verify.cuh"

namespace mgpu {
namespace map {

MGPU_HD uint64_t ones64(uint32_t bits) { return (uint64_t{1} << bits) - 1; }

/// A good end, from its key.
struct good_end {
  uint32_t rank, position, edits;

  MGPU_HD static good_end of(const task& t, uint64_t key) {
    const uint64_t place = key >> t.edit_bits;
    return {static_cast<uint32_t>(place >> t.position_bits),
            static_cast<uint32_t>(place & ones64(t.position_bits)),
            static_cast<uint32_t>(key & ones64(t.edit_bits))};
  }
};

/// A hit's key: the read within the part, edits, position, strand.
MGPU_HD uint64_t hit_of(const task& t, const good_end& end) {
  const uint64_t head = uint64_t{end.rank / 2} << t.edit_bits | end.edits;
  return (head << t.position_bits | end.position) << 1 | (end.rank & 1);
}

/// Whether an end is one of the same query and contig, at most `reach` behind the one before.
MGPU_HD bool is_near(const task& t, const good_end& before, const good_end& end, uint32_t reach) {
  if (before.rank != end.rank || end.position - before.position > reach) return false;
  // Contigs begin at multiples of 64.
  if (before.position / 64 == end.position / 64) return true;
  return t.contigs[2 * contig_at(t, end.position)] <= before.position;
}

/// Takes ends of a cluster, `from` to `to`, by edits and position: each silences its neighbours.
template <class Take>
MGPU_HD void silence(const task& t, uint64_t from, uint64_t to, uint32_t reach, Take take) {
  constexpr uint8_t silenced = 1;
  for (uint64_t i = from; i < to; ++i) {
    const bool again = i > from && t.good_ends[i] >> t.edit_bits == t.good_ends[i - 1] >> t.edit_bits;
    t.states[i] = again ? silenced : 0;
  }
  for (uint32_t edits = 0; edits <= reach; ++edits) {
    for (uint64_t i = from; i < to; ++i) {
      if (t.states[i] == silenced) continue;
      const good_end end = good_end::of(t, t.good_ends[i]);
      if (end.edits != edits) continue;
      take(end);
      const auto near = [&](uint64_t j) {
        const uint32_t other = good_end::of(t, t.good_ends[j]).position;
        return (other < end.position ? end.position - other : other - end.position) <= reach;
      };
      for (uint64_t j = i; j > from && near(j - 1); --j) t.states[j - 1] = silenced;
      for (uint64_t j = i; j < to && near(j); ++j) t.states[j] = silenced;
    }
  }
}

/// A sorted end a thread: those that begin a cluster list its hits.
__global__ void __launch_bounds__(threads) silence_kernel(task t) {
  block<threads> me;
  const uint64_t i = uint64_t{me.index()} * threads + me.thread();
  if (i >= t.items) return;
  const good_end end = good_end::of(t, t.good_ends[i]);
  const auto take = [&](const good_end& taken) {
    t.found_hits[me.add(t.counts + hits, uint64_t{1})] = hit_of(t, taken);
  };
  if (t.hamming) {
    if (i == 0 || t.good_ends[i - 1] >> t.edit_bits != t.good_ends[i] >> t.edit_bits) take(end);
    return;
  }
  const uint32_t reach = t.queries[t.part_query + end.rank].edits;
  if (i > 0 && is_near(t, good_end::of(t, t.good_ends[i - 1]), end, reach)) return;
  uint64_t to = i + 1;
  for (good_end before = end; to < t.items; ++to) {
    const good_end next = good_end::of(t, t.good_ends[to]);
    if (!is_near(t, before, next, reach)) break;
    before = next;
  }
  if (to == i + 1) {
    take(end);
  } else {
    silence(t, i, to, reach, take);
  }
}

/// An entry of a script, a base that differs; below it stands the number of matches before it.
constexpr uint16_t mismatch = 1 << 14;
/// The first entry of a script that is left to the host.
constexpr uint16_t left_to_host = 0xffff;

/// The script of an alignment without gaps, if it has no more edits.
MGPU_HD bool on_diagonal(const task& t, const query& of, uint64_t start, uint32_t edits,
                         uint16_t* script) {
  uint32_t found = 0, at = 0;
  for (uint32_t word = 0; 64 * word < of.len; ++word) {
    for (uint64_t differs = mismatches(t, of, start, word); differs != 0; differs &= differs - 1) {
      const uint32_t next = 64 * word + ones((differs & (~differs + 1)) - 1);
      if (++found > edits) return false;
      script[found - 1] = static_cast<uint16_t>(mismatch | (next - at));
      at = next + 1;
    }
  }
  return true;
}

/// A sorted hit a thread: its script of `width` entries, if it has no gaps.
__global__ void __launch_bounds__(threads) trace_kernel(task t, uint64_t first, uint32_t width) {
  block<threads> me;
  const uint64_t mine = uint64_t{me.index()} * threads + me.thread();
  const uint64_t stride = uint64_t{me.count()} * threads;
  for (uint64_t i = mine; i < t.items; i += stride) {
    const uint64_t key = t.found_hits[first + i], head = key >> 1 >> t.position_bits;
    const uint32_t edits = static_cast<uint32_t>(head & ones64(t.edit_bits));
    const uint32_t position = static_cast<uint32_t>(key >> 1 & ones64(t.position_bits));
    const uint32_t rank = static_cast<uint32_t>(head >> t.edit_bits) * 2 + (key & 1);
    const query of = t.queries[t.part_query + rank];
    uint16_t* script = t.scripts + i * width;
    if (edits == 0) continue;
    // Which gaps and end are the best is the host's to say: few hits need it.
    const int64_t start = int64_t{position} + 1 - of.len;
    const bool known = of.unknown == 0 && edits <= 15 && is_plain(t, start, int64_t{position} + 1);
    if (!known || !on_diagonal(t, of, static_cast<uint64_t>(start), edits, script)) {
      script[0] = left_to_host;
    }
  }
}

}  // namespace map
}  // namespace mgpu
