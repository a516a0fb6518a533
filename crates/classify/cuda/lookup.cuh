// Finds the locations of the features of a window in the database's tables, which have the layout of the file
// (crates/classify/src/database.rs and cpu/section.rs).
#pragma once

#include "sketch.cuh"

namespace mgpu {

/// The position of a section in the words of its part.
struct table_section {
  uint64_t slots;      // first word
  uint64_t lists;      // first word
  uint64_t list_items;  // of 32 bits
  uint32_t slot_count;
  uint32_t ideal;
};

/// A part of a database in device memory.
struct table_part {
  const uint64_t* words;
  const table_section* sections;  // 4,096
};

constexpr uint64_t empty_slot = ~uint64_t{0};
constexpr uint32_t list_mark = 1u << 31;
/// Marks a position that is the only location itself.
constexpr uint64_t single_mark = uint64_t{1} << 63;

/// Returns the number of locations of a feature and sets `place` to their position: an index of 32-bit words in the
/// part, or the only location with single_mark. Positions are within the part even if the file is damaged.
MGPU_HD uint32_t look_up(const table_part& part, uint64_t feature, uint64_t& place) {
  const table_section section = part.sections[feature >> 32 & 0xfff];
  const uint32_t wanted = static_cast<uint32_t>(feature);
  uint64_t slot = empty_slot;
  for (uint32_t at = static_cast<uint32_t>(uint64_t{wanted} * section.ideal >> 32);
       at < section.slot_count; ++at) {
    slot = part.words[section.slots + at];
    if (static_cast<uint32_t>(slot >> 32) >= wanted) break;
  }
  // The largest feature differs from an empty slot only in its payload.
  if (static_cast<uint32_t>(slot >> 32) != wanted || slot == empty_slot) return 0;
  const uint32_t payload = static_cast<uint32_t>(slot);
  if ((payload & list_mark) == 0) {
    place = single_mark | payload;
    return 1;
  }
  const uint64_t at = payload & ~list_mark;
  if (at >= section.list_items) return 0;
  const uint32_t* words = reinterpret_cast<const uint32_t*>(part.words);
  const uint32_t count = words[2 * section.lists + at];
  place = 2 * section.lists + at + 1;
  return count < section.list_items - at ? count : 0;
}

/// The features of a sketch with the positions of their locations.
struct found_features {
  uint64_t places[max_features];
  uint32_t starts[max_features];  // number of locations before each feature's
};

/// Sketches a window, calls `sketched`, and looks up its features. Returns the number of their locations, and sets
/// `features` to the number of features.
template <class Word, int Kmers, class Block, class Sketched>
MGPU_HD uint32_t find_features(Block& block, sketch_space<Word, Kmers>& space,
                               found_features& found, const uint8_t* letters, uint32_t bases,
                               const sketch_rule& rule, const table_part& part, uint32_t& features,
                               const Sketched& sketched) {
  const uint32_t count = sort_hashes<Word, Kmers>(block, space, letters, bases, rule);
  sketched();
  uint32_t taken = 0, locations = 0;
  for (uint32_t base = 0; base < count && taken < rule.sketch; base += Block::threads()) {
    const uint32_t i = base + block.thread();
    const bool distinct = i < count && (i == 0 || space.hashes[i] != space.hashes[i - 1]);
    uint32_t sum = 0;
    const uint32_t at = taken + block.sum_before(distinct, sum);
    const bool mine = distinct && at < rule.sketch;
    uint64_t place = 0;
    const uint32_t own = mine ? look_up(part, feature_of(space.hashes[i]), place) : 0;
    uint32_t own_sum = 0;
    const uint32_t start = locations + block.sum_before(own, own_sum);
    if (mine) {
      found.places[at] = place;
      found.starts[at] = start;
    }
    taken += sum;
    locations += own_sum;
  }
  features = taken < rule.sketch ? taken : rule.sketch;
  block.sync();
  return locations;
}

/// Returns the feature that has location number `i` of those found by find_features.
MGPU_HD uint32_t feature_at(const found_features& found, uint32_t features, uint32_t i) {
  // The last feature that starts at or before it: earlier ones with the same start have no locations.
  uint32_t low = 0, high = features;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (found.starts[middle] <= i) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Returns location number `i`, which belongs to this feature.
MGPU_HD uint32_t location_of(const found_features& found, uint32_t feature, const table_part& part,
                             uint32_t i) {
  const uint64_t place = found.places[feature];
  if ((place & single_mark) != 0) return static_cast<uint32_t>(place);
  return reinterpret_cast<const uint32_t*>(part.words)[place + (i - found.starts[feature])];
}

/// Returns location number `i` of those found by find_features.
MGPU_HD uint32_t location_at(const found_features& found, uint32_t features, const table_part& part,
                             uint32_t i) {
  return location_of(found, feature_at(found, features, i), part, i);
}

}  // namespace mgpu
