// The scan of all lanes of a text for patterns.
#pragma once

#include "edits.cuh"
#include "planes.cuh"

#ifdef __CUDACC__
#define MGPU_NOINLINE __device__ __noinline__
#else
#define MGPU_NOINLINE inline
#endif

namespace mgpu {
namespace search {

constexpr unsigned scan_threads = 256;
/// The number of patterns of a block: one for each warp.
constexpr uint32_t block_patterns = scan_threads / 32;
/// The maximum number of letters of a pattern.
constexpr uint32_t max_pattern = 128;
/// The bytes of the words of one set of bases in a chunk.
constexpr uint32_t set_bytes = chunk_columns * tile_words * sizeof(uint32_t);

/// A pattern.
struct pattern {
  /// Its number in the records of its ends.
  uint32_t number;
  /// The maximum number of edits.
  uint16_t e;
  uint16_t len;
  /// The sets of bases of its letters, none of them empty.
  uint8_t sets[max_pattern];
};

/// The input and output of `scan_kernel`.
struct scan_arguments {
  /// The planes that `planes_kernel` has made of all tiles.
  const uint64_t* planes;
  const pattern* patterns;
  /// Records of the ends, unsorted: the pattern's number, 33 bits of the position of the last letter in the text, and
  /// 7 bits of edits.
  uint64_t* ends;
  /// The number of ends so far; those past `room` are counted and not written.
  uint64_t* found;
  uint64_t room;
  layout to;
  /// The text, and the sets of its letters.
  const uint8_t* text;
  letter_sets letters;
  /// The sets of the letters that must follow an end, four bits each, and their number.
  uint64_t anchor;
  uint32_t anchor_len;
  /// The number of patterns, and of the blocks for each tile.
  uint32_t count, groups;
  uint32_t first_tile;
  /// The sets of bases that patterns have, one bit each.
  uint32_t wanted;
};

/// The working memory of a block.
struct scan_shared {
  /// The words of a chunk by set, group of four columns, word of lanes and column. Those of the empty set have all
  /// bits: they are for rows above a pattern.
  uint64_t sets[16][set_bytes / sizeof(uint64_t)];
  /// The sets of the rows of each warp's pattern.
  uint4 rows[block_patterns][max_pattern / 4];
};

/// Makes the words of the sets in `wanted` from those of the four bases.
MGPU_HD void put_sets(scan_shared& shared, uint32_t at, const uint64_t (&bases)[4], uint32_t wanted) {
  MGPU_UNROLL
  for (uint32_t set = 1; set < 16; ++set) {
    if ((wanted >> set & 1) == 0) continue;
    uint64_t words = 0;
    MGPU_UNROLL
    for (uint32_t base = 0; base < 4; ++base) words |= set >> base & 1 ? bases[base] : 0;
    shared.sets[set][at] = words;
  }
}

/// The state of a thread after a step in which a value may be at most e.
template <int Digits>
struct event {
  /// The value of the last row less e + 3.
  counter<Digits> value;
  /// The differences of the step.
  differences by;
  uint32_t e, number;
  /// The position of the word's first lane in the step's first column.
  uint64_t at;
};

/// Returns those of the lanes in which the letters of the anchor follow. `after` is the position after the first lane's
/// last letter.
MGPU_HD uint32_t anchored(const scan_arguments& a, uint32_t lanes, uint64_t after) {
  uint32_t good = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint64_t at = after + uint64_t{a.to.own} * static_cast<uint32_t>(first_one(lanes));
    bool is_good = at + a.anchor_len <= a.to.letters;
    for (uint32_t i = 0; is_good && i < a.anchor_len; ++i) {
      is_good = (a.anchor >> (4 * i) & a.letters.of(a.text[at + i])) != 0;
    }
    good |= is_good ? lanes & ~(lanes - 1) : 0;
  }
  return good;
}

/// Writes the records of the ends in a step. It is rare, and not inlined, because it would take registers from the
/// cells.
template <int Digits, class Block>
MGPU_NOINLINE void report(const scan_arguments& a, Block& me, event<Digits>& in) {
  // The number is negative up to e edits.
  in.value.template add<1>(~0u, 0);
  for (int column = step - 1; column >= 0; --column) {
    const uint64_t first = in.at + static_cast<uint32_t>(column);
    uint32_t lanes = in.value.negative();
    if (a.anchor_len != 0) lanes = anchored(a, lanes, first + 1);
    // One addition for all lanes: with one for each, patterns that match everywhere took seven times as long.
    uint64_t slot = lanes == 0 ? 0 : me.add(a.found, uint64_t{ones(lanes)});
    for (; lanes != 0; lanes &= lanes - 1, ++slot) {
      const int32_t lane = first_one(lanes);
      const uint64_t edits = static_cast<uint32_t>(in.value.of(lane) + static_cast<int32_t>(in.e) + 1);
      const uint64_t position = first + uint64_t{a.to.own} * static_cast<uint32_t>(lane);
      if (slot < a.room) a.ends[slot] = uint64_t{in.number} << 40 | position << 7 | edits;
    }
    in.value.template add<0>(in.by.down[column], in.by.up[column]);
  }
}

/// Returns the minimum number of blocks of a multiprocessor, which limits the registers.
constexpr int scan_blocks(int rows) { return rows <= 44 ? 2 : 1; }

/// Finds the ends of patterns of at most `Rows` letters.
/// Launch: one block of 8 warps per tile of 1,024 lanes and 8 patterns. Each warp computes its pattern for all lanes of
/// the tile, 32 per thread. The words of 16 columns are in shared memory, for every set of bases that a pattern has,
/// so that a row's set selects them without divergence. The first `InRegisters` rows are in registers, the others in
/// local memory.
/// Cost: 5 logical operations per row and column for 32 lanes, and 5 more per column for the counter. The value is
/// compared with e + 2 once in four columns: if it is at most e in one of them, it is at most e + 2 before or after
/// them. Shared: 36 KiB. On an H100, patterns of 23 letters reach 88 % of the operations that the card performs, where
/// the logical unit is busy in 95 % of the cycles.
template <int Rows, int InRegisters>
__global__ void __launch_bounds__(scan_threads, scan_blocks(Rows)) scan_kernel(scan_arguments a) {
  MGPU_SHARED scan_shared shared;
  block<scan_threads> me;
  const uint32_t lane = me.thread() % 32, warp = me.thread() / 32;
  const uint64_t tile = a.first_tile + me.index() / a.groups;
  const uint32_t index = me.index() % a.groups * block_patterns + warp;
  const bool has_pattern = index < a.count;
  const pattern& of = a.patterns[has_pattern ? index : 0];
  const uint32_t len = of.len, e = of.e;
  // Rows above the pattern match everything, so that their values are 0.
  const uint32_t above = Rows - len;
  uint32_t* const row_sets = reinterpret_cast<uint32_t*>(shared.rows[warp]);
  for (uint32_t row = lane; row < (Rows + 3) / 4 * 4; row += 32) {
    row_sets[row] = row >= above && row < Rows ? of.sets[row - above] : 0;
  }
  shared.sets[0][me.thread()] = ~uint64_t{0};
  uint32_t row_up[InRegisters], row_down[InRegisters];
  MGPU_UNROLL
  for (uint32_t row = 0; row < InRegisters; ++row) {
    row_up[row] = row < above ? 0 : ~0u;
    row_down[row] = 0;
  }
  // Both differences of the other rows, `up` in the low half.
  uint64_t more_rows[Rows - InRegisters + 1];
  for (uint32_t row = InRegisters; row < Rows; ++row) more_rows[row - InRegisters] = row < above ? 0 : ~0u;
  counter<digits_of(Rows)> value;
  value.set(static_cast<int32_t>(len) - static_cast<int32_t>(e) - 3);

  const uint32_t chunks = (a.to.own + a.to.before) / chunk_columns;
  const uint64_t* planes = a.planes + tile * chunks * (chunk_words / 2) + me.thread() / 64 * 256 + me.thread() % 64;
  // The position of the first lane of this thread's word in column 0.
  uint64_t at = (tile * tile_lanes + 32 * lane) * a.to.own - a.to.before;
  uint64_t bases[4];
  const auto load = [&] {
    MGPU_UNROLL
    for (uint32_t base = 0; base < 4; ++base) bases[base] = planes[64 * base];
    planes += chunk_words / 2;
  };
  for (uint32_t chunk = 0; chunk < chunks; ++chunk, at += chunk_columns) {
    load();
    me.sync();
    put_sets(shared, me.thread(), bases, a.wanted);
    me.sync();
    if (!has_pattern) continue;
    const bool is_owned = chunk * chunk_columns >= a.to.before;
    const uint8_t* words = reinterpret_cast<const uint8_t*>(shared.sets) + 16 * lane;
    for (uint32_t first = 0; first < chunk_columns; first += step, words += 16 * tile_words) {
      differences by{};
      uint4 four{};
      const auto one_row = [&](uint32_t row, uint32_t& row_up, uint32_t& row_down) {
        if (row % 4 == 0) four = shared.rows[warp][row / 4];
        const uint32_t set = row % 4 == 0 ? four.x : row % 4 == 1 ? four.y : row % 4 == 2 ? four.z : four.w;
        const uint4 equal = *reinterpret_cast<const uint4*>(words + set * set_bytes);
        cell(equal.x, row_up, row_down, by.up[0], by.down[0]);
        cell(equal.y, row_up, row_down, by.up[1], by.down[1]);
        cell(equal.z, row_up, row_down, by.up[2], by.down[2]);
        cell(equal.w, row_up, row_down, by.up[3], by.down[3]);
      };
      MGPU_UNROLL
      for (uint32_t row = 0; row < InRegisters; ++row) one_row(row, row_up[row], row_down[row]);
      for (uint32_t row = InRegisters; row < Rows; ++row) {
        uint64_t& steps = more_rows[row - InRegisters];
        uint32_t up = static_cast<uint32_t>(steps), down = static_cast<uint32_t>(steps >> 32);
        one_row(row, up, down);
        steps = uint64_t{down} << 32 | up;
      }
      const uint32_t before = value.negative();
      value.add(by);
      if (is_owned && (before | value.negative()) != 0 && value.is_near(by)) {
        event<digits_of(Rows)> now{value, by, e, of.number, at + first};
        report(a, me, now);
      }
    }
  }
}

}  // namespace search
}  // namespace mgpu
