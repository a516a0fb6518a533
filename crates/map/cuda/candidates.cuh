// From seeds to windows: crates/map/src/cpu/{candidates,prefilter}.rs. A candidate is a 64-bit key: the number
// of its query within the current range of queries and, in the low `diagonal_bits` bits, its diagonal plus
// `bias`.
#pragma once

#include "text.cuh"

namespace mgpu {
namespace map {

MGPU_HD uint32_t diagonal_of(const task& t, uint64_t key) {
  return static_cast<uint32_t>(key & ((uint64_t{1} << t.diagonal_bits) - 1));
}

MGPU_HD uint32_t query_of(const task& t, uint64_t key) {
  return static_cast<uint32_t>(key >> t.diagonal_bits);
}

/// Returns the diagonal, plus `bias`, of occurrence `i` of a seed.
MGPU_HD uint32_t diagonal(const task& t, const seed& of, uint64_t i) {
  return t.positions[of.start + i] + t.bias - of.offset;
}

/// Writes the key of each occurrence of the seeds of the current queries.
/// Launch: one thread per occurrence. Neighbouring occurrences mostly belong to the same seed, so two threads
/// find the seeds of the block's first and last occurrence, and the others search only between these.
/// Cost: a binary search among the seeds of the block. 8 bytes of shared memory; full occupancy.
__global__ void __launch_bounds__(threads) expand_kernel(task t) {
  // The seeds of the block's first and last occurrence.
  MGPU_SHARED uint32_t bounds[2];
  block<threads> me;
  const uint64_t first = uint64_t{me.index()} * threads, i = first + me.thread();
  if (me.thread() < 2) {
    const uint64_t last = first + threads < t.items ? first + threads - 1 : t.items - 1;
    bounds[me.thread()] = last_within(t.offsets, t.slots[t.first_query], t.slots[t.last_query],
                                      t.base + (me.thread() == 0 ? first : last));
  }
  me.sync();
  if (i >= t.items) return;
  const uint32_t s = last_within(t.offsets, bounds[0], bounds[1] + 1, t.base + i);
  const seed of = t.seeds[s];
  const uint64_t number = of.query - t.first_query;
  t.keys[i] = number << t.diagonal_bits | diagonal(t, of, t.base + i - t.offsets[s]);
}

/// Appends the keys of one query's occurrences that lie in the current slice, in any order. Keys that exceed
/// the room are counted, but not written.
/// Launch: a grid-stride loop, one occurrence per thread.
/// Cost: a binary search per occurrence. No shared memory; full occupancy.
__global__ void __launch_bounds__(threads) expand_slice_kernel(task t) {
  block<threads> me;
  const uint64_t stride = uint64_t{me.count()} * threads;
  for (uint64_t i = uint64_t{me.index()} * threads + me.thread(); i < t.items; i += stride) {
    const uint32_t s =
        last_within(t.offsets, t.slots[t.first_query], t.slots[t.last_query], t.base + i);
    const uint32_t at = diagonal(t, t.seeds[s], t.base + i - t.offsets[s]);
    if (at < t.slice_from || at >= t.slice_to) continue;
    const uint64_t place = me.add(t.counts + kept, uint64_t{1});
    if (place < t.window_room) t.keys[place] = at;
  }
}

/// The marker of a removed candidate; it sorts after all keys.
constexpr uint64_t no_key = ~uint64_t{0};

/// Whether a rule of the filter rejects a candidate. As on the host, the read is extended on both sides by
/// `margin` letters that match everything; candidates whose reach has ambiguous letters or the end of a contig
/// are kept.
MGPU_HD bool is_rejected(const task& t, uint32_t q, const query& of, int64_t diagonal) {
  const uint32_t margin = of.edits + t.margin, len = of.len + 2 * margin;
  const int64_t from = diagonal - margin, e = of.edits;
  if (from < 0 || from + len > t.text_end || of.unknown > 0) return false;
  if (!is_plain(t, diagonal - e, diagonal + of.len + e)) return false;
  const uint32_t* read = reinterpret_cast<const uint32_t*>(t.extended + t.extended_at[q]);
  const filter::sequence pair[2] = {
      {read, 2 * ((len + 63) / 64), 0, len, true},
      {t.planes + from / 32, t.stride, static_cast<uint32_t>(from % 32), len, t.has_others != 0}};
  if (t.rule == 1) {
    return filter::gatekeeper<true>(pair[0], pair[1], {of.edits, true}) == filter::rejected;
  }
  return filter::snake<true>(pair[0], pair[1], {of.edits + 2, true}) == filter::rejected;
}

/// Replaces repeated and rejected candidates by `no_key`, and counts candidates, rejected and kept ones.
/// Launch: a grid-stride loop, one sorted key per thread.
/// Cost: O(words of the read × edits) per candidate, in registers. 20 bytes of shared memory for counting; 64
/// registers limit occupancy to half of a multiprocessor's threads.
__global__ void __launch_bounds__(threads) reject_kernel(task t) {
  block<threads> me;
  const uint64_t stride = uint64_t{me.count()} * threads;
  uint32_t found = 0, dropped = 0;
  for (uint64_t i = uint64_t{me.index()} * threads + me.thread(); i < t.items; i += stride) {
    const uint64_t key = t.keys[i];
    uint64_t out = no_key;
    if (i == 0 || t.keys[i - 1] != key) {
      const uint32_t q = t.first_query + query_of(t, key);
      ++found;
      if (is_rejected(t, q, t.queries[q], int64_t{diagonal_of(t, key)} - t.bias)) {
        ++dropped;
      } else {
        out = key;
      }
    }
    // The results stay at the places of their keys, in the memory of the windows, which is unused at this
    // stage.
    reinterpret_cast<uint64_t*>(t.windows)[i] = out;
  }
  count(me, t, candidates, found);
  count(me, t, rejected, dropped);
  count(me, t, kept, found - dropped);
}

/// Returns the slice that a diagonal is in, for a query that is processed in several slices.
MGPU_HD uint64_t slice_of(const task& t, uint64_t slices, uint64_t diagonal) {
  if (slices <= 1) return 0;
  const uint64_t end = uint64_t{t.text_end} + 2 * uint64_t{t.bias};
  uint64_t slice = diagonal * slices / end;
  while (slice > 0 && slice * end / slices > diagonal) --slice;
  while ((slice + 1) * end / slices <= diagonal) ++slice;
  return slice;
}

/// The maximum distances between candidates of a window, as in Rust's Limits, and the number of slices.
struct limits {
  uint32_t widest, gap;
  uint64_t slices;
};

MGPU_HD limits limits_of(const task& t, uint32_t q, const query& of) {
  const uint32_t band = band_of(of.edits);
  const uint64_t found = t.query_offsets[q + 1] - t.query_offsets[q];
  const uint64_t slices = (found + t.most - 1) / t.most;
  if (t.in_lanes && band > 0) return {band - 2 * of.edits - 1, 2 * of.edits + 1, slices};
  if (t.hamming) return {0, 0, slices};
  return {0xffffffffu, 2 * of.edits + 1, slices};
}

/// Calls `take` with each window of the run of neighbouring candidates that begins at key `i`. The run ends at
/// the first larger gap, at the end of the slice, or at the next query.
template <class Take>
MGPU_HD void each_window(const task& t, uint64_t i, uint32_t q, const limits& by, Take take) {
  const uint32_t rank = query_of(t, t.keys[i]);
  uint32_t last = diagonal_of(t, t.keys[i]);
  window now = {q, last, 0, 1};
  const uint64_t slice = slice_of(t, by.slices, last);
  for (uint64_t j = i + 1; j < t.items && query_of(t, t.keys[j]) == rank; ++j) {
    const uint32_t next = diagonal_of(t, t.keys[j]);
    if (next == last) continue;
    if (next - last > by.gap || slice_of(t, by.slices, next) != slice) break;
    if (next - now.first > by.widest) {
      take(now);
      now = {q, next, 0, 0};
    }
    now.width = next - now.first;
    ++now.candidates;
    last = next;
  }
  take(now);
}

/// Whether a window can be decided by a lane: its band is wide enough, and it has only bases of one contig.
MGPU_HD bool for_lane(const task& t, const query& of, const window& w) {
  const uint32_t band = t.in_lanes ? band_of(of.edits) : 0;
  if (band == 0 || of.unknown > 0 || 2 * of.edits + w.width + 1 > band) return false;
  const int64_t from = int64_t{w.first} - t.bias - of.edits;
  return is_plain(t, from, from + w.width + of.len + 2 * of.edits);
}

/// Merges neighbouring candidates into windows. Windows for lanes are written from the front of `windows`, all
/// others from its back.
/// Launch: one thread per sorted key. Only the thread of the first key of a run of neighbours does work: it
/// goes through the run once to count its windows and, after a prefix sum over the block has reserved places,
/// again to write them.
/// Cost: O(keys of the run), twice. 36 bytes of shared memory; 10 blocks of 128 threads per multiprocessor.
__global__ void __launch_bounds__(threads) merge_kernel(task t) {
  block<threads> me;
  const uint64_t i = uint64_t{me.index()} * threads + me.thread();
  bool begins = i < t.items;
  uint32_t q = 0;
  limits by = {};
  query of = {};
  if (begins) {
    const uint64_t key = t.keys[i];
    const uint32_t at = diagonal_of(t, key);
    q = t.first_query + query_of(t, key);
    of = t.queries[q];
    by = limits_of(t, q, of);
    if (i > 0 && query_of(t, t.keys[i - 1]) == query_of(t, key)) {
      const uint32_t before = diagonal_of(t, t.keys[i - 1]);
      begins = at - before > by.gap ||
               slice_of(t, by.slices, before) != slice_of(t, by.slices, at);
    }
  }
  uint32_t found[2] = {}, met[2] = {};
  if (begins) {
    each_window(t, i, q, by, [&](const window& w) {
      const bool lane = for_lane(t, of, w);
      ++found[!lane];
      met[!lane] += w.candidates;
    });
  }
  MGPU_SHARED uint64_t places[2];
  uint32_t before[2], all[2];
  before[0] = me.sum_before(found[0], all[0]);
  before[1] = me.sum_before(found[1], all[1]);
  if (me.thread() < 2) places[me.thread()] = me.add(t.counts + plain + me.thread(), uint64_t{all[me.thread()]});
  me.sync();
  if (begins) {
    uint64_t to[2] = {places[0] + before[0], places[1] + before[1]};
    each_window(t, i, q, by, [&](const window& w) {
      const bool lane = for_lane(t, of, w);
      t.windows[lane ? to[0]++ : t.window_room - 1 - to[1]++] = w;
    });
  }
  // With a rule of the filter, all candidates were already counted before some were rejected.
  count(me, t, candidates, t.rule == 0 ? met[0] + met[1] : 0);
  count(me, t, verified, met[1]);
}

/// Appends, for each query with seeds, a window around each run of the reference that matches everything.
/// Launch: one thread per query and run.
/// Cost: O(1). No shared memory; full occupancy.
__global__ void __launch_bounds__(threads) gaps_kernel(task t) {
  block<threads> me;
  const uint64_t all = uint64_t{t.gap_count} * (t.last_query - t.first_query);
  const uint64_t i = uint64_t{me.index()} * threads + me.thread();
  if (i >= all) return;
  const uint32_t q = t.first_query + static_cast<uint32_t>(i / t.gap_count);
  if (t.slots[q] == t.slots[q + 1]) return;
  const uint32_t* gap = t.gaps + 2 * (i % t.gap_count);
  const uint32_t len = t.queries[q].len;
  const uint64_t place = me.add(t.counts + general, uint64_t{1});
  t.windows[t.window_room - 1 - place] = {q, gap[0] + t.bias - len, gap[1] - gap[0] + len, 0};
}

}  // namespace map
}  // namespace mgpu
