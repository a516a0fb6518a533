// Two ways to build a database's table on a device, by sorting or by insertion: compares MetaCache-GPU §5.1 with
// merganser. Prints a Markdown table. All must find the same locations.
//
//   sorted          merganser: (feature, location) pairs are sorted (CUB), limited, and laid out as in the file:
//                   crates/classify/cuda/layout.cuh. Deterministic.
//   buckets of B    open addressing by groups of 8 lanes, double hashing; a slot is a key with room for B locations,
// and                   a feature takes as many slots as it needs (the paper's Multi Bucket Hash Table; B = 1 is its
// Multi                   Value Hash Table). The locations of a feature are in no particular order. The number of
// slots is                   1.25 times the required one, which would otherwise have to be guessed.
//
// There are 112 million pairs of 32-bit features, like 16 for each 112 bases of 800 Mbp, in the order of the
// reference; "skewed" features have up to 200 locations, many of them one. The number of queried features is a
// quarter of that of pairs. One in four is missing from the table. Each is looked up by 8 lanes, which read all its
// locations. Times include clearing of tables but not allocation.
//
// From the repository's root:
//   nvcc -O3 -std=c++17 -arch=native --expt-relaxed-constexpr -Icrates/gpu/cuda -Icrates/classify/cuda \
//     bench/cuda/tables.cu crates/gpu/cuda/primitives.cu crates/classify/cuda/build.cu
#include <cooperative_groups.h>

#include <cinttypes>
#include <vector>

#include "clock.cuh"
#include "layout.cuh"
#include "primitives.cuh"
#include "status.cuh"

extern "C" {
mgpu_status mgpu_sort(uint32_t, void*, uint64_t*, const mgpu::sort_arguments*, bool*, cudaStream_t);
mgpu_status merganser_classify_runs(const mgpu::sorted_entries*, bool, uint64_t*,
                                    const mgpu::section_runs*, uint32_t*, cudaStream_t);
mgpu_status merganser_classify_measure(const mgpu::layout_arguments*, mgpu::section_size*,
                                       mgpu::section_counts*, cudaStream_t);
mgpu_status merganser_classify_lay_out(const mgpu::layout_arguments*, const mgpu::section_size*,
                                       const mgpu::section_place*, uint64_t*, cudaStream_t);
}

namespace {

namespace cg = cooperative_groups;

constexpr uint64_t pairs = 112'000'000, queries = pairs / 4;
constexpr uint32_t sections = 4096, most = 254, empty = 0xffffffffu;
constexpr int threads = 256, blocks = 132 * 16;
constexpr unsigned width = 8;

template <class T>
T* device_array(uint64_t items) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, items * sizeof(T)), "device memory");
  return memory;
}

__host__ __device__ uint64_t scatter(uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// The distribution of the numbers of locations.
struct kind {
  const char* name;
  double depth;  // mean number of locations
  bool skewed;
};

/// Returns a different feature for each number. The number 0x556d105a would give `empty` and is not used.
__device__ uint32_t feature(uint64_t number) {
  uint32_t x = static_cast<uint32_t>(number) ^ 0x50000000;
  x = (x ^ x >> 16) * 0x45d9f3bu;
  x = (x ^ x >> 16) * 0x45d9f3bu;
  return (x ^ x >> 16) * 0x9e3779b1u;
}

__device__ uint32_t feature_at(uint64_t i, kind of) {
  if (!of.skewed) return feature(scatter(i) % static_cast<uint64_t>(pairs / of.depth));
  // Half of the features have one location; the others have 2, 4, ... 128 or 200.
  if (i % 2 == 0) return feature(i);
  const uint64_t step = scatter(i) % 8, each = step == 7 ? 200 : 2u << step;
  return feature((i / (16 * each) * 8 + step) | uint64_t{1} << 31);
}

__global__ void make_kernel(uint32_t* features, uint32_t* locations, kind of) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < pairs; i += stride) {
    features[i] = feature_at(i, of);
    // A feature occurs once in a window; which window does not matter here.
    locations[i] = static_cast<uint32_t>(i + 1);
  }
}

__global__ void make_queries_kernel(uint32_t* features, kind of) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < queries; i += stride) {
    features[i] = i % 4 == 3 ? feature(0x60000000 + i) : feature_at(scatter(i + pairs) % pairs, of);
  }
}

