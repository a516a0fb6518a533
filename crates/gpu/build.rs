//! Exports the include path of the shared headers to dependent crates and, with the feature `cuda`, compiles
//! this crate's CUDA sources.

#![allow(clippy::print_stdout, reason = "cargo reads it")]

use merganser_gpu_build::Kernels;
use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo:include={folder}/cuda");
    let (mut toolkit, mut archs) = (String::new(), String::new());
    if env::var_os("CARGO_FEATURE_CUDA").is_some() {
        let built = ["ingest", "primitives", "runtime", "selftest"]
            .iter()
            .fold(Kernels::new("merganser_gpu_cuda"), |k, name| k.file(format!("cuda/{name}.cu")))
            .shared("runtime_layout.cuh", "src/ffi.rs")
            .shared("primitives_layout.cuh", "src/ffi/arguments.rs")
            .shared("ingest_layout.cuh", "src/ingest/kernels.rs")
            .compile();
        (toolkit, archs) = (built.toolkit, built.archs.to_string());
    }
    println!("cargo:rustc-env=MERGANSER_BUILT_TOOLKIT={toolkit}");
    println!("cargo:rustc-env=MERGANSER_BUILT_ARCHS={archs}");
}
