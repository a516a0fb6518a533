//! A table of fuzzed reads, then bytes of it changed: seen by a checksum; and with the checksums
//! made right, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::tables::{config, make, mend, walk};
use merganser_kmers::Table;

fuzz_target!(|input: (u8, Vec<(u16, u8)>, bool, Vec<u8>)| {
    let (k, changes, cut, reads) = input;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("table.mgk");
    let reads = [b">\n", &reads[..]].concat();
    if make(&config(usize::from(k % 128) + 1), &reads, &path).is_err() {
        return;
    }
    walk(&path, true);
    let written = std::fs::read(&path).expect("the table");
    let mut bytes = written.clone();
    for (at, by) in changes {
        let at = usize::from(at) % bytes.len();
        bytes[at] ^= by;
    }
    if cut {
        bytes.pop();
    }
    std::fs::write(&path, &bytes).expect("the table");
    let accepted = Table::open(&path).and_then(|table| table.verify()).is_ok();
    assert_eq!(accepted, bytes == written, "a change that no checksum sees");
    mend(&mut bytes);
    std::fs::write(&path, &bytes).expect("the table");
    walk(&path, false);
});
