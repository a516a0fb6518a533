// Makes tables in the layout of the file from the sketches of all windows (crates/classify/src/cpu/section.rs).
// Features are gathered with their locations in the order of the reference and sorted stably, which keeps the
// locations of a feature in that order. Then one block lays out each section. The result does not depend on the order
// in which blocks run.
#pragma once

#include "bits.cuh"
#include "build.cuh"
#include "lookup.cuh"

namespace mgpu {

/// One warp per section: there are 4,096 sections, and threads of a small block communicate at the lowest cost.
constexpr int layout_threads = 32;
/// Blocks of 8 windows each.
constexpr int gather_threads = 256;

/// A batch's sketches, from which the features of some sections are counted or gathered.
struct gather_arguments {
  const void* features;
  const uint32_t* counts;  // features of each window
  uint32_t windows;
  uint32_t sketch;
  uint32_t first_section;
  uint32_t end_section;
  uint32_t first_window;    // the number of the first window in the reference
  uint32_t padding;
  uint32_t* found;          // number of wanted features of each window; if null:
  const uint64_t* offsets;  // position of each window's entries
  void* keys;               // packed features
  uint32_t* locations;
};

/// Counts or gathers the features within the sections: one warp per window. Reads each feature once. No shared
/// memory; full occupancy.
template <class Word>
__global__ void __launch_bounds__(gather_threads) gather_kernel(gather_arguments a) {
  block<gather_threads> me;
  constexpr uint32_t warps = gather_threads / 32;
  const uint32_t warp = me.thread() / 32, lane = me.thread() % 32;
  for (uint32_t first = me.index() * warps; first < a.windows; first += me.count() * warps) {
    const uint32_t window = first + warp;
    const bool here = window < a.windows;
    const Word* features = static_cast<const Word*>(a.features) + uint64_t{window} * a.sketch;
    const uint32_t count = here ? a.counts[window] : 0;
    uint32_t before = 0;
    for (uint32_t base = 0; base < a.sketch; base += 32) {
      const uint32_t i = base + lane;
      const Word feature = i < count ? features[i] : 0;
      const uint32_t section = section_of(feature);
      const bool wanted = i < count && a.first_section <= section && section < a.end_section;
      const uint32_t all = me.ballot(wanted);
      if (wanted && a.found == nullptr) {
        const uint32_t lower = all & ((1u << lane) - 1);
        const uint64_t at = a.offsets[window] + before + ones(lower);
        static_cast<Word*>(a.keys)[at] = feature;
        a.locations[at] = a.first_window + window;
      }
      before += ones(all);
    }
    if (here && lane == 0 && a.found != nullptr) a.found[window] = before;
  }
}

/// Sorted entries of some sections.
struct sorted_entries {
  const void* keys;
  const uint32_t* locations;
  uint64_t count;
  uint32_t first_section;
  uint32_t sections;
};

/// Finds where the entries of each section begin, and where those of the last one end: one binary search per thread.
/// No shared memory; full occupancy.
template <class Word>
__global__ void __launch_bounds__(gather_threads) bounds_kernel(sorted_entries a, uint64_t* bounds) {
  block<gather_threads> me;
  const Word* keys = static_cast<const Word*>(a.keys);
  for (uint32_t i = me.index() * me.threads() + me.thread(); i <= a.sections;
       i += me.count() * me.threads()) {
    uint64_t low = 0, high = a.count;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (section_of(keys[middle]) < a.first_section + i) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    bounds[i] = low;
  }
}

/// The runs of equal features of each section, and their locations.
struct section_runs {
  const uint64_t* bounds;  // start of each section's entries, runs and locations
  uint64_t* runs;          // key << 32 | number of the section's locations before the run's
  uint32_t* run_counts;
  uint32_t* location_counts;
};

/// Finds the runs. If a feature occurs twice in one window (two hashes can share it), its second location is dropped:
/// `kept` receives the remaining locations. It may be null where this cannot happen. One warp per section; reads each
/// entry twice: O(entries). Shared: 8 bytes; 32 blocks per multiprocessor, the maximum, with half of its threads.
template <class Word>
__global__ void __launch_bounds__(layout_threads)
    runs_kernel(sorted_entries a, section_runs out, uint32_t* kept) {
  block<layout_threads> me;
  for (uint32_t section = me.index(); section < a.sections; section += me.count()) {
    const uint64_t first = out.bounds[section];
    const uint32_t entries = static_cast<uint32_t>(out.bounds[section + 1] - first);
    const Word* keys = static_cast<const Word*>(a.keys) + first;
    const uint32_t* locations = a.locations + first;
    uint32_t runs = 0, locations_kept = 0;
    for (uint32_t base = 0; base < entries; base += layout_threads) {
      const uint32_t i = base + me.thread();
      const bool here = i < entries;
      const bool same = here && i > 0 && keys[i] == keys[i - 1];
      const bool twice = same && locations[i] == locations[i - 1];
      uint32_t new_runs = 0, new_locations = 0;
      const uint32_t run = runs + me.sum_before(here && !same, new_runs);
      const uint32_t at = locations_kept + me.sum_before(here && !twice, new_locations);
      if (here && !same) out.runs[first + run] = uint64_t{key_of(keys[i])} << 32 | at;
      if (here && !twice && kept != nullptr) kept[first + at] = locations[i];
      runs += new_runs;
      locations_kept += new_locations;
    }
    if (me.thread() == 0) {
      out.run_counts[section] = runs;
      out.location_counts[section] = locations_kept;
    }
    me.sync();
  }
}

/// The inputs of a part's tables.
struct layout_arguments {
  section_runs of;
  const uint32_t* locations;
  uint32_t sections;
  uint32_t most;           // maximum number of locations of a feature
  uint32_t drop_overfull;  // whether to drop features with more
  uint32_t first_window;   // of the part
  uint32_t end_window;
  uint32_t padding;
};

/// The size of a section of a part: slots, ideal slots, items of 32 bits in lists, features.
struct section_size {
  uint32_t slots;
  uint32_t ideal;
  uint32_t items;
  uint32_t features;
};

/// The counts of a section over all parts: features, locations, features that had more locations than are kept, and
/// dropped features.
struct section_counts {
  uint32_t features;
  uint32_t locations;
  uint32_t overfull;
  uint32_t dropped;
};

/// The positions of the slots and the lists of a section of a part, in words.
struct section_place {
  uint64_t slots;
  uint64_t lists;
};

/// The locations of a feature within a part.
struct own_run {
  uint32_t key;
  uint32_t first;  // index in the section's locations
  uint32_t count;
  uint32_t all;    // locations that the feature has in all parts
  bool dropped;

