//! Compiles the CUDA sources if the feature `cuda` is enabled.

fn main() {
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some() {
        merganser_gpu_build::Kernels::new("merganser_classify_cuda")
            .file("cuda/query.cu")
            .file("cuda/pool.cu")
            .file("cuda/build.cu")
            .shared("query_layout.cuh", "src/cuda/kernels.rs")
            .shared("pool_layout.cuh", "src/cuda/kernels/pool.rs")
            .shared("build_layout.cuh", "src/cuda/kernels/build.rs")
            .compile();
    }
}
