// Packing of text to planes on the device, for a comparison with packing on the host (GateKeeper-GPU §3.3). It
// is slower in total, because copying text takes three times as long as copying planes.
#pragma once

#include "block.cuh"
#include "decide.cuh"

namespace mgpu {
namespace filter {

/// A sequence of bases in a text, and the 64-bit word where its planes begin.
struct line {
  uint64_t text_at;
  uint32_t words_at;
  uint32_t len;
};

constexpr unsigned pack_threads = 256;

/// Packs sequences into planes of low and high bits.
/// Launch: one warp per sequence. Each lane loads one of 32 consecutive letters, two ballots turn their bits
/// into words, and lane 0 writes these.
/// Cost: O(bases). No shared memory; full occupancy.
__global__ void __launch_bounds__(pack_threads)
    pack_kernel(const uint8_t* text, const line* lines, uint32_t count, uint64_t* words) {
  block<pack_threads> me;
  const uint64_t first = uint64_t{me.index()} * (pack_threads / 32);
  const uint32_t lane = me.thread() % 32;
  const uint64_t i = first + me.thread() / 32;
  // All threads of a block must take part in every ballot, so all warps loop as often as the longest sequence
  // requires.
  uint32_t steps = 0;
  for (uint32_t w = 0; w < pack_threads / 32; ++w) {
    const uint32_t len = first + w < count ? words_of(lines[first + w].len) * 2 : 0;
    steps = len > steps ? len : steps;
  }
  const line mine = i < count ? lines[i] : line{0, 0, 0};
  const uint32_t stride = 2 * words_of(mine.len);
  uint32_t* out = reinterpret_cast<uint32_t*>(words + mine.words_at);
  for (uint32_t step = 0; step < steps; ++step) {
    const uint32_t at = 32 * step + lane;
    const uint32_t letter = at < mine.len ? text[mine.text_at + at] : 0;
    const uint32_t low = me.ballot((letter >> 1 ^ letter >> 2) & 1);
    const uint32_t high = me.ballot(letter >> 2 & 1);
    if (lane == 0 && step < stride) {
      out[step] = low;
      out[stride + step] = high;
    }
  }
}

}  // namespace filter
}  // namespace mgpu
