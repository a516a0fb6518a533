//! With the feature `cuda`, compiles the CUDA sources.

fn main() {
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some() {
        merganser_gpu_build::Kernels::new("merganser_search_cuda")
            .file("cuda/search.cu")
            .shared("search_layout.cuh", "src/cuda/kernels.rs")
            .compile();
    }
}
