//! A meryl database: read as written; if changed, rejected or read without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::changes::{Change, change_all};
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::kmers::{counts, lines};
use merganser_fuzz::meryl::{Layout, names, write as database};
use merganser_fuzz::tables::compute;

fuzz_target!(|input: ([u8; 5], Vec<(u64, u16)>, Vec<Change>, Option<(u8, u16)>)| {
    let ([k, prefix, file, other, stretch], kmers, changes, cut) = input;
    let k = usize::from(k % 64) + 1;
    let file_bits = u32::from(file % 3).min(2 * k as u32 - 1);
    let layout = Layout {
        file_bits,
        prefix_bits: (file_bits + u32::from(prefix % 4)).min(2 * k as u32 - 1),
        stretch: 128 + 8 * usize::from(stretch),
        count_words: u32::from(other % 2) + 1,
        version: other / 2 % 3 + 1,
    };
    let counts = counts(k, &kmers);
    let written = database(&counts, k, layout);
    let mut files = written.clone();
    change_all(&changes, cut, &mut files);
    let folder = folder();
    let path = folder.path().join("t.meryl");
    std::fs::create_dir(&path).expect("a temporary directory");
    names(layout).iter().zip(&files).for_each(|(name, bytes)| write(path.join(name), bytes));
    let found = compute(&path);
    assert!(files != written || found == Some(lines(&counts)), "{found:?}");
});
