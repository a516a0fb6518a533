// Insertion into an open-addressing hash table by a tile of lanes (as in warpcore): the lanes look
// at neighbouring slots together and one of them tries to take a free one.
#pragma once

#include "context.cuh"

namespace mgpu {

enum class insert_result : uint32_t { inserted = 0, present = 1, full = 2 };

/// The lowest set bit's number; `bits` is not 0.
MGPU_HD int first_lane(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int>(bits)) - 1;
#else
  return __builtin_ctz(bits);
#endif
}

/// Puts `key` into a table of `slot_count` slots unless it is there. `slot_count` is a power of two
/// and at least ctx.lanes(); free slots hold `empty`, which is no key: AAAA… is 0, so 0 will not do.
/// All lanes call with one key and get one answer. `full`: the key is not there and no slot is free.
template <class Ctx, class Key>
MGPU_HD insert_result insert_key(Ctx& ctx, Key* slots, uint64_t slot_count, Key empty, Key key,
                                 uint64_t hash) {
  const uint64_t lanes = static_cast<uint64_t>(ctx.lanes());
  uint64_t window = hash & (slot_count - 1) & ~(lanes - 1);
  for (uint64_t probed = 0; probed < slot_count; probed += lanes) {
    Key* slot = slots + window + ctx.lane();
    Key seen = ctx.load(slot);
    for (;;) {
      if (ctx.ballot(seen == key) != 0) {
        return insert_result::present;
      }
      const uint32_t free_lanes = ctx.ballot(seen == empty);
      if (free_lanes == 0) {
        break;
      }
      const int leader = first_lane(free_lanes);
      Key found = empty;
      if (ctx.lane() == leader) {
        found = ctx.cas(slot, empty, key);
        // Lost to another tile: its key is in this slot for good.
        seen = found == empty ? key : found;
      }
      if (ctx.shfl(found, leader) == empty) {
        return insert_result::inserted;
      }
    }
    window = (window + lanes) & (slot_count - 1);
  }
  return insert_result::full;
}

}  // namespace mgpu
