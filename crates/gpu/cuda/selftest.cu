// The functions of the shared headers as kernels, run on a GPU by `merganser devices --check` and the device
// tests, which compare the results with Rust.
#include "block.cuh"
#include "dispatch.cuh"
#include "kmer.cuh"
#include "signature.cuh"
#include "status.cuh"

namespace mgpu {

constexpr unsigned block_size = 256;

/// Computes the canonical form of each k-mer, one per thread; the grid strides over the k-mers.
template <class K>
__global__ void __launch_bounds__(block_size)
    canonicalize_kmers_kernel(const K* kmers, uint64_t items, int k, K* out) {
  block<block_size> me;
  const uint64_t stride = uint64_t{me.count()} * block_size;
  for (uint64_t i = uint64_t{me.index()} * block_size + me.thread(); i < items; i += stride) {
    out[i] = canonical(kmers[i], k);
  }
}

/// Computes the norm of each p-mer, one per thread; the grid strides over the p-mers.
template <rule Rule>
__global__ void __launch_bounds__(block_size)
    norm_pmers_kernel(const uint32_t* pmers, uint64_t items, int p, bool canonical, uint32_t* out) {
  block<block_size> me;
  const uint64_t stride = uint64_t{me.count()} * block_size;
  for (uint64_t i = uint64_t{me.index()} * block_size + me.thread(); i < items; i += stride) {
    out[i] = norm_pmer<Rule>(pmers[i], reverse_complement(pmers[i], p), p, canonical);
  }
}

}  // namespace mgpu

extern "C" {

/// Computes the canonical forms of k-mers of 4, 8 or 16 bytes.
mgpu_status mgpu_canonicalize_kmers(uint32_t key_bytes, const void* kmers, uint64_t items, int32_t k,
                                    void* out, cudaStream_t stream) {
  return mgpu::for_key<uint32_t, uint64_t, mgpu::uint128>(key_bytes, [&](auto key) {
    using K = decltype(key);
    MGPU_LAUNCH(mgpu::canonicalize_kmers_kernel<K>, mgpu::grid_size(items, mgpu::block_size),
                mgpu::block_size, stream, static_cast<const K*>(kmers), items, k,
                static_cast<K*>(out));
    return mgpu::launch_status();
  });
}

/// Computes the norms of p-mers; `rule` is the number of an mgpu::rule.
mgpu_status mgpu_norm_pmers(uint32_t rule, const uint32_t* pmers, uint64_t items, int32_t p,
                            bool canonical, uint32_t* out, cudaStream_t stream) {
  return mgpu::for_at_least<0, 1, 2, 3>(rule, [&](auto number) {
    constexpr auto own = static_cast<mgpu::rule>(decltype(number)::value);
    MGPU_LAUNCH(mgpu::norm_pmers_kernel<own>, mgpu::grid_size(items, mgpu::block_size),
                mgpu::block_size, stream, pmers, items, p, canonical, out);
    return mgpu::launch_status();
  });
}
}
