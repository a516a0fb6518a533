//! With the feature `cuda`, compiles the CUDA sources.

fn main() {
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some() {
        merganser_gpu_build::Kernels::new("merganser_count_cuda")
            .file("cuda/count.cu")
            .shared("count_layout.cuh", "src/cuda/kernels.rs")
            .shared("gather_layout.cuh", "src/cuda/gathering.rs")
            .shared("table_layout.cuh", "src/cuda/table_kernels.rs")
            .compile();
    }
}
