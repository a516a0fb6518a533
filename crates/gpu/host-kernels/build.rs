//! Compiles the shared CUDA headers' functions with the host's C++ compiler.

#![allow(clippy::print_stdout, reason = "cargo reads it")]

fn main() {
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-changed=../cuda");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").include("../cuda").flag("-Wno-unknown-pragmas");
    // Fibers are many: their schedules are worth optimising, whatever the profile.
    build.opt_level(2).files(["cpp/pure.cpp", "cpp/insert.cpp"]);
    build.compile("merganser_gpu_host_kernels");
}
