// From seeds to windows: crates/map/src/cpu/{candidates,prefilter}.rs. A key is a candidate: the query's
// number within the part that is under way, and below it the diagonal and `bias` more.
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

/// The diagonal of occurrence `i` of a seed.
MGPU_HD uint32_t diagonal(const task& t, const seed& of, uint64_t i) {
  return t.positions[of.start + i] + t.bias - of.offset;
}

/// An occurrence a thread: its key.
/// A binary search among the seeds of the block. Shared: 8 bytes; full occupancy.
__global__ void __launch_bounds__(threads) expand_kernel(task t) {
  // The seeds that the block's first and last occurrences are of.
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

/// An occurrence of the seeds of one query a thread: its key, if it lies in the slice.
/// A binary search a thread. No shared memory; full occupancy.
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

/// A candidate that is none.
constexpr uint64_t no_key = ~uint64_t{0};

/// Whether a rule of the filter rejects a candidate.
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

/// A sorted key a thread: repeated and rejected candidates become none.
/// O(words of the read × edits) a candidate, in registers. Shared: 20 bytes, to count; half of the threads of
/// a multiprocessor, by 64 registers.
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
    // The survivors, in their old places: the windows' memory is free.
    reinterpret_cast<uint64_t*>(t.windows)[i] = out;
  }
  count(me, t, candidates, found);
  count(me, t, rejected, dropped);
  count(me, t, kept, found - dropped);
}

/// Which slice of a query with many occurrences a diagonal is in.
MGPU_HD uint64_t slice_of(const task& t, uint64_t slices, uint64_t diagonal) {
  if (slices <= 1) return 0;
  const uint64_t end = uint64_t{t.text_end} + 2 * uint64_t{t.bias};
  uint64_t slice = diagonal * slices / end;
  while (slice > 0 && slice * end / slices > diagonal) --slice;
  while ((slice + 1) * end / slices <= diagonal) ++slice;
  return slice;
}

/// How far candidates of a window may be apart: Rust's Limits.
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

/// Calls `take` with each window of the candidates from key `i` on up to the first gap.
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

/// Whether a lane decides a window.
MGPU_HD bool for_lane(const task& t, const query& of, const window& w) {
  const uint32_t band = t.in_lanes ? band_of(of.edits) : 0;
  if (band == 0 || of.unknown > 0 || 2 * of.edits + w.width + 1 > band) return false;
  const int64_t from = int64_t{w.first} - t.bias - of.edits;
  return is_plain(t, from, from + w.width + of.len + 2 * of.edits);
}

/// A sorted key a thread: those that begin a run of neighbours list its windows, those for lanes
/// from the front on and others from the back.
/// O(keys of its run) a thread, gone through twice. Shared: 36 bytes, to count; 10 blocks of 128 threads a
/// multiprocessor.
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
  // With a rule, candidates were counted before some of them were rejected.
  count(me, t, candidates, t.rule == 0 ? met[0] + met[1] : 0);
  count(me, t, verified, met[1]);
}

/// A query and a stretch that matches everything a thread: its window.
/// O(1). No shared memory; full occupancy.
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
