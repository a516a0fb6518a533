//! A gzip file, whole or damaged, inflated in small ranges: what a stream reads of it, or an error
//! where that gives one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::fastx::{read, read_in_ranges};

fuzz_target!(|input: &[u8]| {
    let [range, rest @ ..] = input else { return };
    let bytes = [b"\x1f\x8b\x08\0\0\0\0\0\0\xff", rest].concat();
    let range = 20 * u64::from(*range) + 1;
    let (stream, ranges) = (read(&bytes, 1 << 12, 5), read_in_ranges(&bytes, range, 1, 5));
    // Which of two errors comes first may differ, and text of great length is not read to its end.
    if let (Ok(stream), Ok(ranges)) = (&stream, &ranges) {
        let length = stream.records.len().min(ranges.records.len()).saturating_sub(1);
        assert_eq!(stream.records[..length], ranges.records[..length]);
    }
});
