// The cooperative insert under the interleaver, and under contexts with a race planted in them:
// a test that no schedule makes fail would be no test.
#include "hash_insert.cuh"
#include "interleave.hpp"

#include <algorithm>
#include <set>

namespace {

/// Compare and swap in two steps between which another lane can come.
struct torn_cas : mgpu::interleaver::context {
  torn_cas(const context& sound) : context(sound) {}
  template <class T>
  T cas(T* address, T expected, T desired) {
    const T found = load(address);
    if (found == expected) {
      pause();
      *address = desired;
    }
    return found;
  }
};

/// A lost race that is reported as won.
struct blind_cas : mgpu::interleaver::context {
  blind_cas(const context& sound) : context(sound) {}
  template <class T>
  T cas(T* address, T expected, T desired) {
    context::cas(address, expected, desired);
    return expected;
  }
};

/// Each lane sees its own vote only, and so takes itself for the leader.
struct lone_ballot : mgpu::interleaver::context {
  lone_ballot(const context& sound) : context(sound) {}
  uint32_t ballot(bool value) { return context::ballot(value) & 1u << lane(); }
};

constexpr uint64_t free_slot = ~0ull;

/// Several tiles insert overlapping runs of few keys into a small table. 0: the table is the set of
/// the keys, and each key was `inserted` exactly once. Else what was wrong, see insert.rs.
template <class Context>
int insert_keys(uint64_t seed) {
  constexpr int tiles = 6, lanes = 8, keys_of_tile = 5;
  std::mt19937_64 random(seed);
  std::vector<uint64_t> slots(32, free_slot);
  std::vector<uint64_t> keys(tiles * keys_of_tile);
  // 12 keys for 30 insertions, with two hashes in all: races are the rule.
  for (auto& key : keys) key = random() % 12;
  std::vector<int> inserted(12);
  int disagreements = 0, full = 0;
  mgpu::interleaver interleaver(tiles, lanes, seed);
  const bool ended = interleaver.run([&](mgpu::interleaver::context& sound, int tile) {
    Context ctx{sound};
    for (int i = 0; i < keys_of_tile; ++i) {
      const uint64_t key = keys[tile * keys_of_tile + i];
      const auto result = mgpu::insert_key(ctx, slots.data(), slots.size(), free_slot, key, key % 2 * 8);
      const bool won = result == mgpu::insert_result::inserted;
      const uint32_t votes = sound.ballot(won);
      disagreements += votes != 0 && votes != (1u << lanes) - 1;
      full += result == mgpu::insert_result::full;
      if (sound.lane() == 0 && won) ++inserted[key];
    }
  }, 1u << 18);
  if (!ended) return 1;
  if (disagreements > 0) return 2;
  if (full > 0) return 3;
  const std::set<uint64_t> expected(keys.begin(), keys.end());
  std::multiset<uint64_t> held(slots.begin(), slots.end());
  held.erase(free_slot);
  if (!std::equal(held.begin(), held.end(), expected.begin(), expected.end())) return 4;
  for (uint64_t key = 0; key < 12; ++key) {
    if (inserted[key] != static_cast<int>(expected.count(key))) return 5;
  }
  return 0;
}

/// A table with fewer slots than keys: as many are taken as there are, the rest say `full`.
int overfill(uint64_t seed) {
  std::vector<uint64_t> slots(8, free_slot);
  std::vector<int> results(12);
  mgpu::interleaver interleaver(12, 8, seed);
  const bool ended = interleaver.run([&](mgpu::interleaver::context& ctx, int tile) {
    const uint64_t key = tile;
    const auto result = mgpu::insert_key(ctx, slots.data(), slots.size(), free_slot, key, key);
    if (ctx.lane() == 0) results[tile] = static_cast<int>(result);
  });
  if (!ended) return 1;
  const auto count = [&](int result) { return std::count(results.begin(), results.end(), result); };
  return count(0) == 8 && count(2) == 4 && !std::count(slots.begin(), slots.end(), free_slot) ? 0 : 3;
}

/// A lane that ends while the others vote must be reported, not waited for.
int desert(uint64_t seed) {
  mgpu::interleaver interleaver(1, 8, seed);
  return interleaver.run([](mgpu::interleaver::context& ctx, int) {
    if (ctx.lane() != 7) ctx.ballot(true);
  }) ? 0 : 1;
}

}  // namespace

extern "C" int mgpu_host_insert(uint32_t variant, uint64_t seed) {
  switch (variant) {
    case 0: return insert_keys<mgpu::interleaver::context>(seed);
    case 1: return insert_keys<torn_cas>(seed);
    case 2: return insert_keys<blind_cas>(seed);
    case 3: return insert_keys<lone_ballot>(seed);
    case 4: return overfill(seed);
    default: return desert(seed);
  }
}
