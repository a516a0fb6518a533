//! A KMC database of either version: read as written; if changed, rejected or read without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::changes::{Change, change_all};
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::kmc::{Layout, write as database};
use merganser_fuzz::kmers::{counts, lines};
use merganser_fuzz::tables::compute;

fuzz_target!(|input: ([u8; 3], Vec<(u64, u16)>, Vec<Change>, Option<(u8, u16)>)| {
    let ([k, bins, count_bytes], kmers, changes, cut) = input;
    let k = usize::from(k % 126) + 3;
    let bins = (bins % 4 > 0).then_some(usize::from(bins % 4));
    let layout = Layout { bins, count_bytes: usize::from(count_bytes % 4) + 1 };
    let mut counts = counts(k, &kmers);
    counts.values_mut().for_each(|count| *count = (*count).min(layout.largest()));
    let written = database(&counts, k, layout);
    let mut files = written.clone();
    change_all(&changes, cut, &mut files);
    let folder = folder();
    let path = folder.path().join("t");
    write(path.with_extension("kmc_pre"), &files[0]);
    write(path.with_extension("kmc_suf"), &files[1]);
    let found = compute(&path);
    assert!(files != written || found == Some(lines(&counts)), "{found:?}");
});
