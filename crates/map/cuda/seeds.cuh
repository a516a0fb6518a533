// Choice and look-up of seeds: crates/map/src/cpu/seeds.rs, and find_short and narrow of
// crates/map/src/index.rs and index/bisect.rs.
#pragma once

#include "text.cuh"

namespace mgpu {
namespace map {

constexpr uint32_t step = 4, shortest = 8, longest_seed = 32, lengths = longest_seed / step;

/// A range of the index's list of positions.
struct range {
  uint32_t start, end;
};

/// The 32 bases of a read from some base on: their bit planes, and as a number with the first base in the top
/// bits.
struct key {
  uint32_t low, high;
  uint64_t packed;
};

MGPU_HD uint64_t spread_bits(uint32_t plane) {
  uint64_t x = plane;
  x = (x | x << 16) & 0x0000ffff0000ffffu;
  x = (x | x << 8) & 0x00ff00ff00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x << 2) & 0x3333333333333333u;
  return (x | x << 1) & 0x5555555555555555u;
}

/// Interleaves two planes into a number with the first base in the top bits.
MGPU_HD uint64_t interleaved(uint32_t low, uint32_t high) {
  return spread_bits(reversed(high)) << 1 | spread_bits(reversed(low));
}

MGPU_HD key key_of(const task& t, const query& of, uint32_t at) {
  const uint32_t low = query_bits(t, of, 0, at), high = query_bits(t, of, 1, at);
  return {low, high, interleaved(low, high)};
}

/// Compares the bases at a position with those of a key, over the bits of the mask: negative if they sort
/// before the key, 0 if they are equal, positive if they sort after it.
MGPU_HD int32_t order(const task& t, uint32_t position, const key& of, uint32_t mask) {
  const uint32_t low = text_bits(t, 0, position), high = text_bits(t, 1, position);
  const uint32_t differs = ((low ^ of.low) | (high ^ of.high)) & mask;
  if (differs == 0) return 0;
  const int32_t at = first_one(differs);
  const int32_t text = static_cast<int32_t>((high >> at & 1) << 1 | (low >> at & 1));
  return text - static_cast<int32_t>((of.high >> at & 1) << 1 | (of.low >> at & 1));
}

/// Narrows a range of positions that share the key's first k bases to those that share its first `len`.
MGPU_HD range narrowed(const task& t, range within, const key& of, uint32_t len) {
  const uint32_t mask = below(static_cast<int32_t>(len));
  uint32_t from = within.start, to = within.end;
  while (from < to) {
    const uint32_t middle = from + (to - from) / 2;
    if (order(t, t.positions[middle], of, mask) < 0) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  const uint32_t start = from;
  to = within.end;
  while (from < to) {
    const uint32_t middle = from + (to - from) / 2;
    if (order(t, t.positions[middle], of, mask) == 0) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return {start, from};
}

/// Returns the range of the positions with the first `len` bases of a key.
MGPU_HD range find(const task& t, const key& of, uint32_t len) {
  const uint32_t within = len < t.k ? len : t.k;
  const uint64_t number = of.packed >> (64 - 2 * within);
  const uint32_t shift = 2 * (t.k - within);
  range found = {t.table[number << shift], t.table[(number + 1) << shift]};
  found.start = found.start < t.position_count ? found.start : t.position_count;
  found.end = found.end < t.position_count ? found.end : t.position_count;
  if (found.end <= found.start) return {found.start, found.start};
  return len <= t.k ? found : narrowed(t, found, of, len);
}

/// Looks up the seeds of all queries, each divided into equal stretches.
/// Launch: one thread per seed, and one more that ends `seed_counts` with a zero for the prefix sum.
/// Cost: a bisection for seeds with more bases than the table's k. No shared memory; full occupancy.
__global__ void __launch_bounds__(threads) look_up_kernel(task t) {
  block<threads> me;
  const uint64_t s = uint64_t{me.index()} * threads + me.thread();
  if (s > t.slot_count) return;
  if (s == t.slot_count) {
    t.seed_counts[s] = 0;
    return;
  }
  const uint32_t q = last_within(t.slots, 0, t.query_count, s);
  const query of = t.queries[q];
  const uint32_t parts = of.edits + 1, part = static_cast<uint32_t>(s) - t.slots[q];
  const uint32_t from = part * of.len / parts, to = (part + 1) * of.len / parts;
  range found = {0, 0};
  if (!query_has_others(t, of, from, to)) {
    found = find(t, key_of(t, of, from), to - from < longest_seed ? to - from : longest_seed);
  }
  t.seeds[s] = {q, from, found.start, found.end - found.start};
  t.seed_counts[s] = found.end - found.start;
}

MGPU_HD uint64_t occurrences(const task& t, uint32_t q) {
  uint64_t sum = 0;
  for (uint32_t s = t.slots[q]; s < t.slots[q + 1]; ++s) sum += t.seed_counts[s];
  return sum;
}

/// Appends to `to_improve` the queries whose seeds occur more than `cheap` times.
/// Launch: one thread per query.
/// Cost: O(seeds of the query). No shared memory; full occupancy.
__global__ void __launch_bounds__(threads) weigh_kernel(task t) {
  block<threads> me;
  const uint64_t q = uint64_t{me.index()} * threads + me.thread();
  if (q >= t.query_count || occurrences(t, static_cast<uint32_t>(q)) <= t.cheap) return;
  t.to_improve[me.add(t.counts + improved, uint64_t{1})] = static_cast<uint32_t>(q);
}

/// The layout of the scratch memory for improving a number of queries at a time: for each one the table of
/// costs and the table of last seeds of the dynamic programming, and the number of occurrences of each stretch.
struct improving {
  uint64_t* costs;
  uint32_t* last;
  uint32_t* counts;
  uint32_t places, rows, room;

  MGPU_HD static improving of(const task& t) {
    improving m;
    m.places = t.longest / step + 1;
    m.rows = t.max_seeds + 1;
    m.room = static_cast<uint32_t>(t.scratch_bytes / bytes(m.places, m.rows));
    m.costs = reinterpret_cast<uint64_t*>(t.scratch);
    m.last = reinterpret_cast<uint32_t*>(m.costs + m.cells() * m.room);
    m.counts = m.last + m.cells() * m.room;
    return m;
  }
  MGPU_HD static uint64_t bytes(uint64_t places, uint64_t rows) {
    return 12 * places * rows + 4 * places * (lengths + 1);
  }
  MGPU_HD uint64_t cells() const { return uint64_t{places} * rows; }
  MGPU_HD uint32_t* counts_of(uint32_t i) const {
    return counts + uint64_t{i} * places * (lengths + 1);
  }
};

/// Counts the occurrences of all stretches of the noted queries of a round that begin and end at multiples of
/// `step`.
/// Launch: a grid-stride loop, one query and start per thread.
/// Cost: a bisection for each length, within the range of the length before. No shared memory; full occupancy.
__global__ void __launch_bounds__(threads) count_stretches_kernel(task t, uint32_t round) {
  block<threads> me;
  const improving m = improving::of(t);
  const uint64_t all = uint64_t{m.room} * m.places, stride = uint64_t{me.count()} * threads;
  for (uint64_t i = uint64_t{me.index()} * threads + me.thread(); i < all; i += stride) {
    const uint32_t mine = static_cast<uint32_t>(i / m.places);
    const uint32_t begin = static_cast<uint32_t>(i % m.places);
    if (uint64_t{round} * m.room + mine >= t.counts[improved]) return;
    const query of = t.queries[t.to_improve[uint64_t{round} * m.room + mine]];
    uint32_t* counts = m.counts_of(mine) + begin * (lengths + 1);
    for (uint32_t length = 0; length <= lengths; ++length) counts[length] = 0;
    const uint32_t places = of.len / step;
    if (begin >= places) continue;
    const key from = key_of(t, of, begin * step);
    range found = {0, 0};
    for (uint32_t length = shortest / step; length <= lengths && begin + length <= places; ++length) {
      const uint32_t len = length * step;
      if (query_has_others(t, of, begin * step, begin * step + len)) break;
      const bool known = length > shortest / step && len - step >= t.k;
      found = known ? narrowed(t, found, from, len) : find(t, from, len);
      if (found.start == found.end) break;
      counts[length] = found.end - found.start;
    }
  }
}

constexpr unsigned improve_threads = 32;
/// The maximum number of edits of a query on a device.
constexpr uint32_t max_edits = 127;

/// Finds, for each noted query of a round, the division into disjoint stretches with the fewest occurrences,
/// and replaces its seeds if the division is better. Ties are resolved as on the host, so that both backends
/// count the same candidates.
/// Launch: one block of a single warp per query. The lanes share the places of a row; lane 0 then carries the
/// best cost along the row, because a division may also end before a place.
/// Cost: O(edits × places × lengths) per warp; the rows are in device memory. 516 bytes of shared memory for
/// the chosen division; 32 blocks per multiprocessor, half of its threads.
__global__ void __launch_bounds__(improve_threads) improve_kernel(task t, uint32_t round) {
  MGPU_SHARED uint32_t chosen[max_edits + 1];
  MGPU_SHARED uint32_t better;
  block<improve_threads> me;
  constexpr uint64_t unreachable = ~uint64_t{0};
  const improving m = improving::of(t);
  const uint64_t number = uint64_t{round} * m.room + me.index();
  if (me.index() >= m.room || number >= t.counts[improved]) return;
  const uint32_t q = t.to_improve[number];
  const query of = t.queries[q];
  const uint32_t count = of.edits + 1, places = of.len / step, lane = me.thread();
  uint64_t* costs = m.costs + m.cells() * me.index();
  uint32_t* last = m.last + m.cells() * me.index();
  const uint32_t* counts = m.counts_of(me.index());
  for (uint32_t place = lane; place <= places; place += improve_threads) costs[place] = 0;
  me.sync();
  for (uint32_t row = 1; row <= count; ++row) {
    const uint64_t* before = costs + uint64_t{row - 1} * m.places;
    uint64_t* now = costs + uint64_t{row} * m.places;
    uint32_t* from = last + uint64_t{row} * m.places;
    for (uint32_t place = lane; place <= places; place += improve_threads) {
      uint64_t best = unreachable;
      uint32_t at = 0;
      for (uint32_t length = shortest / step; length <= lengths && length <= place; ++length) {
        const uint32_t cell = (place - length) * (lengths + 1) + length;
        if (before[place - length] == unreachable) continue;
        const uint64_t cost = before[place - length] + counts[cell];
        if (cost < best) {
          best = cost;
          at = cell;
        }
      }
      now[place] = best;
      from[place] = at;
    }
    me.sync();
    if (lane == 0) {
      for (uint32_t place = 1; place <= places; ++place) {
        if (now[place] < now[place - 1]) continue;
        now[place] = now[place - 1];
        from[place] = from[place - 1];
      }
    }
    me.sync();
  }
  if (lane == 0) {
    better = costs[uint64_t{count} * m.places + places] < occurrences(t, q);
    for (uint32_t row = count, place = places; row > 0 && better; --row) {
      chosen[row - 1] = last[uint64_t{row} * m.places + place];
      place = chosen[row - 1] / (lengths + 1);
    }
  }
  me.sync();
  for (uint32_t i = lane; i < count && better; i += improve_threads) {
    const uint32_t offset = chosen[i] / (lengths + 1) * step;
    const uint32_t len = chosen[i] % (lengths + 1) * step;
    range found = {0, 0};
    if (!query_has_others(t, of, offset, offset + len)) found = find(t, key_of(t, of, offset), len);
    t.seeds[t.slots[q] + i] = {q, offset, found.start, found.end - found.start};
    t.seed_counts[t.slots[q] + i] = found.end - found.start;
  }
}

/// Computes, for each query, the number of occurrences of the seeds of all queries before it.
/// Launch: one thread per query, and one more for the total.
/// Cost: O(1). No shared memory; full occupancy.
__global__ void __launch_bounds__(threads) gather_kernel(task t) {
  block<threads> me;
  const uint64_t q = uint64_t{me.index()} * threads + me.thread();
  if (q <= t.query_count) t.query_offsets[q] = t.offsets[t.slots[q]];
}

}  // namespace map
}  // namespace mgpu
