//! Compiles the CUDA sources if the feature `cuda` is enabled.

fn main() {
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some() {
        merganser_gpu_build::Kernels::new("merganser_kmers_cuda")
            .file("cuda/seek.cu")
            .shared("seek_layout.cuh", "src/lookup/kernels.rs")
            .compile();
    }
}
