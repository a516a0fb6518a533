//! A FastK table: read as written; if changed, rejected or read without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::changes::{Change, change_all};
use merganser_fuzz::fastk::{LARGEST, write as table};
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::kmers::{counts, lines};
use merganser_fuzz::tables::compute;

fuzz_target!(|input: ([u8; 2], Vec<(u64, u16)>, Vec<Change>, Option<(u8, u16)>)| {
    let ([k, parts], kmers, changes, cut) = input;
    let (k, parts) = (usize::from(k % 125) + 4, usize::from(parts % 3) + 1);
    let mut counts = counts(k, &kmers);
    counts.values_mut().for_each(|count| *count = (*count).min(LARGEST));
    let written = table(&counts, k, parts);
    let mut files = written.clone();
    change_all(&changes, cut, &mut files);
    let folder = folder();
    let path = folder.path().join("t.ktab");
    write(&path, &files[0]);
    for (part, bytes) in files[1..].iter().enumerate() {
        write(folder.path().join(format!(".t.ktab.{}", part + 1)), bytes);
    }
    let found = compute(&path);
    assert!(files != written || found == Some(lines(&counts)), "{found:?}");
});
