// Counting k-mers on a device by sorting or by hash table: what Figure 12 of the RapidGKC paper
// (§IV-B) compares. Prints a Markdown table, in 10^9 k-mers a second. All methods must agree.
//
//   sort, all bits       CUB radix sort by 2k bits, run lengths, selection: Algorithm 1 of the paper
//   sort, 40 bits        what merganser does: crates/count/cuda/runs.cuh
//   table, a thread      open addressing, a thread a k-mer
//   table, 8 lanes       8 lanes a k-mer look at 8 slots together, as in warpcore
//
// The k-mers are 2^28 of k = 28, in bins, each distinct one about `depth` times in random order. Hash
// tables are one a bin with 1.5 to 3 slots a distinct k-mer, whose number would in truth have to be
// guessed; bins follow one another, so that small ones stay in the second-level cache. Expanding
// super-k-mers costs all methods the same and is not in it.
//
// From the repository's root:
//   nvcc -O3 -std=c++17 -arch=native --extended-lambda -Icrates/gpu/cuda -Icrates/count/cuda \
//     bench/cuda/hash_or_sort.cu crates/gpu/cuda/primitives.cu crates/count/cuda/count.cu
#include <cooperative_groups.h>

#include <cinttypes>
#include <utility>
#include <vector>

#include "clock.cuh"
#include "context.cuh"
#include "hash_insert.cuh"
#include "primitives.cuh"
#include "runs.cuh"
#include "scramble.cuh"
#include "status.cuh"

extern "C" {
mgpu_status mgpu_sort_u64(void*, uint64_t*, const mgpu::sort_arguments*, bool*, cudaStream_t);
mgpu_status mgpu_encode_runs_u64(void*, uint64_t*, const mgpu::encode_arguments*, cudaStream_t);
mgpu_status mgpu_select_runs_u64(void*, uint64_t*, const mgpu::select_arguments*, cudaStream_t);
mgpu_status merganser_count_runs_u64(const mgpu::run_arguments<uint64_t>*, cudaStream_t);
mgpu_status merganser_count_left_runs_u64(const mgpu::run_arguments<uint64_t>*, cudaStream_t);
}

namespace {

constexpr int k = 28;
constexpr uint64_t keys = uint64_t{1} << 28;
constexpr uint32_t least = 2, most = UINT32_MAX;
constexpr uint64_t empty = ~uint64_t{0};
constexpr int threads = 256;

template <class T>
T* device_array(uint64_t items) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, items * sizeof(T)), "device memory");
  return memory;
}

/// k-mers in bins of `bin_keys`, each bin with `distinct` of its own, scrambled.
__global__ void make_kernel(uint64_t* out, uint64_t bin_keys, uint64_t distinct) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < keys; i += stride) {
    uint64_t random = (i + 1) * 0x9e3779b97f4a7c15u;
    random = (random ^ random >> 30) * 0xbf58476d1ce4e5b9u;
    random = (random ^ random >> 27) * 0x94d049bb133111ebu;
    random ^= random >> 31;
    out[i] = mgpu::scramble(i / bin_keys * distinct + random % distinct, k);
  }
}

/// Where the keys of a bin go.
struct tables {
  uint64_t* slots;
  uint32_t* counts;
  uint64_t slots_per_bin;
  uint64_t bin_keys;
};

__global__ void insert_kernel(const uint64_t* in, tables t) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < keys; i += stride) {
    const uint64_t key = in[i], first = i / t.bin_keys * t.slots_per_bin;
    uint64_t place = key & (t.slots_per_bin - 1);
    for (;;) {
      using word = unsigned long long;
      uint64_t seen = t.slots[first + place];
      if (seen == empty) seen = atomicCAS(reinterpret_cast<word*>(t.slots + first + place), word{empty}, word{key});
      if (seen == empty || seen == key) break;
      place = (place + 1) & (t.slots_per_bin - 1);
    }
    atomicAdd(t.counts + first + place, 1u);
  }
}

