//! Arbitrary text as a list of inputs, and as a size.
#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::files::{folder, write};

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = merganser_run::parse_size(text);
        let _ = merganser_io::expand_inputs(&[PathBuf::from(text.trim_start_matches('@'))]);
    }
    let folder = folder();
    let list = folder.path().join("list");
    write(&list, input);
    let argument = PathBuf::from(format!("@{}", list.display()));
    if let Ok(inputs) = merganser_io::expand_inputs(&[argument]) {
        assert!(!inputs.is_empty());
    }
});
