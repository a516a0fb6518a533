//! Any bytes as a table, as they are and with the checksums made right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::tables::{mend, walk};

fuzz_target!(|input: &[u8]| {
    let table = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(table.path(), input).expect("a temporary file");
    walk(table.path(), false);
    let mut mended = input.to_vec();
    mend(&mut mended);
    std::fs::write(table.path(), &mended).expect("a temporary file");
    walk(table.path(), false);
});
