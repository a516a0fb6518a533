//! What tests of the built program share: a directory of a test's own, a way to run the program, simulated reads, plain
//! definitions, independent tools.
#![allow(
    missing_docs,
    clippy::new_without_default,
    clippy::should_implement_trait,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests: they end by panicking, and say what they skip"
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

pub use dir::{Dir, MERGANSER, Ran, names, root};

/// The repository's own real reads.
pub fn small_reads() -> [PathBuf; 2] {
    ["ERR1438863_1.fastq.gz", "ERR1438863_2.fastq.gz"]
        .map(|name| root().join("tests/data").join(name))
}

/// A file of the project's shared data, or `None`, said on stderr, where that is not there.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}

/// The text of a file, decompressed if it is gzip.
pub fn gunzip(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    let file = fs::File::open(path).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
    text
}
