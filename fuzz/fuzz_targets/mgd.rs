//! Minimizer sets in both formats: each is read as written. Changes are detected; with corrected checksums, a changed
//! set is rejected or read without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_deplete::Format;
use merganser_fuzz::changes::{Change, change};
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::minimizers::{are_legal, deacon, mend, walk, write_set};

/// The size of a header in bytes. Half of the changes are made there.
const HEADER: usize = 32;
/// The maximum number of minimizers, enough to reach every branch.
const MAX: usize = 600;

fuzz_target!(|input: (u8, u8, Vec<u128>, Vec<Change>, bool)| {
    let (k, w, minimizers, changes, own) = input;
    let (k, w) = (usize::from(k % 31) * 2 + 1, usize::from(w % 33) * 2 + 1);
    if !are_legal(k, w) {
        return;
    }
    let folder = folder();
    let [first, path] = ["first.idx", "set"].map(|name| folder.path().join(name));
    write(&first, deacon(k, w, &minimizers[..minimizers.len().min(MAX)]));
    let set = walk(&first).expect("a set");
    write_set(&set, if own { Format::Mgd } else { Format::Idx }, &path);
    assert!(walk(&path).as_ref() == Some(&set));
    let written = std::fs::read(&path).expect("the set");
    let mut bytes = written.clone();
    for one in &changes {
        let (header, rest) = bytes.split_at_mut(HEADER.min(written.len() / 2));
        change(one, if one.0 % 2 == 0 { header } else { rest });
    }
    write(&path, &bytes);
    let found = walk(&path);
    // Deacon files have no checksums.
    assert!(!own || found.is_some() == (bytes == written), "a change that no checksum detects");
    if own {
        mend(&mut bytes);
        write(&path, &bytes);
        walk(&path);
    }
});