  /// Returns the number of items in the lists.
  MGPU_HD uint32_t items() const { return count > 1 ? count + 1 : 0; }
};

/// Returns the first index in `from..end` whose location is not below `window`. Locations are ascending.
MGPU_HD uint32_t first_from(const uint32_t* locations, uint32_t from, uint32_t end, uint32_t window) {
  while (from < end) {
    const uint32_t middle = from + (end - from) / 2;
    if (locations[middle] < window) {
      from = middle + 1;
    } else {
      end = middle;
    }
  }
  return from;
}

MGPU_HD own_run run_at(const layout_arguments& a, uint32_t section, uint32_t run) {
  const uint64_t first = a.of.bounds[section];
  const uint64_t packed = a.of.runs[first + run];
  const uint32_t from = static_cast<uint32_t>(packed);
  const uint32_t end = run + 1 < a.of.run_counts[section]
                           ? static_cast<uint32_t>(a.of.runs[first + run + 1])
                           : a.of.location_counts[section];
  own_run own{static_cast<uint32_t>(packed >> 32), from, 0, end - from, false};
  own.dropped = a.drop_overfull != 0 && own.all > a.most;
  if (own.dropped) return own;
  const uint32_t* locations = a.locations + first;
  uint32_t kept = from + (own.all < a.most ? own.all : a.most);
  if (locations[from] < a.first_window) own.first = first_from(locations, from, kept, a.first_window);
  if (locations[kept - 1] >= a.end_window) kept = first_from(locations, own.first, kept, a.end_window);
  own.count = kept - own.first;
  return own;
}

/// Returns the slot where the search for a feature starts.
MGPU_HD uint32_t ideal_slot(uint32_t key, uint32_t ideal) {
  return static_cast<uint32_t>(uint64_t{key} * ideal >> 32);
}

/// Measures the sections of a part and, if `counts` is not null, counts over all parts. One warp per section:
/// O(runs). Shared: 264 bytes; occupancy as runs_kernel.
template <int Threads>
__global__ void __launch_bounds__(Threads)
    measure_kernel(layout_arguments a, section_size* sizes, section_counts* counts) {
  block<Threads> me;
  MGPU_SHARED int64_t ahead[Threads];
  for (uint32_t section = me.index(); section < a.sections; section += me.count()) {
    const uint32_t runs = a.of.run_counts[section];
    if (runs == 0) {
      if (me.thread() == 0) {
        sizes[section] = {2, 1, 0, 0};
        if (counts != nullptr) counts[section] = {0, 0, 0, 0};
      }
      continue;
    }
    uint32_t own_features = 0, own_items = 0;
    section_counts own{0, 0, 0, 0};
    for (uint32_t i = me.thread(); i < runs; i += Threads) {
      const own_run run = run_at(a, section, i);
      own_features += run.count > 0;
      own_items += run.items();
      own.overfull += run.all > a.most;
      own.dropped += run.dropped;
      own.features += !run.dropped;
      own.locations += run.dropped ? 0 : run.all < a.most ? run.all : a.most;
    }
    uint32_t features = 0, items = 0;
    me.sum_before(own_features, features);
    me.sum_before(own_items, items);
    const uint32_t ideal = features + features / 4 + 1;
    // A feature is at its ideal slot or directly after the feature before it. So feature number i is at i + the
    // maximum, over all features up to it, of the ideal slot minus the feature's number.
    int64_t most = INT64_MIN;
    for (uint32_t base = 0, number = 0; base < runs; base += Threads) {
      const uint32_t i = base + me.thread();
      own_run run{0, 0, 0, 0, true};
      if (i < runs) run = run_at(a, section, i);
      uint32_t sum = 0;
      const uint32_t before = number + me.sum_before(run.count > 0, sum);
      if (run.count > 0) {
        const int64_t here = int64_t{ideal_slot(run.key, ideal)} - before;
        most = here > most ? here : most;
      }
      number += sum;
    }
    ahead[me.thread()] = most;
    me.sync();
    if (me.thread() == 0) {
      for (int i = 1; i < Threads; ++i) most = ahead[i] > most ? ahead[i] : most;
      const uint32_t end = features == 0 ? 0 : static_cast<uint32_t>(features + most);
      // At least one empty slot ends every search.
      sizes[section] = {(end > ideal ? end : ideal) + 1, ideal, items, features};
      if (counts != nullptr) counts[section] = {0, 0, 0, 0};
    }
    me.sync();
    if (counts != nullptr) {
      me.add(&counts[section].features, own.features);
      me.add(&counts[section].locations, own.locations);
      me.add(&counts[section].overfull, own.overfull);
      me.add(&counts[section].dropped, own.dropped);
    }
  }
}

/// Shared memory of a block that lays out a section: one item for each run of a step.
template <int Threads>
struct layout_space {
  int64_t ahead[Threads];
  uint32_t starts[Threads];  // number of items before the run's
  uint32_t firsts[Threads];
  uint32_t counts[Threads];
};

/// Writes the sections of a part. All words of slots must have been set to empty_slot before. One warp per section:
/// O(runs + locations). Shared: 648 bytes; occupancy as runs_kernel.
template <int Threads>
__global__ void __launch_bounds__(Threads)
    layout_kernel(layout_arguments a, const section_size* sizes, const section_place* places,
                  uint64_t* words) {
  block<Threads> me;
  MGPU_SHARED layout_space<Threads> space;
  for (uint32_t section = me.index(); section < a.sections; section += me.count()) {
    const uint32_t runs = a.of.run_counts[section], ideal = sizes[section].ideal;
    const uint32_t* locations = a.locations + a.of.bounds[section];
    uint64_t* slots = words + places[section].slots;
    uint32_t* lists = reinterpret_cast<uint32_t*>(words + places[section].lists);
    uint32_t features = 0, items = 0;
    int64_t ahead = INT64_MIN;
    for (uint32_t base = 0; base < runs; base += Threads) {
      const uint32_t i = base + me.thread();
      own_run run{0, 0, 0, 0, true};
      if (i < runs) run = run_at(a, section, i);
      uint32_t new_features = 0, new_items = 0;
      const uint32_t number = features + me.sum_before(run.count > 0, new_features);
      const uint32_t start = me.sum_before(run.items(), new_items);
      const int64_t own = int64_t{ideal_slot(run.key, ideal)} - number;
      space.ahead[me.thread()] = run.count > 0 ? own : INT64_MIN;
      space.starts[me.thread()] = start;
      space.firsts[me.thread()] = run.first;
      space.counts[me.thread()] = run.count;
      me.sync();
      int64_t before = ahead;
      for (uint32_t t = 0; t <= me.thread(); ++t) {
        before = space.ahead[t] > before ? space.ahead[t] : before;
      }
      if (run.count > 0) {
        const uint32_t payload = run.count == 1 ? locations[run.first] : list_mark | (items + start);
        slots[number + before] = uint64_t{run.key} << 32 | payload;
      }
      // Threads take single items rather than runs, so that a long list keeps all of them busy.
      for (uint32_t item = me.thread(); item < new_items; item += Threads) {
        uint32_t low = 0, high = Threads;
        while (high - low > 1) {
          const uint32_t middle = (low + high) / 2;
          if (space.starts[middle] <= item) {
            low = middle;
          } else {
            high = middle;
          }
        }
        const uint32_t at = item - space.starts[low];
        lists[items + item] = at == 0 ? space.counts[low] : locations[space.firsts[low] + at - 1];
      }
      for (uint32_t t = 0; t < Threads; ++t) {
        ahead = space.ahead[t] > ahead ? space.ahead[t] : ahead;
      }
      features += new_features;
      items += new_items;
      me.sync();
    }
    if (me.thread() == 0 && items % 2 != 0) lists[items] = 0;
  }
}

}  // namespace mgpu
