//! Real or emulated GPUs of this machine.

use crate::{Dir, program};

/// Returns the `--device` value of two devices, or of the first one twice if there is only one.
pub fn two_devices() -> &'static str {
    let dir = Dir::new();
    dir.write("r.fa", ">r\nACGTACGTACGTACGT\n");
    let ran = dir.run("count -k 11 --device cuda:1 --format none -q r.fa");
    if ran.code == Some(0) { "cuda:0,1" } else { "cuda:0,0" }
}

/// Whether this build can count on a GPU of this machine.
pub fn usable() -> bool {
    let dir = Dir::new();
    dir.write("r.fa", ">r\nACGTACGTACGTACGT\n");
    let args = ["count", "-k", "11", "--device", "cuda", "--format", "none", "-q", "r.fa"];
    let tried = program().current_dir(dir.root()).args(args).output();
    let usable = tried.unwrap().status.success();
    if !usable {
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "no GPU");
        eprintln!("skipped: this machine has no GPU");
    }
    usable
}
