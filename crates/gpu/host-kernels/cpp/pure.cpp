// The pure functions of the shared headers, for Rust's tests to call.
#include "kmer.cuh"
#include "signature.cuh"

using mgpu::uint128;

extern "C" {

/// Bit 2: is a base; bits 0 and 1: the code.
uint32_t mgpu_host_letter(uint8_t letter) {
  return static_cast<uint32_t>(mgpu::is_base(letter)) << 2 | mgpu::base_code(letter);
}

#define MGPU_KMER_FUNCTIONS(K, suffix)                                                          \
  void mgpu_host_mask_##suffix(int k, K* out) { *out = mgpu::kmer_mask<K>(k); }                 \
  void mgpu_host_push_##suffix(const K* kmer, uint32_t code, int k, K* out) {                   \
    *out = mgpu::push_base<K>(*kmer, code, mgpu::kmer_mask<K>(k));                              \
  }                                                                                             \
  void mgpu_host_push_complement_##suffix(const K* kmer, uint32_t code, int k, K* out) {        \
    *out = mgpu::push_complement<K>(*kmer, code, k);                                            \
  }                                                                                             \
  void mgpu_host_reverse_complement_##suffix(const K* kmer, int k, K* out) {                    \
    *out = mgpu::reverse_complement<K>(*kmer, k);                                               \
  }                                                                                             \
  void mgpu_host_canonical_##suffix(const K* kmer, int k, K* out) {                             \
    *out = mgpu::canonical<K>(*kmer, k);                                                        \
  }

MGPU_KMER_FUNCTIONS(uint32_t, u32)
MGPU_KMER_FUNCTIONS(uint64_t, u64)
MGPU_KMER_FUNCTIONS(uint128, u128)

/// `rule` is the number of an mgpu::rule.
uint32_t mgpu_host_norm(uint32_t rule, uint32_t pmer, int p, bool canonical) {
  const uint32_t complement = mgpu::reverse_complement<uint32_t>(pmer, p);
  switch (static_cast<mgpu::rule>(rule)) {
    case mgpu::rule::gkc:
      return mgpu::norm_pmer<mgpu::rule::gkc>(pmer, complement, p, canonical);
    case mgpu::rule::kmc2:
      return mgpu::norm_pmer<mgpu::rule::kmc2>(pmer, complement, p, canonical);
    case mgpu::rule::minimizer:
      return mgpu::norm_pmer<mgpu::rule::minimizer>(pmer, complement, p, canonical);
    case mgpu::rule::hash:
      return mgpu::norm_pmer<mgpu::rule::hash>(pmer, complement, p, canonical);
  }
  return 0;
}
}
