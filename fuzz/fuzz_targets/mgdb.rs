//! A changed database: detected by a checksum; or, with corrected checksums, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::databases::{is_sound, mend, sound, walk};
use merganser_fuzz::files::{folder, write};

// Each execution does one of the two, as each reads the whole database.
fuzz_target!(|input: (bool, Vec<(u32, u8)>, Option<u32>)| {
    let (with_checksums, changes, cut) = input;
    let folder = folder();
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
    if with_checksums {
        mend(&mut bytes);
        write(&path, &bytes);
        return walk(&path);
    }
    write(&path, &bytes);
    assert_eq!(is_sound(&path), bytes == written, "a change that no checksum detects");
});
