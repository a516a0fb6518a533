//! Arbitrary text as a sample sheet: rejected, or distinct samples with reads; other line ends give the same result.
#![no_main]

use std::collections::HashSet;
use std::ffi::OsStr;

use libfuzzer_sys::fuzz_target;

/// A module of the program, which has no library interface.
#[path = "../../crates/merganser/src/samples/sheet.rs"]
mod sheet;

fuzz_target!(|input: (bool, &[u8])| {
    let (interleaved, text) = input;
    let samples = sheet::parse(text, interleaved);
    let ends = text.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
    let again = sheet::parse(&ends, interleaved);
    assert_eq!(samples.as_ref().ok(), again.as_ref().ok());
    let Ok(samples) = samples else { return };
    let mut names = HashSet::new();
    for (name, rows) in &samples {
        let segments = rows.iter().map(|(_, segment)| segment);
        assert!(!rows.is_empty() && names.insert(name), "{name:?}");
        assert!(name != OsStr::new("") && !name.as_encoded_bytes().contains(&b'/'));
        assert!(
            segments.flat_map(|segment| segment.inputs()).all(|input| !input.is_stdin())
        );
    }
});
