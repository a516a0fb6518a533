//! Compiles the filter's CUDA headers with the host's C++ compiler.

#![allow(clippy::print_stdout, reason = "cargo reads it")]

fn main() {
    for path in ["cpp", "../cuda", "../../gpu/cuda"] {
        println!("cargo:rerun-if-changed={path}");
    }
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").include("../cuda").include("../../gpu/cuda");
    build.opt_level(2).file("cpp/decide.cpp").compile("merganser_filter_host_kernels");
}