__global__ void insert_by_lanes_kernel(const uint64_t* in, tables t) {
  namespace cg = cooperative_groups;
  constexpr unsigned width = 8;
  const auto tile = cg::tiled_partition<width>(cg::this_thread_block());
  const uint64_t group = (uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / width;
  const uint64_t groups = uint64_t{gridDim.x} * blockDim.x / width;
  for (uint64_t i = group; i < keys; i += groups) {
    const uint64_t key = in[i], first = i / t.bin_keys * t.slots_per_bin;
    uint64_t window = key & (t.slots_per_bin - 1) & ~uint64_t{width - 1};
    for (bool done = false; !done;) {
      const uint64_t place = first + window + tile.thread_rank();
      using word = unsigned long long;
      uint64_t seen = t.slots[place];
      for (;;) {
        const unsigned present = tile.ballot(seen == key);
        if (present != 0) {
          if (tile.thread_rank() == __ffs(present) - 1) atomicAdd(t.counts + place, 1u);
          done = true;
          break;
        }
        const unsigned free_lanes = tile.ballot(seen == empty);
        if (free_lanes == 0) break;
        if (tile.thread_rank() == __ffs(free_lanes) - 1) {
          const uint64_t found = atomicCAS(reinterpret_cast<word*>(t.slots + place), word{empty}, word{key});
          seen = found == empty ? key : found;
        }
      }
      window = (window + width) & (t.slots_per_bin - 1);
    }
  }
}

/// The k-mers of a table whose counts are large enough, in no order.
__global__ void collect_kernel(tables t, uint64_t slots, uint64_t* out, uint32_t* counts, uint64_t* kept) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slots; i += stride) {
    const uint32_t count = t.counts[i];
    const unsigned stays = __ballot_sync(__activemask(), count >= least);
    if (count < least) continue;
    const unsigned lane = threadIdx.x % 32, leader = __ffs(stays) - 1;
    unsigned long long place = 0;
    if (lane == leader) place = atomicAdd(reinterpret_cast<unsigned long long*>(kept), __popc(stays));
    place = __shfl_sync(stays, place, leader) + __popc(stays & ((1u << lane) - 1));
    out[place] = mgpu::unscramble(t.slots[i], k);
    counts[place] = count;
  }
}

/// A sum over k-mers and counts that does not depend on their order.
__global__ void digest_kernel(const uint64_t* kmers, const uint32_t* counts, uint64_t items, bool scrambled, uint64_t* sum) {
  uint64_t mine = 0;
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < items; i += stride) {
    const uint64_t kmer = scrambled ? mgpu::unscramble(kmers[i], k) : kmers[i];
    mine += (kmer + 1) * 0x9e3779b97f4a7c15u * counts[i];
  }
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), mine);
}

struct answer {
  uint64_t kept = 0;
  uint64_t digest = 0;
};

/// Buffers that all methods share.
struct workspace {
  uint64_t* made = device_array<uint64_t>(keys);
  uint64_t* first = device_array<uint64_t>(keys);
  uint64_t* second = device_array<uint64_t>(keys);
  uint32_t* counts = device_array<uint32_t>(keys);
  uint64_t* number = device_array<uint64_t>(3 + mgpu::counters);
  uint64_t temporary_bytes = uint64_t{1} << 30;
  char* temporary = device_array<char>(uint64_t{1} << 30);

  uint64_t read(int place) const {
    uint64_t value;
    check(cudaMemcpy(&value, number + place, 8, cudaMemcpyDeviceToHost), "reading");
    return value;
  }
  void clear_numbers() const { check(cudaMemsetAsync(number, 0, 8 * (3 + mgpu::counters)), "clearing"); }
  void again() const { check(cudaMemcpy(first, made, 8 * keys, cudaMemcpyDeviceToDevice), "copying"); }
  answer answer_of(const uint64_t* kmers, const uint32_t* of, uint64_t kept, bool scrambled) const {
    clear_numbers();
    digest_kernel<<<4096, threads>>>(kmers, of, kept, scrambled, number);
    return {kept, read(0)};
  }
};

uint64_t* sorted(workspace& w, int bits) {
  bool in_second;
  const mgpu::sort_arguments order{w.first, w.second, nullptr, nullptr, keys, 0, bits};
  check(mgpu_sort_u64(w.temporary, &w.temporary_bytes, &order, &in_second, nullptr), "sort");
  w.temporary_bytes = uint64_t{1} << 30;
  return in_second ? w.second : w.first;
}

/// Algorithm 1 of the paper. `other` takes the runs, `picked` and `picked_counts` those that stay.
double by_all_bits(workspace& w, uint64_t* picked, uint32_t* picked_counts, answer& found) {
  double least_time = 1e9;
  for (int again = 0; again < 3; ++again) {
    w.again();
    uint64_t kept = 0;
    const double time = seconds([&] {
      uint64_t* const in = sorted(w, 2 * k);
      uint64_t* const runs = in == w.first ? w.second : w.first;
      const mgpu::encode_arguments all{in, runs, w.counts, w.number, keys};
      check(mgpu_encode_runs_u64(w.temporary, &w.temporary_bytes, &all, nullptr), "runs");
      w.temporary_bytes = uint64_t{1} << 30;
      const uint64_t number = w.read(0);
      const mgpu::select_arguments some{runs, w.counts, picked, picked_counts, w.number, number, least, most};
      check(mgpu_select_runs_u64(w.temporary, &w.temporary_bytes, &some, nullptr), "selection");
      w.temporary_bytes = uint64_t{1} << 30;
      kept = w.read(0);
    });
    found = w.answer_of(picked, picked_counts, kept, true);
    if (time < least_time) least_time = time;
  }
  return least_time;
}

