// k-mers of 65 to 128 bases, as in crates/seq/src/kmer/wide.rs; shorter ones are in kmer.cuh.
#pragma once

#include "kmer.cuh"

namespace mgpu {

/// Shifts right by `bits` (at most 255).
MGPU_HD uint256 shift_right(uint256 value, int bits) {
  if (bits == 0) return value;
  if (bits >= 128) return {0, bits == 128 ? value.high : value.high >> (bits - 128)};
  return {value.high >> bits, value.low >> bits | value.high << (128 - bits)};
}

/// The smaller of a k-mer and its reverse complement, for k above 64.
MGPU_HD uint256 canonical(uint256 kmer, int k) {
  const uint256 complement = shift_right(
      {reverse_complement(kmer.low, 64), reverse_complement(kmer.high, 64)}, 256 - 2 * k);
  return complement < kmer ? complement : kmer;
}

}  // namespace mgpu
