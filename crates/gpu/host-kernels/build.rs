//! Compiles the shared CUDA headers' functions with the host's C++ compiler.

#![allow(clippy::print_stdout, reason = "cargo reads it")]

fn main() {
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-changed=../cuda");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").include("../cuda").flag("-Wno-unknown-pragmas");
    build.file("cpp/pure.cpp");
    build.compile("merganser_gpu_host_kernels");
}
