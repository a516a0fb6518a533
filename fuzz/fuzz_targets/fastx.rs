//! FASTA and FASTQ: the same result at every chunk size, equal to that of a naive parser.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::fastx::{add_kmers, naive, read};

fuzz_target!(|input: &[u8]| {
    let [chunk, k, text @ ..] = input else { return };
    // Alignments are read as FASTQ, which the naive parser cannot do.
    let alignments = [&b"BAM\x01"[..], b"@HD\t", b"@SQ\t", b"@RG\t", b"@PG\t", b"@CO\t", b"@CO\n"];
    let start = text.trim_ascii_start();
    // SAM without a header begins with a record.
    let fastx = matches!(start.first(), None | Some(b'>' | b'@'));
    if !fastx || alignments.iter().any(|known| start.starts_with(known)) {
        return;
    }
    let (chunk, k) = (usize::from(*chunk) + 1, usize::from(k % 32) + 1);
    let (small, whole) = (read(text, chunk, k), read(text, 1 << 16, k));
    match (small, whole) {
        (Ok(small), Ok(whole)) => {
            assert_eq!(small, whole);
            let records = naive(text);
            assert_eq!(small.records, records);
            let mut kmers = Default::default();
            records.iter().for_each(|(sequence, _)| add_kmers(sequence, k, &mut kmers));
            assert_eq!(small.kmers, kmers);
        }
        (small, whole) => assert!(small.is_err() && whole.is_err(), "{small:?}\n{whole:?}"),
    }
});
