//! Arbitrary text as a sample sheet: rejected, or distinct samples with reads; other line ends give the same result.
#![no_main]

use std::collections::HashSet;
use std::ffi::OsStr;

use libfuzzer_sys::fuzz_target;

// Modules of the program, which has no library interface.
#[path = "../../crates/merganser/src/samples/columns.rs"]
mod columns;
#[path = "../../crates/merganser/src/samples/sheet.rs"]
mod sheet;

fuzz_target!(|input: ((bool, bool), &[u8])| {
    let ((interleaved, assemblies), text) = input;
    let content = sheet::Content { interleaved, assemblies };
    let samples = sheet::parse(text, content);
    // Carriage returns alone are line ends only where no others are.
    if !text.contains(&b'\r') {
        let ends = text.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
        let again = sheet::parse(&ends, content);
        assert_eq!(samples.as_ref().ok(), again.as_ref().ok());
    }
    let Ok(samples) = samples else { return };
    let mut names = HashSet::new();
    for sheet::SampleRows { name, reads, assemblies: of_sample, new_assemblies } in &samples {
        let segments = reads.iter().map(|(_, segment)| segment);
        assert!(!reads.is_empty() && names.insert(name), "{name:?}");
        assert_eq!(of_sample.is_empty(), !assemblies, "{name:?}");
        assert_eq!(of_sample.len(), new_assemblies.len(), "{name:?}");
        assert!(name != OsStr::new("") && !name.as_encoded_bytes().contains(&b'/'));
        assert!(
            segments.flat_map(|segment| segment.inputs()).all(|input| !input.is_stdin())
        );
    }
});
