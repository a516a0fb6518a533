//! A gzip file, whole or damaged, inflated in small ranges: the text is that of a stream, or both give an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::fastx::{read, read_in_ranges};

fuzz_target!(|input: &[u8]| {
    let [range, rest @ ..] = input else { return };
    let bytes = [b"\x1f\x8b\x08\0\0\0\0\0\0\xff", rest].concat();
    let range = 20 * u64::from(*range) + 1;
    match (read(&bytes, 1 << 12, 5), read_in_ranges(&bytes, range, 1, 5)) {
        (Ok(stream), Ok(ranges)) if !stream.partial && !ranges.partial => {
            assert_eq!(stream, ranges);
        }
        // They stop at different positions in a long text, and one of them may not reach the damage.
        (Ok(ok), Err(error)) | (Err(error), Ok(ok)) => assert!(ok.partial, "{error}"),
        _ => {}
    }
});