/// What merganser does.
double by_some_bits(workspace& w, uint8_t* changes, uint64_t* left, uint32_t* large, answer& found) {
  double least_time = 1e9;
  for (int again = 0; again < 3; ++again) {
    w.again();
    uint64_t kept = 0;
    uint64_t* out = nullptr;
    const double time = seconds([&] {
      uint64_t* const in = sorted(w, mgpu::sorted_bits);
      out = in == w.first ? w.second : w.first;
      w.clear_numbers();
      const auto settle = [&](auto launcher) {
        const mgpu::run_arguments<uint64_t> a{
            in, keys, (uint64_t{1} << mgpu::sorted_bits) - 1, mgpu::sorted_bits < 2 * k, k, least, most,
            out, w.counts, changes, left, keys / 256, large,
            reinterpret_cast<mgpu::run_totals*>(w.number)};
        check(launcher(&a, nullptr), "runs");
      };
      settle(merganser_count_runs_u64);
      settle(merganser_count_left_runs_u64);
      kept = w.read(0);
    });
    found = w.answer_of(out, w.counts, kept, false);
    if (time < least_time) least_time = time;
  }
  return least_time;
}

template <class Kernel>
double by_table(workspace& w, const tables& t, uint64_t slots, int lanes, Kernel kernel, answer& found) {
  uint64_t kept = 0;
  const double time = least_seconds([&] {
    check(cudaMemsetAsync(t.slots, 0xff, 8 * slots), "clearing");
    check(cudaMemsetAsync(t.counts, 0, 4 * slots), "clearing");
    w.clear_numbers();
    kernel<<<132 * 8 * (lanes > 1 ? 2 : 1), threads>>>(w.made, t);
    collect_kernel<<<132 * 8, threads>>>(t, slots, w.second, w.counts, w.number);
    kept = w.read(0);
  });
  found = w.answer_of(w.second, w.counts, kept, false);
  return time;
}

void agree(const answer& expected, const answer& found, const char* method) {
  if (found.kept == expected.kept && found.digest == expected.digest) return;
  std::fprintf(stderr, "%s found other k-mers: %" PRIu64 " instead of %" PRIu64 "\n", method, found.kept, expected.kept);
  std::exit(1);
}

uint64_t power_of_two(double least_value) {
  uint64_t power = 8;
  while (static_cast<double>(power) < least_value) power *= 2;
  return power;
}

}  // namespace

int main() {
  workspace w;
  uint64_t* const picked = device_array<uint64_t>(keys);
  uint32_t* const picked_counts = device_array<uint32_t>(keys);
  uint8_t* const changes = device_array<uint8_t>(keys / mgpu::run_tile);
  uint64_t* const left = device_array<uint64_t>(keys / 256);
  uint32_t* const large = device_array<uint32_t>(keys / mgpu::counters + 1);
  std::printf("| occurrences of a distinct k-mer | k-mers a bin | sort, all bits | sort, 40 bits | table, a thread | table, 8 lanes |\n|---|---|---|---|---|---|\n");
  for (const double depth : {1.5, 4.0, 10.0, 24.0}) {
    for (const int bin_bits : {28, 24, 21, 18, 14}) {
      const uint64_t bin_keys = uint64_t{1} << bin_bits;
      const auto distinct = static_cast<uint64_t>(static_cast<double>(bin_keys) / depth);
      make_kernel<<<4096, threads>>>(w.made, bin_keys, distinct);
      answer all_bits, some_bits, thread, lanes;
      const double times[] = {
          by_all_bits(w, picked, picked_counts, all_bits),
          by_some_bits(w, changes, left, large, some_bits),
      };
      agree(all_bits, some_bits, "the sort by 40 bits");
      const uint64_t slots_per_bin = power_of_two(1.5 * static_cast<double>(distinct));
      const uint64_t slots = slots_per_bin * (keys / bin_keys);
      const tables t{device_array<uint64_t>(slots), device_array<uint32_t>(slots), slots_per_bin, bin_keys};
      const double by_thread = by_table(w, t, slots, 1, insert_kernel, thread);
      agree(all_bits, thread, "the table");
      const double by_lanes = by_table(w, t, slots, 8, insert_by_lanes_kernel, lanes);
      agree(all_bits, lanes, "the table of 8 lanes");
      check(cudaFree(t.slots), "freeing");
      check(cudaFree(t.counts), "freeing");
      const double billions = static_cast<double>(keys) / 1e9;
      std::printf("| %.1f | 2^%d | %.1f | %.1f | %.1f | %.1f |\n", depth, bin_bits, billions / times[0], billions / times[1], billions / by_thread, billions / by_lanes);
      std::fflush(stdout);
    }
  }
  return 0;
}
