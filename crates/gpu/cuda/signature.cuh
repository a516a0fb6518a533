// The norms of p-mers under the four signature rules, as in crates/seq/src/signature.rs
// (RapidGKC §II-D, §II-E, §III-A). The Rust code is the reference; tests compare these functions with it.
#pragma once

#include "kmer.cuh"

namespace mgpu {

/// The rule that decides which p-mers may be signatures; the numbers are the order of Rust's Rule::ALL.
enum class rule : uint32_t { gkc = 0, kmc2 = 1, minimizer = 2, hash = 3 };

/// The position of the p-mer in its rule's order, or 4^p if the rule does not allow it. p is 3 to 15.
/// The code is branch-free, so that lanes with allowed and forbidden p-mers do not diverge.
template <rule Rule>
MGPU_HD uint32_t rank_pmer(uint32_t pmer, int p) {
  const uint32_t special = 1u << (2 * p);
  if constexpr (Rule == rule::gkc) {
    // Not AAA, ACA, CAA or CCA at the start, not AAA at the end.
    const bool allowed =
        ((pmer >> (2 * (p - 3)) & 0x2bu) != 0) & ((pmer & 0x3fu) != 0);
    return allowed ? pmer : special;
  } else if constexpr (Rule == rule::kmc2) {
    // Bit 2i of is_a is set if base i from the end is A; aa has the bits of all pairs of As.
    const uint32_t is_a = ~(pmer | pmer >> 1) & 0x55555555u;
    const uint32_t aa = is_a & is_a >> 2;
    const uint32_t all_but_first = (1u << (2 * (p - 2))) - 1;
    const bool bad = ((aa & all_but_first) != 0) | (pmer >> (2 * (p - 3)) == 0x04u) |
                     ((pmer & 0x3fu) == 0x3fu) | ((pmer & 0x3fu) == 0x3bu) |
                     ((pmer & 0x3cu) == 0x3cu);
    return bad ? special : pmer;
  } else if constexpr (Rule == rule::minimizer) {
    return pmer;
  } else {
    // Each step is a bijection on 2p bits: multiplication by an odd number, XOR with its own high half.
    const uint32_t mask = special - 1;
    uint32_t x = pmer * 0x9e3779b1u & mask;
    x ^= x >> p;
    return x * 0x85ebca6bu & mask;
  }
}

/// The norm of a p-mer given its reverse complement: the smaller rank of both strands, or the rank of the p-mer
/// alone if not canonical. The signature of a k-mer is the smallest norm of its p-mers.
template <rule Rule>
MGPU_HD uint32_t norm_pmer(uint32_t pmer, uint32_t complement, int p, bool canonical) {
  if (!canonical) {
    return rank_pmer<Rule>(pmer, p);
  }
  if constexpr (Rule == rule::hash) {
    return rank_pmer<Rule>(complement < pmer ? complement : pmer, p);
  } else {
    const uint32_t forward = rank_pmer<Rule>(pmer, p);
    const uint32_t reverse = rank_pmer<Rule>(complement, p);
    return reverse < forward ? reverse : forward;
  }
}

}  // namespace mgpu
