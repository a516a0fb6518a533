// Counts those k-mers of packed letters that a panel has, with a thread for each letter at which a k-mer may begin. A
// panel has the sections of seek.cuh, and a counter for each slot of their lines.
#pragma once

#include "block.cuh"
#include "packed.cuh"
#include "seek.cuh"

namespace mgpu {

constexpr int panel_threads = 256;

/// A section of a panel: its lines, and the counters of their slots. These are addresses in device memory.
struct alignas(16) panel_section {
  const uint64_t* lines;
  uint64_t line_count;
  uint32_t* counters;
  uint64_t reserved;
};

template <class K>
struct panel_arguments {
  /// The letters, and where k-mers are cut (packed.cuh).
  const uint64_t* bases;
  const uint64_t* cuts;
  uint64_t letter_count;
  int32_t k;
  bool canonical;
  /// The number of first bits of a k-mer that select its section.
  int32_t bits;
  const panel_section* sections;
  /// The number of k-mers of the letters is added to this.
  uint64_t* kmers;
};

/// Increases a counter, which stops at its largest value: the thread whose addition wraps it around sets it again. Any
/// later addition wraps around too, so the last change of such a counter sets it.
template <class Block>
MGPU_HD void increase(Block& me, uint32_t* counter) {
  if (me.add(counter, 1u) == ~0u) me.set(counter, ~0u);
}

/// Counts the k-mers of letters: O(k / 32) per letter, one or a few lines of a section at random addresses, and an atomic
/// addition if the panel has the k-mer; other threads run while a thread waits. Shared: 36 bytes.
template <class K>
__global__ void __launch_bounds__(panel_threads) panel_kernel(panel_arguments<K> a) {
  block<panel_threads> me;
  const int letters = static_cast<int>(a.letter_count), words = (letters + 31) / 32;
  const int64_t step = int64_t{me.count()} * panel_threads;
  uint32_t mine = 0, all = 0;
  for (int64_t at = int64_t{me.index()} * panel_threads + me.thread(); at + a.k <= letters; at += step) {
    const int start = static_cast<int>(at);
    if (any_bit(a.cuts, start + 1, start + a.k)) continue;
    ++mine;
    K kmer = kmer_at<K>::read(a.bases, words, start, a.k);
    if (a.canonical) kmer = canonical(kmer, a.k);
    const panel_section& section = a.sections[first_bits(kmer, a.k, a.bits)];
    find(section.lines, section.line_count, kmer, [&](uint32_t line, int slot, uint64_t) {
      increase(me, &section.counters[uint64_t{line} * line_slots + slot]);
    });
  }
  me.sum_before(mine, all);
  if (me.thread() == 0) me.add(a.kmers, uint64_t{all});
}

}  // namespace mgpu
