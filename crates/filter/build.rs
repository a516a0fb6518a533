//! Tells dependent crates where the headers are and, with the feature `cuda`, compiles the CUDA sources.

#![allow(clippy::print_stdout, reason = "cargo reads it")]

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo:include={folder}/cuda");
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some() {
        merganser_gpu_build::Kernels::new("merganser_filter_cuda")
            .file("cuda/filter.cu")
            .shared("filter_layout.cuh", "src/cuda/kernels.rs")
            .compile();
    }
}
