// The shared headers' functions as kernels: what `merganser devices --check` and the device tests
// run on a GPU and hold against Rust.
#include "block.cuh"
#include "hash_insert.cuh"
#include "kmer.cuh"
#include "signature.cuh"
#include "status.cuh"

namespace mgpu {

constexpr unsigned block_size = 256;

template <class K>
__global__ void __launch_bounds__(block_size)
    canonicalize_kmers_kernel(const K* kmers, uint64_t items, int k, K* out) {
  block<block_size> me;
  const uint64_t stride = uint64_t{me.count()} * block_size;
  for (uint64_t i = uint64_t{me.index()} * block_size + me.thread(); i < items; i += stride) {
    out[i] = canonical(kmers[i], k);
  }
}

template <rule Rule>
__global__ void __launch_bounds__(block_size)
    norm_pmers_kernel(const uint32_t* pmers, uint64_t items, int p, bool canonical, uint32_t* out) {
  block<block_size> me;
  const uint64_t stride = uint64_t{me.count()} * block_size;
  for (uint64_t i = uint64_t{me.index()} * block_size + me.thread(); i < items; i += stride) {
    out[i] = norm_pmer<Rule>(pmers[i], reverse_complement(pmers[i], p), p, canonical);
  }
}

#ifdef __CUDACC__
/// One tile of 8 lanes a key. `results` gets each key's insert_result.
__global__ void __launch_bounds__(block_size)
    insert_keys_kernel(uint64_t* slots, uint64_t slot_count, uint64_t empty, const uint64_t* keys,
                       uint64_t items, uint32_t* results) {
  tile_context<8> ctx;
  constexpr unsigned tiles = block_size / 8;
  const uint64_t stride = uint64_t{gridDim.x} * tiles;
  for (uint64_t i = uint64_t{blockIdx.x} * tiles + threadIdx.x / 8; i < items; i += stride) {
    const uint64_t key = keys[i];
    const uint64_t hash = (key ^ key >> 32) * 0x9e3779b97f4a7c15u >> 20;
    const insert_result result = insert_key(ctx, slots, slot_count, empty, key, hash);
    if (ctx.lane() == 0) {
      results[i] = static_cast<uint32_t>(result);
    }
  }
}
#endif

template <class K>
mgpu_status canonicalize_kmers(const K* kmers, uint64_t items, int k, K* out, cudaStream_t stream) {
  MGPU_LAUNCH(canonicalize_kmers_kernel, grid_size(items, block_size), block_size, stream, kmers,
              items, k, out);
  return launch_status();
}

}  // namespace mgpu

extern "C" {

mgpu_status mgpu_canonicalize_kmers_u32(const uint32_t* kmers, uint64_t items, int32_t k,
                                        uint32_t* out, cudaStream_t stream) {
  return mgpu::canonicalize_kmers(kmers, items, k, out, stream);
}
mgpu_status mgpu_canonicalize_kmers_u64(const uint64_t* kmers, uint64_t items, int32_t k,
                                        uint64_t* out, cudaStream_t stream) {
  return mgpu::canonicalize_kmers(kmers, items, k, out, stream);
}
mgpu_status mgpu_canonicalize_kmers_u128(const mgpu::uint128* kmers, uint64_t items, int32_t k,
                                         mgpu::uint128* out, cudaStream_t stream) {
  return mgpu::canonicalize_kmers(kmers, items, k, out, stream);
}

/// `rule` is the number of an mgpu::rule.
mgpu_status mgpu_norm_pmers(uint32_t rule, const uint32_t* pmers, uint64_t items, int32_t p,
                            bool canonical, uint32_t* out, cudaStream_t stream) {
  const auto kernel = rule == 0   ? mgpu::norm_pmers_kernel<mgpu::rule::gkc>
                      : rule == 1 ? mgpu::norm_pmers_kernel<mgpu::rule::kmc2>
                      : rule == 2 ? mgpu::norm_pmers_kernel<mgpu::rule::minimizer>
                                  : mgpu::norm_pmers_kernel<mgpu::rule::hash>;
  MGPU_LAUNCH(kernel, mgpu::grid_size(items, mgpu::block_size), mgpu::block_size, stream, pmers,
              items, p, canonical, out);
  return mgpu::launch_status();
}

#ifdef __CUDACC__
mgpu_status mgpu_insert_keys(uint64_t* slots, uint64_t slot_count, uint64_t empty,
                             const uint64_t* keys, uint64_t items, uint32_t* results,
                             cudaStream_t stream) {
  const unsigned blocks = mgpu::grid_size(items, mgpu::block_size / 8);
  mgpu::insert_keys_kernel<<<blocks, mgpu::block_size, 0, stream>>>(slots, slot_count, empty, keys,
                                                                    items, results);
  return mgpu::launch_status();
}
#else
mgpu_status mgpu_insert_keys(uint64_t*, uint64_t, uint64_t, const uint64_t*, uint64_t, uint32_t*,
                             cudaStream_t) {
  return 801;  // cudaErrorNotSupported: tiles within a warp are not emulated
}
#endif
}
