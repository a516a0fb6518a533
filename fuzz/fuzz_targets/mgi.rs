//! A changed index: detected by a checksum; and, with corrected checksums, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::changes::{Change, change};
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::indexes::{mend, pieces, sound, walk};

fuzz_target!(|input: (Vec<Change>, Option<u32>)| {
    let (changes, cut) = input;
    let (mut bytes, pieces) = (sound().to_vec(), pieces());
    for one in &changes {
        change(one, &mut bytes[pieces[usize::from(one.0) % pieces.len()].clone()]);
    }
    if let Some(cut) = cut {
        bytes.truncate(cut as usize % bytes.len());
    }
    let folder = folder();
    let path = folder.path().join("r.mgi");
    write(&path, &bytes);
    assert_eq!(walk(&path), bytes == sound(), "a change that no checksum detects");
    mend(&mut bytes);
    write(&path, &bytes);
    walk(&path);
});
