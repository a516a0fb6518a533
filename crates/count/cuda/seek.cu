// The launchers of look-ups, as status.cuh says.
#include "seek.cuh"
#include "status.cuh"

#define MERGANSER_SEEK_FUNCTIONS(Key, suffix)                                                      \
  mgpu_status merganser_count_seek_##suffix(                                                       \
      const uint8_t* letters, uint64_t letter_count, uint64_t stride, uint64_t places, int32_t k,  \
      bool canonical, int32_t bits, uint32_t first, uint32_t section_count,                        \
      const uint64_t* sections, uint32_t* counts, cudaStream_t stream) {                           \
    const mgpu::seek_arguments<Key> a{                                                             \
        letters, letter_count, stride, places, k, canonical, bits, first, section_count,           \
        reinterpret_cast<const mgpu::seek_section*>(sections), counts};                            \
    MGPU_LAUNCH(mgpu::seek_kernel<Key>, mgpu::grid_size(places, mgpu::seek_threads),               \
                mgpu::seek_threads, stream, a);                                                    \
    return mgpu::launch_status();                                                                  \
  }

extern "C" {
MERGANSER_SEEK_FUNCTIONS(uint64_t, u64)
MERGANSER_SEEK_FUNCTIONS(mgpu::uint128, u128)
MERGANSER_SEEK_FUNCTIONS(mgpu::uint256, u256)
}
