//! Changed partial results: detected by the checksum; and, with a corrected checksum, rejected or joined without a
//! panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::partial::{mend, walk, written};

fuzz_target!(|input: (bool, Vec<(u32, u8)>, Option<u32>)| {
    let (kraken2, changes, cut) = input;
    let folder = folder();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    let [sound, other] = &written()[usize::from(kraken2)];
    let mut bytes = other.clone();
    for (at, by) in changes {
        let at = at as usize % bytes.len();
        bytes[at] ^= by;
    }
    if let Some(cut) = cut {
        bytes.truncate(cut as usize % bytes.len());
    }
    write(&first, sound);
    write(&second, &bytes);
    let same = bytes == *other;
    assert_eq!(walk(&[second.clone()]), same, "a change that no checksum detects");
    assert_eq!(walk(&[first.clone(), second.clone()]), same);
    mend(&mut bytes);
    write(&second, &bytes);
    walk(&[second.clone()]);
    walk(&[first, second]);
});
