// Letters and k-mers, encoded as in crates/seq/src/{base,kmer}.rs: A C G T = 0 1 2 3, 2 bits per base,
// first base most significant. The Rust code is the reference; tests compare these functions with it.
//
// K is uint32_t (k up to 16), uint64_t (32) or mgpu::uint128 (64). k is at least 1.
#pragma once

#include "portable.cuh"

namespace mgpu {

/// Whether a letter is A, C, G, T or U in either case.
MGPU_HD bool is_base(uint8_t letter) {
  // Bit i of the mask is for letter '@' + i; the letters with bit 6 are '@' to 0x7f.
  const uint32_t acgtu = 1u << 1 | 1u << 3 | 1u << 7 | 1u << 20 | 1u << 21;
  return (letter & 0xc0) == 0x40 && (acgtu >> (letter & 31) & 1) != 0;
}

/// The code of a letter that is a base; an unspecified number from 0 to 3 for any other. Bits 1 and 2 of the
/// ASCII letters A C G T are 00, 01, 11, 10; U has those of T.
MGPU_HD uint32_t base_code(uint8_t letter) { return (letter >> 1 ^ letter >> 2) & 3u; }

/// A mask of the low 2k bits.
template <class K>
MGPU_HD K kmer_mask(int k) {
  return static_cast<K>(~K{0}) >> (8 * static_cast<int>(sizeof(K)) - 2 * k);
}

/// The k-mer of the next position: a base is appended, and the first base is dropped.
template <class K>
MGPU_HD K push_base(K kmer, uint32_t code, K mask) {
  return static_cast<K>((kmer << 2 | static_cast<K>(code)) & mask);
}

/// The reverse complement of the next position's k-mer, given that of this position.
template <class K>
MGPU_HD K push_complement(K kmer, uint32_t code, int k) {
  return static_cast<K>(kmer >> 2 | static_cast<K>(3u - code) << (2 * (k - 1)));
}

/// The 32 bases of a word in reverse order.
MGPU_HD uint64_t reverse_bases(uint64_t word) {
#ifdef __CUDA_ARCH__
  // One instruction reverses all bits; then the two bits of each base are swapped back.
  word = __brevll(word);
  return (word >> 1 & 0x5555555555555555u) | (word & 0x5555555555555555u) << 1;
#else
  word = (word >> 2 & 0x3333333333333333u) | (word & 0x3333333333333333u) << 2;
  word = (word >> 4 & 0x0f0f0f0f0f0f0f0fu) | (word & 0x0f0f0f0f0f0f0f0fu) << 4;
  return __builtin_bswap64(word);
#endif
}

MGPU_HD uint32_t reverse_bases(uint32_t word) {
  return static_cast<uint32_t>(reverse_bases(static_cast<uint64_t>(word)) >> 32);
}

MGPU_HD uint128 reverse_bases(uint128 word) {
  const uint128 high = reverse_bases(static_cast<uint64_t>(word));
  return high << 64 | reverse_bases(static_cast<uint64_t>(word >> 64));
}

/// The reverse complement of a k-mer of k bases. The complement sets the bits above the k-mer to ones, and the
/// shift moves them out.
template <class K>
MGPU_HD K reverse_complement(K kmer, int k) {
  return reverse_bases(static_cast<K>(~kmer)) >> (8 * static_cast<int>(sizeof(K)) - 2 * k);
}

/// The smaller of a k-mer and its reverse complement.
template <class K>
MGPU_HD K canonical(K kmer, int k) {
  const K complement = reverse_complement(kmer, k);
  return complement < kmer ? complement : kmer;
}

}  // namespace mgpu
