// Scrambling of k-mers, a bijection after which a few bits distinguish nearly all of them.
//
// Counting needs equal k-mers to be adjacent, but in no particular order: only the kept k-mers are sorted
// afterwards, and they are few. A radix sort by 40 well-mixed bits takes 5 passes for every k, whereas 2k bits
// take 7 (k = 28) to 32 (k = 128). The rare runs in which different k-mers share the 40 bits are separated
// by comparison (runs.cuh).
#pragma once

#include "record.cuh"

namespace mgpu {

/// The number of bits by which scrambled k-mers are sorted.
constexpr int sorted_bits = 40;

/// Whether k-mers are scrambled; if not, sorting by all their bits is as fast.
template <class K>
MGPU_HD bool is_scrambled(int k) {
  return sizeof(K) > 4 && 2 * k > sorted_bits;
}

constexpr uint64_t mix_1 = 0xbf58476d1ce4e5b9u, mix_2 = 0x94d049bb133111ebu;
constexpr uint64_t unmix_1 = 0x96de1b173f119089u, unmix_2 = 0x319642b2d24d8ec3u;

/// A bijection of the low 2k bits (k above 20): XOR with the value's own high half is its own inverse, and
/// an odd number has an inverse modulo any power of two.
MGPU_HD uint64_t scramble_bits(uint64_t x, int k) {
  const uint64_t mask = ~uint64_t{0} >> (64 - 2 * k);
  x ^= x >> k;
  x = x * mix_1 & mask;
  x ^= x >> k;
  x = x * mix_2 & mask;
  return x ^ x >> k;
}
/// The inverse of scramble_bits.
MGPU_HD uint64_t unscramble_bits(uint64_t x, int k) {
  const uint64_t mask = ~uint64_t{0} >> (64 - 2 * k);
  x ^= x >> k;
  x = x * unmix_2 & mask;
  x ^= x >> k;
  x = x * unmix_1 & mask;
  return x ^ x >> k;
}

/// A hash of the words above the lowest, which is mixed into it.
MGPU_HD uint64_t fold(uint64_t x) {
  x *= mix_1;
  return x ^ x >> 29;
}

/// Scrambles a k-mer of `k` bases.
MGPU_HD uint32_t scramble(uint32_t kmer, int) { return kmer; }
MGPU_HD uint32_t unscramble(uint32_t kmer, int) { return kmer; }
MGPU_HD uint64_t scramble(uint64_t kmer, int k) {
  return is_scrambled<uint64_t>(k) ? scramble_bits(kmer, k) : kmer;
}
MGPU_HD uint64_t unscramble(uint64_t kmer, int k) {
  return is_scrambled<uint64_t>(k) ? unscramble_bits(kmer, k) : kmer;
}
MGPU_HD uint128 scramble(uint128 kmer, int) {
  const uint64_t high = static_cast<uint64_t>(kmer >> 64);
  const uint64_t low = scramble_bits(static_cast<uint64_t>(kmer) ^ fold(high), 32);
  return static_cast<uint128>(high) << 64 | low;
}
MGPU_HD uint128 unscramble(uint128 kmer, int) {
  const uint64_t high = static_cast<uint64_t>(kmer >> 64);
  const uint64_t low = unscramble_bits(static_cast<uint64_t>(kmer), 32) ^ fold(high);
  return static_cast<uint128>(high) << 64 | low;
}
MGPU_HD uint64_t fold(uint256 kmer) {
  const uint64_t top = static_cast<uint64_t>(kmer.high >> 64);
  const uint64_t next = static_cast<uint64_t>(kmer.high);
  return fold(fold(fold(top) ^ next) ^ static_cast<uint64_t>(kmer.low >> 64));
}
MGPU_HD uint256 scramble(uint256 kmer, int) {
  const uint64_t low = scramble_bits(static_cast<uint64_t>(kmer.low) ^ fold(kmer), 32);
  return {kmer.high, kmer.low >> 64 << 64 | low};
}
MGPU_HD uint256 unscramble(uint256 kmer, int) {
  const uint64_t low = unscramble_bits(static_cast<uint64_t>(kmer.low), 32) ^ fold(kmer);
  return {kmer.high, kmer.low >> 64 << 64 | low};
}

/// The low 64 bits of a key, which include the bits by which scrambled keys are sorted.
MGPU_HD uint64_t low_word(uint32_t key) { return key; }
MGPU_HD uint64_t low_word(uint64_t key) { return key; }
MGPU_HD uint64_t low_word(uint128 key) { return static_cast<uint64_t>(key); }
MGPU_HD uint64_t low_word(uint256 key) { return static_cast<uint64_t>(key.low); }

/// The part, of `parts`, to which a scrambled key belongs.
template <class K>
MGPU_HD uint32_t part_of(K key, uint32_t parts) {
  const uint64_t mixed = scramble_bits(low_word(key), 32);
  return static_cast<uint32_t>((mixed >> 32) * parts >> 32);
}

}  // namespace mgpu
