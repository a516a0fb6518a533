//! With the feature `cuda`, compiles the CUDA sources.

fn main() {
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some() {
        merganser_gpu_build::Kernels::new("merganser_filter_cuda")
            .file("cuda/filter.cu")
            .shared("filter_layout.cuh", "src/cuda/kernels.rs")
            .compile();
    }
}
