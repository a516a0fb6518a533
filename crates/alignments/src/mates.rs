//! Recognition of two files of mates by their reads.

use std::collections::HashSet;

use merganser_io::{Error, Input, ReadInput, RecordBatch, Records, Unmated, common_name};

use crate::RecordOptions;

/// The number of pairs that are compared.
const COMPARED: usize = 1000;

/// The relation of two files by their first 1,000 records.
#[derive(Debug)]
pub enum MateFiles {
    /// All records are mates by name.
    Mates,
    /// Many records are mates by name, and others are not, or one file is shorter; or the file of second mates comes
    /// first. This is the error of reading them as pairs.
    OutOfStep(Error),
    /// The files are not files of mates, are the same file, or cannot be read.
    Others,
    /// Both inputs are streams, which can be read only once.
    Unknown,
}

/// Compares the names of the first 1,000 records of two files.
pub fn compare_as_mates(one: &Input, two: &Input) -> MateFiles {
    match [one, two].map(Input::is_stream) {
        [true, true] => return MateFiles::Unknown,
        [false, false] => {}
        _ => return MateFiles::Others,
    }
    let pair = ReadInput::Pair(one.clone(), two.clone());
    let options = RecordOptions { batch_records: 2 * COMPARED, ..RecordOptions::beginning() };
    let Ok(records) = Records::open([pair], options) else { return MateFiles::Others };
    let (mut batch, mut pairs) = (RecordBatch::default(), 0);
    while pairs < COMPARED {
        match records.next(&mut batch) {
            Ok(Some(_)) => pairs += batch.reads(),
            Ok(None) if pairs == 0 => return MateFiles::Others,
            Ok(None) => break,
            Err(error) if !is_fasta(one) && are_out_of_step(&error, [one, two]) => {
                return MateFiles::OutOfStep(error);
            }
            Err(_) => return MateFiles::Others,
        }
    }
    MateFiles::Mates
}

/// Whether the first record has no qualities. Assemblies often have the same names, such as contig_1.
fn is_fasta(input: &Input) -> bool {
    let records = Records::open([ReadInput::Single(input.clone())], RecordOptions::beginning());
    let mut batch = RecordBatch::default();
    let begun = records.and_then(|records| records.next(&mut batch));
    begun.is_ok() && !batch.is_empty() && batch.record(0).quality.is_none()
}

/// Whether reading two files as pairs fails with this error although they are files of mates.
fn are_out_of_step(error: &Error, files: [&Input; 2]) -> bool {
    match error {
        Error::MateNames { record: 1, problem: Unmated::Names, .. } => share_names(files),
        Error::MateNames { record, problem, .. } => *record > 1 || *problem == Unmated::Swapped,
        Error::MateCount { records, .. } => *records > 0,
        _ => false,
    }
}

/// Whether half of the first 1,000 records of one file, or more, have names of mates in the other. The first record may be
/// missing from one.
fn share_names(files: [&Input; 2]) -> bool {
    let [Some(one), Some(two)] = files.map(first_names) else { return false };
    let shared = one.intersection(&two).count();
    shared > 0 && 2 * shared >= one.len().min(two.len())
}

/// Returns the names of the first 1,000 records without the number of the mate.
fn first_names(file: &Input) -> Option<HashSet<Vec<u8>>> {
    let options = RecordOptions { batch_records: COMPARED, ..RecordOptions::beginning() };
    let records = Records::open([ReadInput::Single(file.clone())], options).ok()?;
    let (mut batch, mut names, mut count) = (RecordBatch::default(), HashSet::new(), 0);
    while count < COMPARED && records.next(&mut batch).ok()?.is_some() {
        for at in 0..batch.len().min(COMPARED - count) {
            let name = batch.record(at).name;
            names.insert(common_name(name, name).to_vec());
            count += 1;
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `mates`, `others`, `unknown`, or the message of the error.
    fn compared(one: &Input, two: &Input) -> String {
        match compare_as_mates(one, two) {
            MateFiles::Mates => "mates".to_owned(),
            MateFiles::Others => "others".to_owned(),
            MateFiles::Unknown => "unknown".to_owned(),
            MateFiles::OutOfStep(error) => error.to_string(),
        }
    }

    #[test]
    fn files_of_mates_have_the_same_names_in_the_same_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, records: &mut dyn Iterator<Item = String>| {
            let text: String =
                records.map(|record| format!("@{record}\nACGT\n+\nIIII\n")).collect();
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Input::File(path)
        };
        let reads = |mate: &'static str, count: usize| {
            (0..count).map(move |number| format!("r{number}{mate}"))
        };
        let one = file("1", &mut reads("/1", 1500));
        let two = file("2", &mut reads("/2", 1500));
        assert_eq!(compared(&one, &two), "mates");
        assert!(compared(&two, &one).contains("swap the files"));
        assert_eq!(compared(&one, &one), "others");
        let [first, second] =
            [" 1:N:0", " 2:N:0"].map(|mate| file(&mate[1..2].repeat(2), &mut reads(mate, 3)));
        assert_eq!(compared(&first, &second), "mates");
        assert!(compared(&second, &first).contains("swap the files"));
        assert_eq!(compared(&first, &first), "others");
        // Two files of first mates.
        assert_eq!(compared(&one, &file("1 too", &mut reads("/1", 1500))), "others");
        // A file is shorter, another name comes first, early or late.
        let short = compared(&one, &file("short", &mut reads("/2", 999)));
        assert!(short.contains("ends after 999 records"), "{short}");
        let other = |at: usize| {
            reads("/2", at).chain(["x/2".to_owned()]).chain(reads("/2", 2000).skip(at + 1))
        };
        let first = compared(&one, &file("first", &mut other(0)));
        assert!(first.contains("record 1 is r0/1, but its mate in "), "{first}");
        let without = compared(&one, &file("without", &mut reads("/2", 1500).skip(1)));
        assert!(without.contains("record 1 is r0/1, but its mate in "), "{without}");
        let others = file("others", &mut reads("/2", 4000).skip(2000));
        assert_eq!(compared(&one, &others), "others");
        let early = compared(&one, &file("early", &mut other(900)));
        assert!(early.contains("record 901 is r900/1, but its mate in "), "{early}");
        assert_eq!(compared(&one, &file("late", &mut other(1200))), "mates");
        // Assemblies.
        let contigs = |name: &str, count: usize| {
            let path = folder.path().join(name);
            let text: String = (0..count).map(|at| format!(">contig_{at}\nACGT\n")).collect();
            std::fs::write(&path, text).unwrap();
            Input::File(path)
        };
        assert_eq!(compared(&contigs("a.fa", 4), &contigs("b.fa", 9)), "others");
        // A file is empty, is missing, is a stream.
        let empty = file("empty", &mut std::iter::empty());
        assert_eq!(compared(&empty, &file("empty too", &mut std::iter::empty())), "others");
        assert_eq!(compared(&one, &empty), "others");
        assert_eq!(compared(&one, &Input::File("missing".into())), "others");
        assert_eq!(compared(&Input::Stdin, &two), "others");
        assert_eq!(compared(&Input::Stdin, &Input::File("/dev/null".into())), "unknown");
    }
}
