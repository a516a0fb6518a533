//! Registers, spills and shared memory of the kernels for sm_90, held against
//! `cuda/resources.snap`. Needs nvcc, no GPU. `MERGANSER_UPDATE_SNAPSHOTS=1` rewrites it.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests too")]
#![cfg(feature = "cuda")]

use merganser_gpu_build::resources;
use std::path::Path;

#[test]
fn kernels_need_what_the_snapshot_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["query.cu", "pool.cu", "build.cu", "kraken2.cu"];
    if let Some(reason) =
        resources::check_package(folder, Path::new(env!("OUT_DIR")), &files, &[]).unwrap()
    {
        println!("skipped: {reason}");
    }
}
