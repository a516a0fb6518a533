//! GPUs of this machine, real or emulated.

use crate::{Dir, MERGANSER};

/// Two devices, or the first one twice where there is no other.
pub fn two_devices() -> &'static str {
    let dir = Dir::new();
    dir.write("r.fa", ">r\nACGTACGTACGTACGT\n");
    let ran = dir.run("count -k 11 --device cuda:1 --format none -q r.fa");
    if ran.code == Some(0) { "cuda:0,1" } else { "cuda:0,0" }
}

/// Whether this build and this machine can count on a GPU.
pub fn usable() -> bool {
    let dir = Dir::new();
    dir.write("r.fa", ">r\nACGTACGTACGTACGT\n");
    let args = ["count", "-k", "11", "--device", "cuda", "--format", "none", "-q", "r.fa"];
    let tried = std::process::Command::new(MERGANSER).current_dir(dir.root()).args(args).output();
    let usable = tried.unwrap().status.success();
    if !usable {
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "no GPU");
        eprintln!("skipped: no GPU here");
    }
    usable
}
