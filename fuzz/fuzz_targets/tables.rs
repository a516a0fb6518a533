//! Any bytes as a KMC database, a KFF file or a text of k-mers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::tables::compute;

fuzz_target!(|input: &[u8]| {
    let [kind, cut, rest @ ..] = input else { return };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("x");
    if kind % 2 == 0 {
        std::fs::write(&path, rest).expect("a temporary file");
    } else {
        let (suffixes, prefixes) = rest.split_at(usize::from(*cut).min(rest.len()));
        std::fs::write(path.with_extension("kmc_pre"), prefixes).expect("a temporary file");
        std::fs::write(path.with_extension("kmc_suf"), suffixes).expect("a temporary file");
    }
    compute(&path);
});
