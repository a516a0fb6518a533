//! A check whether a job can find anything in the reads of a file, by the first of them.

use merganser_run::thousands;

use super::text::Text;

/// The number of records at the beginning of a file that are checked.
const LOOKED_AT: usize = 256;

/// The requirements of a job on a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The number of consecutive bases that the job needs. A, C, G and T are bases.
    pub bases: usize,
    /// Whether U is a base, too.
    pub uracil: bool,
}

/// The records at the beginning of a file in which the job can find nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unusable {
    records: usize,
    of: usize,
    needs: Needs,
    cause: &'static str,
}

impl Unusable {
    /// Checks the first text of a file; `None` if at least a tenth of its records are usable.
    pub(super) fn of(text: &Text, needs: Needs) -> Option<Unusable> {
        let of = text.len().min(LOOKED_AT);
        let useless: Vec<&[u8]> = (0..of)
            .map(|at| text.record(at).letters)
            .filter(|letters| longest_run(letters, needs.uracil) < needs.bases)
            .collect();
        (10 * useless.len() > 9 * of).then(|| Unusable {
            records: useless.len(),
            of,
            needs,
            cause: cause(&useless, needs),
        })
    }

    /// Returns the warning about the file `name`.
    pub(super) fn warning(&self, name: &str) -> String {
        let Unusable { records, of, needs, cause } = self;
        let which = match of {
            1 => "its first record has".to_owned(),
            of => {
                let [records, of] = [records, of].map(|number| thousands(*number as u64));
                format!("{records} of its first {of} records have")
            }
        };
        format!(
            "{name}: {which} no {} bases in a row, in which alone something can be found: {cause}",
            needs.bases
        )
    }
}

/// Returns the length of the longest run of bases.
fn longest_run(letters: &[u8], uracil: bool) -> usize {
    let runs = letters.split(|&letter| !is_base(letter, uracil));
    runs.map(<[u8]>::len).max().unwrap_or(0)
}

fn is_base(letter: u8, uracil: bool) -> bool {
    let letter = letter.to_ascii_uppercase();
    matches!(letter, b'A' | b'C' | b'G' | b'T') || uracil && letter == b'U'
}

/// Returns the probable cause why records are unusable.
fn cause(records: &[&[u8]], needs: Needs) -> &'static str {
    let letters = || records.iter().flat_map(|letters| letters.iter());
    let all = letters().count();
    let share =
        |of: fn(u8) -> bool| letters().filter(|&&letter| of(letter)).count() * 10 / all.max(1);
    if records.iter().all(|letters| letters.len() < needs.bases) {
        "the reads are too short"
    } else if !needs.uracil && share(|letter| matches!(letter, b'U' | b'u')) > 0 {
        "U is not a base here: replace it with T"
    } else if share(|letter| letter.is_ascii_digit()) > 5 {
        "digits are colour space: translate it into bases"
    } else if share(|letter| matches!(letter, b'N' | b'n' | b'.')) > 5 {
        "most letters are N"
    } else if share(|letter| !is_base(letter, true) && !matches!(letter, b'N' | b'n')) > 3 {
        "are they proteins, or aligned sequences with gaps?"
    } else {
        "other letters break them up"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{ReadInput, RecordBatch, RecordOptions, Records};
    use crate::{Input, SequencesOnly};

    const NEEDS: Needs = Needs { bases: 10, uracil: false };

    /// Returns the warnings after reading files with these records.
    fn warnings(files: &[&[&str]], needs: Needs) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let inputs: Vec<Input> = files
            .iter()
            .enumerate()
            .map(|(at, records)| {
                let path = folder.path().join(format!("{at}.fa"));
                let record = |(at, letters): (usize, &&str)| format!(">r{at}\n{letters}\n");
                let text: String = records.iter().enumerate().map(record).collect();
                std::fs::write(&path, text).unwrap();
                Input::File(path)
            })
            .collect();
        let segment = match &inputs[..] {
            [one, two] => ReadInput::Pair(one.clone(), two.clone()),
            one => ReadInput::Single(one[0].clone()),
        };
        let options =
            RecordOptions::<SequencesOnly> { needs: Some(needs), ..RecordOptions::default() };
        let warnings = options.warnings.clone();
        let records = Records::open(&[segment], options).unwrap();
        let mut batch = RecordBatch::default();
        while records.next(&mut batch).unwrap().is_some() {}
        let folder = format!("{}/", folder.path().display());
        warnings.all().iter().map(|warning| warning.replace(&folder, "")).collect()
    }

    #[test]
    fn causes_are_named() {
        for (letters, cause) in [
            ("ACGT", "the reads are too short"),
            ("ACGUACGUACGUACGU", "U is not a base here: replace it with T"),
            ("T0123012301230123", "digits are colour space: translate it into bases"),
            ("ACGTNNNNNNNNNNNNN", "most letters are N"),
            ("MKVLAAGIVGLLLAQWERTY", "are they proteins, or aligned sequences with gaps?"),
            ("ACGTACGRACGTACGRACGT", "other letters break them up"),
        ] {
            let expected = format!(
                "0.fa: its first record has no 10 bases in a row, in which alone something can be \
                 found: {cause}"
            );
            assert_eq!(warnings(&[&[letters]], NEEDS), [expected]);
        }
    }

    #[test]
    fn what_will_do_is_not_warned_of() {
        let good = "ACGTACGTACNN";
        assert!(warnings(&[&[good]], NEEDS).is_empty());
        assert!(warnings(&[&["acguacguac"]], Needs { uracil: true, ..NEEDS }).is_empty());
        assert!(warnings(&[&[]], NEEDS).is_empty());
        // Exactly a tenth of usable records, and less.
        let mut few = ["ACGT"; 10];
        few[3] = good;
        assert!(warnings(&[&few], NEEDS).is_empty());
        assert_eq!(warnings(&[&["ACGT"; 11]], NEEDS).len(), 1);
        // First mates that contain only barcodes.
        assert!(warnings(&[&["ACGT"], &[good]], NEEDS).is_empty());
        assert_eq!(warnings(&[&["ACGT"], &["NNNNNNNNNNNN"]], NEEDS).len(), 2);
    }
}
