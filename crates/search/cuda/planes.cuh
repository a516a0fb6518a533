// Letters to planes: the lanes of 32 stretches of a text side by side in a word.
#pragma once

#include "block.cuh"

namespace mgpu {
namespace search {

/// The words of 32 lanes of a tile, and the columns of a chunk.
constexpr uint32_t tile_words = 32, chunk_columns = 16;
/// The lanes of a tile.
constexpr uint32_t tile_lanes = 32 * tile_words;
/// The words of a chunk: for each group of four columns, base and word of lanes, four consecutive ones.
constexpr uint32_t chunk_words = chunk_columns * 4 * tile_words;

/// The division of a text to lanes. Lane l has the `own` letters from l * own on, after `before` letters that precede
/// them; both are multiples of 16.
struct layout {
  /// The number of letters of the text; a multiple of 16.
  uint64_t letters;
  uint32_t own, before;
};

/// The sets of bases of the letters 0x40 to 0x5f, in either case, four bits each; other bytes have none.
struct letter_sets {
  uint64_t sets[2];

  /// Returns the set of a letter.
  MGPU_HD uint32_t of(uint32_t letter) const {
    // Not an index, because the argument of a kernel would be copied to local memory for it.
    const uint64_t half = letter & 16 ? sets[1] : sets[0];
    return letter >> 6 == 1 ? static_cast<uint32_t>(half >> (4 * (letter & 15))) & 15 : 0;
  }
};

/// The input and output of `planes_kernel`.
struct planes_arguments {
  const uint8_t* text;
  uint32_t* planes;
  layout to;
  letter_sets letters;
};

constexpr unsigned planes_threads = 256;

/// Makes the planes of a text.
/// Launch: one block per chunk of 16 columns of a tile. Each lane of a warp loads 16 letters of one of 32 stretches,
/// and ballots turn their sets into words; the block's words are collected in shared memory and written in order.
/// Cost: O(letters); an eighth of a ballot per letter and warp. Shared: 8 KiB.
static __global__ void __launch_bounds__(planes_threads) planes_kernel(planes_arguments a) {
  MGPU_SHARED uint32_t shared[chunk_words];
  block<planes_threads> me;
  const uint32_t lane = me.thread() % 32, warp = me.thread() / 32;
  const uint32_t chunks = (a.to.own + a.to.before) / chunk_columns;
  const uint64_t tile = me.index() / chunks, chunk = me.index() % chunks;
  for (uint32_t word = warp; word < tile_words; word += planes_threads / 32) {
    const uint64_t stretch = tile * tile_lanes + 32 * word + lane;
    // Wraps around before the first letter.
    const uint64_t at = stretch * a.to.own + chunk * chunk_columns - a.to.before;
    uint4 letters{0, 0, 0, 0};
    if (at < a.to.letters) letters = *reinterpret_cast<const uint4*>(a.text + at);
    const uint32_t four[4] = {letters.x, letters.y, letters.z, letters.w};
    uint32_t kept[2] = {0, 0};
    MGPU_UNROLL
    for (uint32_t column = 0; column < chunk_columns; ++column) {
      const uint32_t set = a.letters.of(four[column / 4] >> (8 * (column % 4)) & 255);
      MGPU_UNROLL
      for (uint32_t base = 0; base < 4; ++base) {
        const uint32_t bits = me.ballot(set >> base & 1);
        const uint32_t index = 4 * column + base;
        if (lane == index % 32) kept[index / 32] = bits;
      }
    }
    MGPU_UNROLL
    for (uint32_t half = 0; half < 2; ++half) {
      const uint32_t column = (32 * half + lane) / 4, base = lane % 4;
      shared[((column / 4 * 4 + base) * tile_words + word) * 4 + column % 4] = kept[half];
    }
  }
  me.sync();
  uint32_t* out = a.planes + uint64_t{me.index()} * chunk_words;
  for (uint32_t i = me.thread(); i < chunk_words; i += planes_threads) out[i] = shared[i];
}

}  // namespace search
}  // namespace mgpu
