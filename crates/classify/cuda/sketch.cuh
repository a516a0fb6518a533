// Sketches of windows (crates/classify/src/sketch.rs and hash.rs): a block finds the smallest distinct hashes of the
// canonical k-mers of a window. Word is the type of a hash: uint32_t for k up to 16, uint64_t for larger k.
#pragma once

#include "block.cuh"
#include "hash.cuh"
#include "kmer.cuh"

namespace mgpu {

/// The parameters of windows and sketches: merganser_classify::Params.
struct sketch_rule {
  int32_t k;
  uint32_t sketch;  // maximum number of features of a window
  uint32_t window;  // bases
  uint32_t stride;
  uint64_t limit;  // hashes from this on are not features
};

/// Maximum number of features of a sketch.
constexpr uint32_t max_features = 128;

MGPU_HD uint32_t hash_kmer(uint32_t x) {
  x = (x >> 16 ^ x) * 0x45d9f3bu;
  x = (x >> 16 ^ x) * 0x45d9f3bu;
  return x >> 16 ^ x;
}

MGPU_HD uint64_t hash_kmer(uint64_t x) { return murmur_finalizer(x); }

/// Return the feature of a hash, 44 bits: the section, then the key in the section.
MGPU_HD uint64_t feature_of(uint32_t hash) { return uint64_t{hash * 0x9e3779b1u} << 12; }
MGPU_HD uint64_t feature_of(uint64_t hash) { return hash * 0x9e3779b97f4a7c15u >> 20; }

/// Returns the number of windows of a sequence: complete ones at 0, stride and so on, and one of the remainder if it
/// holds a k-mer.
MGPU_HD uint32_t count_windows(uint32_t bases, const sketch_rule& rule) {
  const uint32_t full = bases < rule.window ? 0 : (bases - rule.window) / rule.stride + 1;
  return full + (bases >= full * rule.stride + static_cast<uint32_t>(rule.k) ? 1 : 0);
}

/// Shared memory of a block that sketches windows of up to `Kmers` k-mers, a power of two.
template <class Word, int Kmers>
struct sketch_space {
  uint8_t codes[Kmers + 32];
  Word raw[Kmers];
  Word hashes[Kmers];
};

/// Sorts `values[0..count]` in ascending order. `values` has room up to the next power of two.
template <class Block, class Value>
MGPU_HD void sort_shared(Block& block, Value* values, uint32_t count) {
  uint32_t size = 1;
  while (size < count) size *= 2;
  for (uint32_t i = count + block.thread(); i < size; i += block.threads()) {
    values[i] = static_cast<Value>(~Value{0});
  }
  // Batcher's bitonic network.
  for (uint32_t span = 2; span <= size; span *= 2) {
    for (uint32_t step = span / 2; step > 0; step /= 2) {
      block.sync();
      for (uint32_t i = block.thread(); i < size / 2; i += block.threads()) {
        const uint32_t low = 2 * i - (i & (step - 1)), high = low + step;
        const Value a = values[low], b = values[high];
        if ((a > b) == ((low & span) == 0)) {
          values[low] = b;
          values[high] = a;
        }
      }
    }
  }
  block.sync();
}

/// Sorts the hashes below the limit of a window's k-mers into space.hashes, with duplicates, and returns their
/// number. `bases` is k to Kmers + k - 1.
template <class Word, int Kmers, class Block>
MGPU_HD uint32_t sort_hashes(Block& block, sketch_space<Word, Kmers>& space, const uint8_t* letters,
                             uint32_t bases, const sketch_rule& rule) {
  constexpr uint32_t threads = Block::threads();
  for (uint32_t i = block.thread(); i < bases; i += threads) {
    const uint8_t letter = letters[i];
    space.codes[i] = static_cast<uint8_t>(is_base(letter) ? base_code(letter) : 4u);
  }
  block.sync();
  const uint32_t k = static_cast<uint32_t>(rule.k), kmers = bases + 1 - k;
  // Each thread rolls over its own stretch.
  const uint32_t each = (kmers + threads - 1) / threads;
  const uint32_t first = block.thread() * each < kmers ? block.thread() * each : kmers;
  const uint32_t end = first + each < kmers ? first + each : kmers;
  const Word mask = kmer_mask<Word>(rule.k);
  Word forward = 0, reverse = 0;
  uint32_t clean = 0, own = 0;
  for (uint32_t at = first; first < end && at < end + k - 1; ++at) {
    const uint32_t code = space.codes[at];
    clean = code < 4 ? clean + 1 : 0;
    forward = push_base(forward, code & 3u, mask);
    reverse = push_complement(reverse, code & 3u, rule.k);
    if (at + 1 >= first + k && clean >= k) {
      const Word hash = hash_kmer(forward < reverse ? forward : reverse);
      if (uint64_t{hash} < rule.limit) space.raw[first + own++] = hash;
    }
  }
  uint32_t count = 0;
  const uint32_t place = block.sum_before(own, count);
  for (uint32_t i = 0; i < own; ++i) space.hashes[place + i] = space.raw[first + i];
  block.sync();
  sort_shared(block, space.hashes, count);
  return count;
}

}  // namespace mgpu
