//! A changed table: detected by a checksum; and, with corrected checksums, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::changes::{Change, change};
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::tables::{mend, walk, written};
use merganser_kmers::Table;

/// The size of a header in bytes. Half of the changes are made there.
const HEADER: usize = 128;

fuzz_target!(|input: (u8, u8, Vec<Change>, bool)| {
    let (k, reads, changes, cut) = input;
    let written = written(usize::from(k % 128) + 1, reads);
    let mut bytes = written.clone();
    for one in &changes {
        let (header, rest) = bytes.split_at_mut(HEADER);
        change(one, if one.0 % 2 == 0 { header } else { rest });
    }
    if cut {
        bytes.pop();
    }
    let folder = folder();
    let path = folder.path().join("table.mgk");
    write(&path, &bytes);
    let accepted = Table::open(&path).and_then(|table| table.verify()).is_ok();
    assert_eq!(accepted, bytes == *written, "a change that no checksum detects");
    walk(&path, accepted);
    mend(&mut bytes);
    write(&path, &bytes);
    walk(&path, false);
});
