//! Helpers of the tests of the built program: temporary directories, runs of the program, simulated reads, plain
//! definitions and independent tools.
#![allow(
    missing_docs,
    clippy::new_without_default,
    clippy::should_implement_trait,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests panic on errors and print what they skip"
)]

pub mod commands;
pub mod diploid;
mod dir;
pub mod examples;
pub mod fastk;
pub mod gpus;
pub mod mend;
pub mod meryl;
pub mod oracle;
pub mod oracles;
pub mod peak;
pub mod reads;
pub mod repeats;
pub mod signals;
pub mod tools;
pub mod two_species;
pub mod world;

use std::fs;
use std::path::{Path, PathBuf};

pub use merganser_test_forms as forms;

pub use dir::{Dir, MERGANSER, Ran, names, program, root};

/// Returns the paths of the real reads in the repository.
pub fn small_reads() -> [PathBuf; 2] {
    ["ERR1438863_1.fastq.gz", "ERR1438863_2.fastq.gz"]
        .map(|name| root().join("tests/data").join(name))
}

/// Returns the path of a file of the project's shared data, or `None`, with a message, if it is missing.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is missing", path.display());
    None
}

/// Returns the text of a file, decompressed if it is gzip.
pub fn gunzip(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    let file = fs::File::open(path).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
    text
}
