//! Registers, spills and shared memory of the kernels for sm_90, held against
//! `cuda/resources.snap`. Needs nvcc, no GPU. `MERGANSER_UPDATE_SNAPSHOTS=1` rewrites it.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests too")]
#![cfg(feature = "cuda")]

use merganser_gpu_build::{Search, resources};
use std::path::Path;

#[test]
fn kernels_need_what_the_snapshot_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let toolkit = match Search::of_this_machine(folder).find() {
        Ok(toolkit) => toolkit,
        Err(error) if std::env::var_os("CI").is_none() => {
            println!("skipped: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let cuda = folder.join("cuda");
    let includes = [cuda.clone(), folder.join("../gpu/cuda")];
    let snapshot = cuda.join("resources.snap");
    let skipped =
        resources::check(&toolkit, &[cuda.join("query.cu")], &includes, &snapshot).unwrap();
    if let Some(reason) = skipped {
        println!("skipped: {reason}");
    }
}
