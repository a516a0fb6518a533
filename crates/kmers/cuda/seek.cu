// The launchers of look-ups and of panels; their conventions are those of status.cuh.
#include "dispatch.cuh"
#include "panel.cuh"
#include "seek.cuh"
#include "status.cuh"

#include "seek_layout.cuh"

extern "C" {

/// Looks up k-mers of 8, 16 or 32 bytes. The arguments are mgpu::seek_arguments for k-mers of this size.
mgpu_status merganser_kmers_seek(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::for_key<uint64_t, mgpu::uint128, mgpu::uint256>(key_bytes, [&](auto key) {
    using Key = decltype(key);
    const auto& a = *static_cast<const mgpu::seek_arguments<Key>*>(arguments);
    const unsigned blocks = mgpu::grid_size(a.places, mgpu::seek_threads);
    MGPU_LAUNCH(mgpu::seek_kernel<Key>, blocks, mgpu::seek_threads, stream, a);
    return mgpu::launch_status();
  });
}

/// Counts k-mers of 8, 16 or 32 bytes that a panel has. The arguments are mgpu::panel_arguments for k-mers of this size.
mgpu_status merganser_kmers_add_to_panel(uint32_t key_bytes, const void* arguments, cudaStream_t stream) {
  return mgpu::for_key<uint64_t, mgpu::uint128, mgpu::uint256>(key_bytes, [&](auto key) {
    using Key = decltype(key);
    const auto& a = *static_cast<const mgpu::panel_arguments<Key>*>(arguments);
    const unsigned blocks = mgpu::grid_size(a.letter_count, mgpu::panel_threads);
    MGPU_LAUNCH(mgpu::panel_kernel<Key>, blocks, mgpu::panel_threads, stream, a);
    return mgpu::launch_status();
  });
}
}
