//! Detection of pairs in alignment files.

use crate::batches::{ALL, Batch, RecordOptions, read_all, warned, write};
use merganser_io::{Input, ReadInput};
use proptest::prelude::*;

proptest! {
    #[test]
    fn alignments_are_pairs_where_mates_lie_side_by_side(
        units in prop::collection::vec(0..5usize, 0..60),
        batch_records in 1..12usize, batch_bytes in 1..600usize, chunk_bytes in 200..2000usize,
        workers in 1..5usize,
    ) {
        // Enough pairs to classify the file as ordered by name, then anything.
        let units: Vec<usize> = std::iter::repeat_n(0, 32).chain(units).collect();
        let (mut sam, mut expected) = (String::new(), Vec::new());
        for (number, &unit) in units.iter().enumerate() {
            let flags = [&[77, 141][..], &[77], &[141], &[4], &[141, 77]][unit];
            for &flags in flags {
                sam += &format!("r{number}\t{flags}\t*\t0\t0\t*\t*\t0\t0\tACGTACGT\tIIIIIIII\n");
                let mate = ["", "/1", "/2"][flags as usize >> 6];
                expected.push((unit == 0, format!("r{number}{mate}")));
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let segments = [ReadInput::Single(Input::File(write(folder.path(), "a.sam", &sam)))];
        let options = RecordOptions {
            keep: ALL, batch_records, batch_bytes, find_pairs: true, ..RecordOptions::default()
        };
        let (once, failed) = read_all(&segments, &options).unwrap();
        prop_assert!(failed.is_none(), "{:?}", failed);
        let named = |batch: &Batch| {
            let paired = batch.2;
            batch.3.iter().map(|record| (paired, record.header.clone())).collect::<Vec<_>>()
        };
        prop_assert_eq!(once.iter().flat_map(named).collect::<Vec<_>>(), expected);
        let reads = units.iter().map(|unit| 1 + u64::from(*unit == 4)).sum::<u64>();
        let last = once.last().unwrap();
        prop_assert_eq!(last.1 + last.3.len() as u64 / (1 + u64::from(last.2)), reads);
        let apart = units.iter().map(|unit| [0, 1, 1, 0, 2][*unit]).sum::<u64>();
        let warned = options.warnings.all();
        prop_assert_eq!(warned.len(), usize::from(apart > 0), "{:?}", &warned);
        let expected = format!(": {apart} reads are mates by their flags");
        prop_assert!(apart == 0 || warned[0].contains(&expected), "{:?}", &warned);

        let options = RecordOptions { chunk_bytes, workers, ..options };
        let (again, failed) = read_all(&segments, &options).unwrap();
        prop_assert!(failed.is_none(), "{:?}", failed);
        prop_assert_eq!(again, once);
    }
}

#[test]
fn mates_that_do_not_lie_side_by_side_stay_single_reads() {
    let line =
        |flags: u16, name: &str| format!("{name}\t{flags}\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n");
    let sorted: String = [99, 147]
        .iter()
        .flat_map(|&flags| (0..9).map(move |n| (flags, n)))
        .map(|(flags, n)| line(flags, &format!("p{n}")))
        .collect();
    let found = warned(&sorted);
    assert!(
        found.len() == 1 && found[0].contains("r: 18 reads are mates by their flags"),
        "{found:?}"
    );
    assert!(found[0].contains("samtools collate"), "{found:?}");
    // Only first mates, and only single reads.
    assert!(warned(&(0..9).map(|n| line(77, &format!("p{n}"))).collect::<String>()).is_empty());
    assert!(warned(&(0..9).map(|n| line(4, &format!("p{n}"))).collect::<String>()).is_empty());
    // Reading them as pairs is an error, which names the remedy.
    let folder = tempfile::tempdir().unwrap();
    let segments = [ReadInput::Interleaved(Input::File(write(folder.path(), "r", &sorted)))];
    let (_, failed) = read_all(&segments, &RecordOptions::default()).unwrap();
    let message = failed.unwrap().1.to_string();
    assert!(message.contains("samtools collate"), "{message}");
}
