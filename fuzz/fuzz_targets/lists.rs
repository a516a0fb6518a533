//! Lists of inputs, and sizes.
#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = merganser_run::parse_size(text);
        let _ = merganser_io::expand_inputs(&[PathBuf::from(text.trim_start_matches('@'))]);
    }
    let list = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(list.path(), input).expect("a temporary file");
    let argument = PathBuf::from(format!("@{}", list.path().display()));
    if let Ok(inputs) = merganser_io::expand_inputs(&[argument]) {
        assert!(!inputs.is_empty());
    }
});