/// Results that do not depend on the order of locations: their number and their sum.
struct digest {
  unsigned long long count;
  unsigned long long sum;
};

__device__ void add(digest* all, unsigned long long count, unsigned long long sum) {
  atomicAdd(&all->count, count);
  atomicAdd(&all->sum, sum);
}

// ---- sorted

__global__ void look_up_kernel(mgpu::table_part part, const uint32_t* features, digest* all) {
  const auto tile = cg::tiled_partition<width>(cg::this_thread_block());
  const uint64_t group = (uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / width;
  const uint64_t groups = uint64_t{gridDim.x} * blockDim.x / width;
  unsigned long long count = 0, sum = 0;
  const auto* words = reinterpret_cast<const uint32_t*>(part.words);
  for (uint64_t i = group; i < queries; i += groups) {
    uint64_t place = 0;
    // All lanes read the same slot.
    const uint32_t found = mgpu::look_up(part, uint64_t{features[i]} << 12, place);
    for (uint32_t at = tile.thread_rank(); at < found; at += width) {
      ++count;
      sum += (place & mgpu::single_mark) != 0 ? static_cast<uint32_t>(place) : words[place + at];
    }
  }
  add(all, count, sum);
}

struct sorted_table {
  uint32_t* buffers[4];  // keys, locations, and room for both
  uint64_t temporary_bytes = uint64_t{1} << 30;
  char* temporary = device_array<char>(uint64_t{1} << 30);
  uint64_t* bounds = device_array<uint64_t>(sections + 1);
  uint32_t* run_counts = device_array<uint32_t>(sections);
  uint32_t* location_counts = device_array<uint32_t>(sections);
  mgpu::section_size* sizes = device_array<mgpu::section_size>(sections);
  mgpu::section_place* places = device_array<mgpu::section_place>(sections);
  mgpu::table_section* table = device_array<mgpu::table_section>(sections);
  uint64_t* words = device_array<uint64_t>(2 * pairs);
  uint64_t word_count = 0;

  sorted_table() {
    uint32_t* both[2] = {device_array<uint32_t>(2 * pairs), device_array<uint32_t>(2 * pairs)};
    for (int i = 0; i < 4; ++i) buffers[i] = both[i / 2] + i % 2 * pairs;
  }

  void build(const uint32_t* features, const uint32_t* locations) {
    check(cudaMemcpyAsync(buffers[0], features, 4 * pairs, cudaMemcpyDeviceToDevice), "copy");
    check(cudaMemcpyAsync(buffers[1], locations, 4 * pairs, cudaMemcpyDeviceToDevice), "copy");
    bool in_second = false;
    const mgpu::sort_arguments order{buffers[0], buffers[2], buffers[1], buffers[3], pairs, 0, 32};
    check(mgpu_sort(sizeof(uint32_t), temporary, &temporary_bytes, &order, &in_second, nullptr), "sort");
    temporary_bytes = uint64_t{1} << 30;
    const int sorted = in_second ? 2 : 0;
    const mgpu::sorted_entries entries{buffers[sorted], buffers[sorted + 1], pairs, 0, sections};
    auto* const runs = reinterpret_cast<uint64_t*>(buffers[2 - sorted]);
    const mgpu::section_runs of{bounds, runs, run_counts, location_counts};
    check(merganser_classify_runs(&entries, false, bounds, &of, nullptr, nullptr), "runs");
    const mgpu::layout_arguments a{of, buffers[sorted + 1], sections, most, 0, 0, UINT32_MAX, 0};
    check(merganser_classify_measure(&a, sizes, nullptr, nullptr), "measuring");
    std::vector<mgpu::section_size> size(sections);
    check(cudaMemcpy(size.data(), sizes, sizeof(size[0]) * sections, cudaMemcpyDefault), "sizes");
    std::vector<mgpu::section_place> place(sections);
    std::vector<mgpu::table_section> all(sections);
    word_count = 0;
    for (uint32_t i = 0; i < sections; ++i) {
      const uint64_t lists = word_count + size[i].slots, list_words = (size[i].items + 1) / 2;
      place[i] = {word_count, lists};
      all[i] = {word_count, lists, 2 * list_words, size[i].slots, size[i].ideal};
      word_count = lists + list_words;
    }
    check(cudaMemcpyAsync(places, place.data(), sizeof(place[0]) * sections, cudaMemcpyDefault), "places");
    check(cudaMemcpyAsync(table, all.data(), sizeof(all[0]) * sections, cudaMemcpyDefault), "table");
    check(cudaMemsetAsync(words, 0xff, 8 * word_count), "clearing");
    check(merganser_classify_lay_out(&a, sizes, places, words, nullptr), "laying out");
  }

  void look_up(const uint32_t* features, digest* all) const {
    look_up_kernel<<<blocks, threads>>>({words, table}, features, all);
  }
};

// ---- buckets

struct buckets {
  uint32_t* keys;
  uint32_t* counts;
  uint32_t* values;  // `room` per slot
  uint32_t room;
  uint64_t windows;  // number of groups of 8 slots; a prime

  __device__ uint64_t first(uint32_t key) const { return scatter(key) % windows; }
  __device__ uint64_t step(uint32_t key) const { return 1 + scatter(~uint64_t{key}) % (windows - 1); }
};

__global__ void insert_kernel(buckets t, const uint32_t* features, const uint32_t* locations) {
  const auto tile = cg::tiled_partition<width>(cg::this_thread_block());
  const uint64_t group = (uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / width;
  const uint64_t groups = uint64_t{gridDim.x} * blockDim.x / width;
  for (uint64_t i = group; i < pairs; i += groups) {
    const uint32_t key = features[i], location = locations[i];
    const uint64_t step = t.step(key);
    uint64_t window = t.first(key);
    uint32_t full_slots = 0;
    for (bool done = false; !done && full_slots * t.room < most; window = (window + step) % t.windows) {
      const uint64_t slot = window * width + tile.thread_rank();
      uint32_t seen = *static_cast<volatile uint32_t*>(t.keys + slot);
      bool full = false;
      for (;;) {
        const unsigned open = tile.ballot(seen == key && !full);
        if (open != 0) {
          const unsigned leader = __ffs(open) - 1;
          if (tile.thread_rank() == leader) {
            const uint32_t at = *static_cast<volatile uint32_t*>(t.counts + slot) < t.room
                                    ? atomicAdd(t.counts + slot, 1u) : t.room;
            if (at < t.room) t.values[slot * t.room + at] = location;
            full = at >= t.room;
          }
          if (tile.shfl(full, leader)) continue;
          done = true;
          break;
        }
        const unsigned free_slots = tile.ballot(seen == empty);
        if (free_slots == 0) break;
        if (tile.thread_rank() == __ffs(free_slots) - 1) {
          const uint32_t found = atomicCAS(t.keys + slot, empty, key);
          seen = found == empty ? key : found;
        }
      }
      full_slots += __popc(tile.ballot(full));
    }
  }
}

__global__ void look_up_buckets_kernel(buckets t, const uint32_t* features, digest* all) {
  const auto tile = cg::tiled_partition<width>(cg::this_thread_block());
  const uint64_t group = (uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / width;
  const uint64_t groups = uint64_t{gridDim.x} * blockDim.x / width;
  unsigned long long count = 0, sum = 0;
  for (uint64_t i = group; i < queries; i += groups) {
    const uint32_t key = features[i];
    const uint64_t step = t.step(key);
    for (uint64_t window = t.first(key);; window = (window + step) % t.windows) {
      const uint64_t slot = window * width + tile.thread_rank();
      const uint32_t seen = t.keys[slot];
      if (seen == key) {
        const uint32_t own = t.counts[slot] < t.room ? t.counts[slot] : t.room;
        for (uint32_t at = 0; at < own; ++at) sum += t.values[slot * t.room + at];
        count += own;
      }
      if (tile.any(seen == empty)) break;
    }
  }
  add(all, count, sum);
}

uint64_t prime_from(uint64_t number) {
  for (;; ++number) {
    bool prime = number % 2 != 0;
    for (uint64_t i = 3; prime && i * i <= number; i += 2) prime = number % i != 0;
    if (prime) return number;
  }
}

/// Returns the number of slots that the features need, from the sorted table.
uint64_t slots_needed(const sorted_table& t, uint32_t room) {
  std::vector<uint64_t> words(t.word_count);
  check(cudaMemcpy(words.data(), t.words, 8 * t.word_count, cudaMemcpyDefault), "words");
  std::vector<mgpu::table_section> all(sections);
  check(cudaMemcpy(all.data(), t.table, sizeof(all[0]) * sections, cudaMemcpyDefault), "table");
  const auto* items = reinterpret_cast<const uint32_t*>(words.data());
  uint64_t slots = 0;
  for (const auto& section : all) {
    for (uint64_t i = section.slots; i < section.slots + section.slot_count; ++i) {
      if (words[i] == mgpu::empty_slot) continue;
      const uint32_t payload = static_cast<uint32_t>(words[i]);
      const bool list = (payload & mgpu::list_mark) != 0;
      const uint32_t count = list ? items[2 * section.lists + (payload & ~mgpu::list_mark)] : 1;
      slots += (count + room - 1) / room;
    }
  }
  return slots;
}

digest read(const digest* all) {
  digest value;
  check(cudaMemcpy(&value, all, sizeof(value), cudaMemcpyDefault), "reading");
  return value;
}

void show(const char* name, const char* table, double build, double query, uint64_t bytes, digest found) {
  std::printf("| %s | %s | %.1f | %.2f | %.1f | %.2f | %.2f | %.1f |\n", name, table, 1e3 * build,
              pairs / build / 1e9, 1e3 * query, queries / query / 1e9,
              static_cast<double>(found.count) / query / 1e9, static_cast<double>(bytes) / pairs);
  std::fflush(stdout);
}

}  // namespace

int main() {
  auto* const features = device_array<uint32_t>(pairs);
  auto* const locations = device_array<uint32_t>(pairs);
  auto* const asked = device_array<uint32_t>(queries);
  auto* const all = device_array<digest>(1);
  sorted_table sorted;
  std::printf("| locations per feature | table | build ms | 10^9 pairs/s | look-up ms | 10^9 features/s | 10^9 locations/s | bytes per pair |\n|---|---|---|---|---|---|---|---|\n");
  for (const kind of : {kind{"1.1", 1.1, false}, kind{"2", 2, false}, kind{"5", 5, false}, kind{"skewed", 0, true}}) {
    make_kernel<<<blocks, threads>>>(features, locations, of);
    make_queries_kernel<<<blocks, threads>>>(asked, of);
    const double build = least_seconds([&] { sorted.build(features, locations); });
    const auto time = [&](const auto& look_up) {
      return least_seconds([&] {
        check(cudaMemsetAsync(all, 0, sizeof(digest)), "clearing");
        look_up();
      });
    };
    const double query = time([&] { sorted.look_up(asked, all); });
    const digest expected = read(all);
    show(of.name, "sorted", build, query, 8 * sorted.word_count + sizeof(mgpu::table_section) * sections, expected);
    for (const uint32_t room : {1u, 2u, 4u, 8u}) {
      const uint64_t windows = prime_from(slots_needed(sorted, room) * 5 / 4 / width + 2);
      const uint64_t slots = windows * width;
      const buckets t{device_array<uint32_t>(slots), device_array<uint32_t>(slots),
                      device_array<uint32_t>(slots * room), room, windows};
      const double inserting = least_seconds([&] {
        check(cudaMemsetAsync(t.keys, 0xff, 4 * slots), "clearing");
        check(cudaMemsetAsync(t.counts, 0, 4 * slots), "clearing");
        insert_kernel<<<blocks, threads>>>(t, features, locations);
      });
      const double looking = time([&] { look_up_buckets_kernel<<<blocks, threads>>>(t, asked, all); });
      const digest found = read(all);
      // With one location per slot, no counts are necessary.
      const uint64_t bytes = slots * (room == 1 ? 8 : 8 + 4 * uint64_t{room});
      char name[32];
      std::snprintf(name, sizeof(name), "buckets of %u", room);
      show(of.name, name, inserting, looking, bytes, found);
      if (found.count != expected.count || found.sum != expected.sum) {
        std::fprintf(stderr, "found different locations: %llu instead of %llu\n", found.count, expected.count);
        return 1;
      }
      check(cudaFree(t.keys), "freeing");
      check(cudaFree(t.counts), "freeing");
      check(cudaFree(t.values), "freeing");
    }
  }
  return 0;
}
