//! Shards and ranges of a count: joined, they are the whole table. Changes are detected or have no effect. With
//! corrected checksums, changed pieces are rejected or joined without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::changes::{Change, change};
use merganser_fuzz::files::folder;
use merganser_fuzz::pieces::{whole, written};
use merganser_fuzz::tables::{mend, walk};

/// The size of a header in bytes. Half of the changes are made there.
const HEADER: usize = 128;

fuzz_target!(|input: (u8, bool, Vec<Change>, Option<(bool, u16)>)| {
    let (which, are_ranges, changes, cut) = input;
    let pieces = &written()[usize::from(which) % 3];
    let original = if are_ranges { &pieces.ranges } else { &pieces.shards };
    let mut changed = original.to_vec();
    for one in &changes {
        let file = &mut changed[usize::from(one.0 & 1)];
        let (header, rest) = file.split_at_mut(HEADER);
        change(one, if one.0 & 2 == 0 { header } else { rest });
    }
    if let Some((which, length)) = cut {
        let file = &mut changed[usize::from(which)];
        file.truncate(usize::from(length) % (file.len() + 1));
    }
    let folder = folder();
    let joined = whole(folder.path(), &changed, are_ranges);
    if changed == original[..] {
        assert!(joined.as_ref() == Some(&pieces.whole), "differs from the table of one run");
    }
    changed.iter_mut().for_each(|file| mend(file));
    whole(folder.path(), &changed, are_ranges);
    walk(&folder.path().join("1"), false);
    walk(&folder.path().join("2"), false);
});
