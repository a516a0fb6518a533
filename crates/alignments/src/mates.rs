//! Recognition of two files of mates by their reads.

use merganser_io::{Input, ReadInput, RecordBatch, Records};

use crate::RecordOptions;

/// The number of pairs that are compared.
const COMPARED: usize = 1000;

/// Whether the first 1,000 records of two files are mates by name. False if an input is not a regular file, if the
/// files are the same, or if one of them cannot be read.
pub fn begin_as_mates(one: &Input, two: &Input) -> bool {
    if !one.is_file() || !two.is_file() {
        return false;
    }
    let pair = ReadInput::Pair(one.clone(), two.clone());
    let options = RecordOptions { batch_records: 2 * COMPARED, ..RecordOptions::beginning() };
    let Ok(records) = Records::open([pair], options) else { return false };
    let (mut batch, mut pairs) = (RecordBatch::default(), 0);
    while pairs < COMPARED {
        match records.next(&mut batch) {
            Ok(Some(_)) => pairs += batch.reads(),
            Ok(None) => return pairs > 0,
            Err(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(begin_as_mates(&one, &two));
        assert!(!begin_as_mates(&two, &one) && !begin_as_mates(&one, &one));
        let [first, second] =
            [" 1:N:0", " 2:N:0"].map(|mate| file(&mate[1..2].repeat(2), &mut reads(mate, 3)));
        assert!(begin_as_mates(&first, &second) && !begin_as_mates(&first, &first));
        // A file is shorter, another name comes early or late, a file is empty, is missing, is no file.
        assert!(!begin_as_mates(&one, &file("short", &mut reads("/2", 999))));
        let other = |at: usize| {
            reads("/2", at).chain(["x/2".to_owned()]).chain(reads("/2", 2000).skip(at + 1))
        };
        assert!(!begin_as_mates(&one, &file("early", &mut other(900))));
        assert!(begin_as_mates(&one, &file("late", &mut other(1200))));
        let empty = file("empty", &mut std::iter::empty());
        assert!(!begin_as_mates(&empty, &file("empty too", &mut std::iter::empty())));
        assert!(!begin_as_mates(&one, &Input::File("missing".into())));
        assert!(!begin_as_mates(&Input::Stdin, &two));
    }
}
