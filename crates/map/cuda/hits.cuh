// Selection of hits among good ends: crates/map/src/cpu/silencer.rs.
#pragma once

#include "verify.cuh"

namespace mgpu {
namespace map {

MGPU_HD uint64_t ones64(uint32_t bits) { return (uint64_t{1} << bits) - 1; }

/// A good end, decoded from its key: the query's number within the part, the position and the edits.
struct good_end {
  uint32_t rank, position, edits;

  MGPU_HD static good_end of(const task& t, uint64_t key) {
    const uint64_t place = key >> t.edit_bits;
    return {static_cast<uint32_t>(place >> t.position_bits),
            static_cast<uint32_t>(place & ones64(t.position_bits)),
            static_cast<uint32_t>(key & ones64(t.edit_bits))};
  }
};

/// Returns the key of a hit: the read's number within the part, the edits, the position and, lowest, the
/// strand. Sorted keys are in the order in which hits are reported.
MGPU_HD uint64_t hit_of(const task& t, const good_end& end) {
  const uint64_t head = uint64_t{end.rank / 2} << t.edit_bits | end.edits;
  return (head << t.position_bits | end.position) << 1 | (end.rank & 1);
}

/// Whether an end has the same query and contig as the one before it, and is at most `reach` bases after it.
MGPU_HD bool is_near(const task& t, const good_end& before, const good_end& end, uint32_t reach) {
  if (before.rank != end.rank || end.position - before.position > reach) return false;
  // Contigs begin at multiples of 64, so no contig ends between two positions of one 64-base word.
  if (before.position / 64 == end.position / 64) return true;
  return t.contigs[2 * contig_at(t, end.position)] <= before.position;
}

/// Takes the ends of a cluster, numbers `from` to `to`, in order of edits, then position, except those one base
/// behind an end with fewer edits. Each one that is taken silences those within `reach` bases, including itself.
template <class Take>
MGPU_HD void silence(const task& t, uint64_t from, uint64_t to, uint32_t reach, Take take) {
  constexpr uint8_t silenced = 1;
  // At each position, the first end has the fewest edits.
  good_end before = good_end::of(t, t.good_ends[from]);
  t.states[from] = 0;
  for (uint64_t i = from + 1; i < to; ++i) {
    const good_end end = good_end::of(t, t.good_ends[i]);
    const bool again = end.position == before.position;
    const bool extended = end.position == before.position + 1 && end.edits == before.edits + 1;
    t.states[i] = again || extended ? silenced : 0;
    if (!again) before = end;
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

/// Appends the hits among the sorted good ends.
/// Launch: one thread per end. Only the thread of the first end of a cluster does work, for the whole cluster;
/// most clusters have few ends.
/// Cost: O(edits × ends of the cluster). No shared memory; full occupancy.
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

}  // namespace map
}  // namespace mgpu
