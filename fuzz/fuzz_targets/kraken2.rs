//! A changed Kraken 2 database, which has no checksums: rejected, or used without a panic and twice with the same
//! result.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::changes::{Change, change_all};
use merganser_fuzz::files::folder;
use merganser_fuzz::kraken2::{sound, walk, write_to};

fuzz_target!(|input: (Vec<Change>, Option<(u8, u16)>)| {
    let (changes, cut) = input;
    let mut files = sound().to_vec();
    change_all(&changes, cut, &mut files);
    let folder = folder();
    write_to(folder.path(), &files);
    let lines = walk(folder.path());
    assert!(lines.is_some() || files != sound()[..], "the unchanged database was rejected");
    assert_eq!(walk(folder.path()), lines);
});
