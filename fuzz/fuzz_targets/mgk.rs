//! Arbitrary bytes as a table, unchanged and with corrected checksums.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::tables::{mend, walk};

fuzz_target!(|input: &[u8]| {
    let folder = folder();
    let table = folder.path().join("table.mgk");
    write(&table, input);
    walk(&table, false);
    let mut mended = input.to_vec();
    mend(&mut mended);
    write(&table, &mended);
    walk(&table, false);
});
