//! With the feature `cuda`, compiles the CUDA sources.

fn main() {
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some() {
        // The filter's rules are its own headers; its build script says where they are.
        let rules = std::env::var_os("DEP_MERGANSER_FILTER_INCLUDE").unwrap_or_default();
        merganser_gpu_build::Kernels::new("merganser_map_cuda")
            .include(rules)
            .file("cuda/map.cu")
            .shared("layout.cuh", "src/cuda/kernels.rs")
            .compile();
    }
}
