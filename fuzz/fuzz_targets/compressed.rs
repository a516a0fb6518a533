//! Arbitrary bytes after the first bytes of each compression format: an error or text, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::fastx::read;

const MAGICS: [&[u8]; 7] = [
    b"",
    b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
    b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0",
    b"\x28\xb5\x2f\xfd",
    b"\x50\x2a\x4d\x18",
    b"BZh9",
    b"\xfd7zXZ\0\0\x04",
];

fuzz_target!(|input: &[u8]| {
    let [magic, chunk, rest @ ..] = input else { return };
    let bytes = [MAGICS[usize::from(*magic) % MAGICS.len()], rest].concat();
    let (small, whole) = (read(&bytes, usize::from(*chunk) + 64, 5), read(&bytes, 1 << 16, 5));
    if let (Ok(small), Ok(whole)) = (small, whole) {
        assert_eq!(small, whole);
    }
});
