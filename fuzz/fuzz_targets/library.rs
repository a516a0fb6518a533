//! Arbitrary text as the manifest of a library: an error, or rows that are written and read back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::files::{folder, write};
use merganser_library::Manifest;

fuzz_target!(|input: &[u8]| {
    let folder = folder();
    let path = folder.path().join("library.tsv");
    write(&path, input);
    let Ok(manifest) = Manifest::read(&path) else { return };
    let rows: Vec<_> = manifest.rows().map(|(_, row)| row.clone()).collect();
    let mut text = Vec::new();
    Manifest::write(&rows, &mut text).expect("writing to memory");
    write(&path, &text);
    let again = Manifest::read(&path).expect("the written file");
    assert!(again.rows().map(|(_, row)| row).eq(&rows));
});
