//! Detection of pairs in alignment files.

use crate::batches::{ALL, Batch, RecordOptions, read_all, warned, write};
use merganser_io::{Input, ReadInput};
use proptest::prelude::*;

proptest! {
    #[test]
    fn alignments_are_pairs_where_mates_lie_side_by_side(
        units in prop::collection::vec(0..5usize, 0..60), whole in any::<bool>(), grouped in any::<bool>(),
        batch_records in 1..12usize, batch_bytes in 1..600usize, chunk_bytes in 200..2000usize,
        workers in 1..5usize,
    ) {
        // Enough pairs to classify the file as ordered by name, then anything, or pairs and single reads.
        let kinds = units.into_iter().map(|unit| if whole { 3 * (unit % 2) } else { unit });
        let units: Vec<usize> = std::iter::repeat_n(0, 32).chain(kinds).collect();
        let (mut sam, mut expected) = (String::new(), Vec::new());
        if grouped {
            sam += "@HD\tVN:1.6\tGO:query\n";
        }
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
        let small = RecordOptions { chunk_bytes, workers, ..options.clone() };
        // Where the file is grouped, mates that are not beside their mate have none.
        let apart = units.iter().any(|unit| [1, 2].contains(unit) && !grouped || *unit == 4);
        let (once, failed) = read_all(&segments, &options).unwrap();
        prop_assert_eq!(failed.is_some(), apart);
        if let Some((_, error)) = failed {
            prop_assert!(error.to_string().contains("samtools collate -u -O"), "{}", error);
            let (_, again) = read_all(&segments, &small).unwrap();
            prop_assert_eq!(again.unwrap().1.to_string(), error.to_string());
            return Ok(());
        }
        let named = |batch: &Batch| {
            let paired = batch.2;
            batch.3.iter().map(|record| (paired, record.header.clone())).collect::<Vec<_>>()
        };
        prop_assert_eq!(once.iter().flat_map(named).collect::<Vec<_>>(), expected);
        let last = once.last().unwrap();
        prop_assert_eq!(last.1 + last.3.len() as u64 / (1 + u64::from(last.2)), units.len() as u64);
        prop_assert!(options.warnings.all().is_empty());
        let (again, failed) = read_all(&segments, &small).unwrap();
        prop_assert!(failed.is_none(), "{:?}", failed);
        prop_assert_eq!(again, once);
    }
}

/// Returns SAM of mates of which all first ones come before all second ones.
fn sorted() -> String {
    let of = |&flags: &u16| (0..9).map(move |n| line(flags, &format!("p{n}")));
    [99, 147].iter().flat_map(of).collect()
}

fn line(flags: u16, name: &str) -> String {
    format!("{name}\t{flags}\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n")
}

#[test]
fn mates_that_do_not_lie_side_by_side_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let input = Input::File(write(folder.path(), "r", &sorted()));
    for segment in [ReadInput::Single(input.clone()), ReadInput::Interleaved(input)] {
        let options = RecordOptions { find_pairs: true, ..RecordOptions::default() };
        let (_, failed) = read_all(&[segment], &options).unwrap();
        let message = failed.unwrap().1.to_string();
        assert!(message.contains("samtools collate"), "{message}");
    }
    // Only first mates, and only single reads.
    assert!(warned(&(0..9).map(|n| line(77, &format!("p{n}"))).collect::<String>()).is_empty());
    assert!(warned(&(0..9).map(|n| line(4, &format!("p{n}"))).collect::<String>()).is_empty());
}
