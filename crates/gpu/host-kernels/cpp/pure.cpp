// The pure functions of the shared headers, exported for tests in Rust.
#include "kmer.cuh"
#include "signature.cuh"

using mgpu::uint128;

/// Calls the function with this number of Rust's `Function` on a k-mer.
template <class K>
static void call(uint32_t function, const void* of, uint32_t code, int k, void* out) {
  const K kmer = *static_cast<const K*>(of);
  K& result = *static_cast<K*>(out);
  switch (function) {
    case 0: result = mgpu::kmer_mask<K>(k); break;
    case 1: result = mgpu::push_base<K>(kmer, code, mgpu::kmer_mask<K>(k)); break;
    case 2: result = mgpu::push_complement<K>(kmer, code, k); break;
    case 3: result = mgpu::reverse_complement<K>(kmer, k); break;
    default: result = mgpu::canonical<K>(kmer, k); break;
  }
}

extern "C" {

/// Returns in bit 2 whether the letter is a base, in bits 0 and 1 its code.
uint32_t mgpu_host_letter(uint8_t letter) {
  return static_cast<uint32_t>(mgpu::is_base(letter)) << 2 | mgpu::base_code(letter);
}

/// Writes the result of a function of kmer.cuh, given by its number, for a k-mer of 4, 8 or 16 bytes.
void mgpu_host_kmer(uint32_t bytes, uint32_t function, const void* kmer, uint32_t code, int k,
                    void* out) {
  switch (bytes) {
    case 4: return call<uint32_t>(function, kmer, code, k, out);
    case 8: return call<uint64_t>(function, kmer, code, k, out);
    default: return call<uint128>(function, kmer, code, k, out);
  }
}

/// Returns the norm of a p-mer; `rule` is the number of an mgpu::rule.
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
