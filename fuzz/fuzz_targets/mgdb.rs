//! A database with bytes changed: seen by a checksum; and with the checksums made right, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::databases::{mend, sound, walk};

fuzz_target!(|input: (Vec<(u32, u8)>, Option<u32>)| {
    let (changes, cut) = input;
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("db");
    let written = sound();
    let mut bytes = written.to_vec();
    for (at, by) in changes {
        let at = at as usize % bytes.len();
        bytes[at] ^= by;
    }
    if let Some(cut) = cut {
        bytes.truncate(cut as usize % bytes.len());
    }
    std::fs::write(&path, &bytes).expect("a temporary file");
    // The rest of the header's page is in no checksum, and means nothing.
    let same = bytes.len() == written.len()
        && bytes[..152] == written[..152]
        && bytes[4096..] == written[4096..];
    assert_eq!(walk(&path), same, "a change that no checksum sees");
    mend(&mut bytes);
    std::fs::write(&path, &bytes).expect("a temporary file");
    walk(&path);
});
