//! SAM, BAM, and CRAM with corrected checksums: the reads must not depend on the chunk size, and those of SAM must
//! equal its lines; or there is an error at every chunk size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::alignments::{mend_cram, naive_sam};
use merganser_fuzz::fastx::read;

/// The k-mer length of the test; any value will do.
const K: usize = 5;

fuzz_target!(|input: &[u8]| {
    let [chunk, text @ ..] = input else { return };
    let mut text = text.to_vec();
    if text.starts_with(b"CRAM") {
        mend_cram(&mut text);
    }
    let (small, whole) = (read(&text, usize::from(*chunk) + 1, K), read(&text, 1 << 16, K));
    match (small, whole) {
        (Ok(small), Ok(whole)) => {
            assert_eq!(small, whole);
            let is_sam =
                [b"@HD\t", b"@SQ\t", b"@RG\t", b"@PG\t"].iter().any(|tag| text.starts_with(*tag));
            // A line of FASTQ may also begin like this.
            if is_sam && text.get(6) == Some(&b':') {
                assert_eq!(small.records, naive_sam(&text));
            }
        }
        (small, whole) => assert!(small.is_err() && whole.is_err(), "{small:?}\n{whole:?}"),
    }
});
