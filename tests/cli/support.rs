//! What the tests share: a directory of their own, a way to run the binary, reads, an oracle.

pub(crate) mod diploid;
mod dir;
pub(crate) mod fastk;
#[allow(dead_code, unreachable_pub, reason = "the fuzz targets use it, too")]
pub(crate) mod mend;
pub(crate) mod meryl;
pub(crate) mod oracle;
pub(crate) mod oracles;
pub(crate) mod peak;
pub(crate) mod reads;
pub(crate) mod repeats;
mod signals;
pub(crate) mod tools;
pub(crate) mod two_species;

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) use dir::{Dir, MERGANSER, Ran, names, root};

/// The repository's own real reads.
pub(crate) fn small_reads() -> [PathBuf; 2] {
    ["ERR1438863_1.fastq.gz", "ERR1438863_2.fastq.gz"]
        .map(|name| root().join("tests/data").join(name))
}

/// A file of the project's shared data, or `None`, said on stderr, where that is not there.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}

/// The text of a file, decompressed if it is gzip.
pub(crate) fn gunzip(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    let file = fs::File::open(path).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
    text
}
