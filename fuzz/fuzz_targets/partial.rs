//! Changed partial results of each format: detected by the checksum; and, with a corrected checksum, rejected or joined without a
//! panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::partial::{Written, mend, walk, written};

fuzz_target!(|input: (u8, Vec<(u32, u8)>, Option<u32>)| {
    let (kind, changes, cut) = input;
    let folder = folder();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    let all = written();
    let Written { files: [sound, other], are_shards } = &all[usize::from(kind) % all.len()];
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
    // A shard alone is not all of its job.
    assert_eq!(walk(&[second.clone()]), same && !are_shards, "a change that no checksum detects");
    assert_eq!(walk(&[first.clone(), second.clone()]), same);
    mend(&mut bytes);
    write(&second, &bytes);
    walk(&[second.clone()]);
    walk(&[first, second]);
});
