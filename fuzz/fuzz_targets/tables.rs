//! Arbitrary bytes as a KMC database, a KFF file, a file of Jellyfish or a text of k-mers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::tables::compute;

fuzz_target!(|input: &[u8]| {
    let [kind, cut, rest @ ..] = input else { return };
    let folder = folder();
    let path = folder.path().join("x");
    if kind % 2 == 0 {
        write(&path, rest);
    } else {
        let (suffixes, prefixes) = rest.split_at(usize::from(*cut).min(rest.len()));
        write(path.with_extension("kmc_pre"), prefixes);
        write(path.with_extension("kmc_suf"), suffixes);
    }
    compute(&path);
});
