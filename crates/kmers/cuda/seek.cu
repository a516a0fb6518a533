// The launchers of look-ups, as status.cuh says.
#include "seek.cuh"
#include "status.cuh"

#include "seek_layout.cuh"

#define MERGANSER_SEEK_FUNCTIONS(Key, suffix)                                                      \
  mgpu_status merganser_kmers_seek_##suffix(const mgpu::seek_arguments<Key>* a,                    \
                                            cudaStream_t stream) {                                 \
    const unsigned blocks = mgpu::grid_size(a->places, mgpu::seek_threads);                        \
    MGPU_LAUNCH(mgpu::seek_kernel<Key>, blocks, mgpu::seek_threads, stream, *a);                   \
    return mgpu::launch_status();                                                                  \
  }

extern "C" {
MERGANSER_SEEK_FUNCTIONS(uint64_t, u64)
MERGANSER_SEEK_FUNCTIONS(mgpu::uint128, u128)
MERGANSER_SEEK_FUNCTIONS(mgpu::uint256, u256)
}
