//! The sequences of a library and their reader.

use merganser_alignments::RecordOptions;
use merganser_io::{Header, Input, Keep, ReadInput, RecordBatch, Records, Stretch, check_letters};
use merganser_run::{Cancel, Progress, Warnings};
use merganser_taxonomy::kraken_taxid;

use crate::Error;
use merganser_seq::masking::{Masking, REACH};

/// New letters of a stretch of a sequence, and the approximate letters of a batch of short sequences.
pub(crate) const STRETCH: usize = 1 << 19;
/// Letters that a stretch repeats at its beginning for masking. This is more than masking needs, so that the
/// used part of a stretch still begins at the beginning of a block.
pub(crate) const LEAD: usize = 1 << 14;
const _: () = assert!(LEAD >= REACH);

/// Finds the taxid of each sequence of a library, in their order; `None` for sequences to leave out.
/// `&|sequences| Ok(sequences.iter().map(Kraken2Sequence::taxid).collect())` uses the taxids in the
/// headers.
pub type Kraken2Taxids<'a> =
    &'a (dyn Fn(&[Kraken2Sequence]) -> Result<Vec<Option<u32>>, Error> + Sync);

/// A sequence of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kraken2Sequence {
    /// The number of the input that has the sequence.
    pub input: usize,
    /// The header, without `>`.
    pub header: String,
    /// The number of its letters.
    pub bases: u64,
}

impl Kraken2Sequence {
    /// Returns the name: the header up to the first white space.
    pub fn name(&self) -> &str {
        self.header.split_ascii_whitespace().next().unwrap_or_default()
    }

    /// Returns the taxid that the name has after `kraken:taxid|`, if any.
    pub fn taxid(&self) -> Option<u32> {
        kraken_taxid(&self.header)
    }
}

/// The inputs of a library and the parameters of reading them.
#[derive(Clone, Copy)]
pub(crate) struct LibraryReader<'a> {
    pub(crate) inputs: &'a [Input],
    /// The number of letters at the end of a stretch that the next stretch repeats.
    pub(crate) overlap: usize,
    /// The masking of sequences.
    pub(crate) masking: Masking,
    pub(crate) threads: usize,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) cancel: &'a Cancel,
    pub(crate) warnings: &'a Warnings,
}

impl LibraryReader<'_> {
    /// Returns the maximum memory of reading in bytes: chunks in progress, and batches.
    pub(crate) fn bytes(&self) -> u64 {
        self.threads as u64 * 6 * (STRETCH + self.repeated()) as u64 * 2
    }

    /// Returns the number of letters that a stretch repeats.
    fn repeated(&self) -> usize {
        self.lead() + self.overlap + self.masking.reach()
    }

    /// Opens the inputs. Long sequences are read in stretches, which begin at multiples of [`STRETCH`]. With
    /// masking, the used part of a stretch begins [`LEAD`] letters later, except for the first stretch.
    ///
    /// # Errors
    /// If an input cannot be read.
    pub(crate) fn open(&self) -> Result<Records, Error> {
        let segments: Vec<ReadInput> = self.inputs.iter().cloned().map(ReadInput::Single).collect();
        let overlap = self.repeated();
        let options = RecordOptions {
            keep: Keep { header: Header::Whole, qualities: false },
            batch_bytes: STRETCH,
            chunk_bytes: STRETCH,
            workers: self.threads,
            stretches: Some((STRETCH + overlap, overlap)),
            cancel: self.cancel.clone(),
            warnings: self.warnings.clone(),
            ..RecordOptions::default()
        };
        Ok(Records::open(&segments, options)?)
    }

    /// Returns the number of letters at the beginning of all stretches but the first that are only for masking.
    fn lead(&self) -> usize {
        if self.masking == Masking::None { 0 } else { LEAD }
    }

    /// Masks the sequences of a batch. Only the part that [`letters`](Self::letters) returns has enough context
    /// to be masked correctly.
    pub(crate) fn mask(&self, batch: &mut RecordBatch) {
        for at in 0..batch.len() {
            self.masking.mask(batch.letters_mut(at).0);
        }
    }

    /// Returns the letters of a record, without those of a stretch that serve only for masking.
    pub(crate) fn letters<'b>(&self, batch: &'b RecordBatch, at: usize) -> &'b [u8] {
        let letters = batch.record(at).letters;
        let Some(Stretch { begins, ends }) = batch.stretch() else { return letters };
        let start = if begins { 0 } else { self.lead() };
        let end = letters.len() - if ends { 0 } else { self.masking.reach() };
        letters.get(start..end).unwrap_or_default()
    }

    /// Returns the number of letters of a record that no earlier batch had.
    pub(crate) fn new_letters(&self, batch: &RecordBatch, at: usize) -> u64 {
        let letters = self.letters(batch, at).len();
        let again = batch.stretch().is_some_and(|stretch| !stretch.begins);
        (letters - if again { self.overlap } else { 0 }) as u64
    }

    /// Returns how many of a record's new letters are U.
    pub(crate) fn new_uracil(&self, batch: &RecordBatch, at: usize) -> u64 {
        let letters = self.letters(batch, at);
        let new = letters.len() - self.new_letters(batch, at) as usize;
        memchr::memchr2_iter(b'U', b'u', &letters[new..]).count() as u64
    }

    /// Checks the letters of a batch.
    ///
    /// # Errors
    /// If a sequence contains bytes that are not text.
    pub(crate) fn check(&self, batch: &RecordBatch) -> Result<(), Error> {
        for at in 0..batch.len() {
            let letters = batch.record(at).letters;
            if let Some(place) = check_letters(letters) {
                let (file, record) = batch.place(at);
                return Err(Error::Input(format!(
                    "{file}: record {record} has the byte {} in its sequence: damaged, or not a FASTA file",
                    merganser_io::shown_byte(letters[place])
                )));
            }
        }
        Ok(())
    }

    /// Checks for cancellation.
    ///
    /// # Errors
    /// If the run was cancelled.
    pub(crate) fn refuse_cancelled(&self) -> Result<(), Error> {
        Ok(self.cancel.check()?)
    }
}

/// A sequence of a batch, or a stretch of one.
pub(crate) struct Seen {
    number: u64,
    /// The name of its file, if it is the first sequence of the file.
    begins: Option<String>,
    /// The header; `None` for a stretch that is not the first of its sequence.
    pub(crate) header: Option<String>,
    /// The number of letters that no earlier batch had.
    bases: u64,
}

impl LibraryReader<'_> {
    /// Returns the sequences and stretches of a batch.
    pub(crate) fn seen(&self, batch: &RecordBatch) -> impl Iterator<Item = Seen> {
        let (begins, first) =
            (batch.stretch().is_none_or(|stretch| stretch.begins), first_sequence(batch));
        (0..batch.len()).map(move |at| {
            let (file, record) = batch.place(at);
            let header = || String::from_utf8_lossy(batch.record(at).header).into_owned();
            Seen {
                number: first + at as u64,
                begins: (begins && record == 1).then(|| file.to_owned()),
                header: begins.then(header),
                bases: self.new_letters(batch, at),
            }
        })
    }
}

/// Returns the number of a batch's first sequence.
pub(crate) fn first_sequence(batch: &RecordBatch) -> u64 {
    // A sequence that continues from an earlier batch was counted there.
    batch.first() - u64::from(batch.stretch().is_some_and(|stretch| !stretch.begins))
}

/// Sorts sequences into the order of the inputs and finds the input of each. The first sequence of a file
/// belongs to the next input of that name; inputs without records are skipped.
pub(crate) fn in_order(mut seen: Vec<Seen>, inputs: &[Input]) -> Vec<Kraken2Sequence> {
    seen.sort_unstable_by_key(|sequence| (sequence.number, sequence.header.is_none()));
    let names: Vec<String> = inputs.iter().map(ToString::to_string).collect();
    let (mut next, mut input) = (0, 0);
    let mut placed: Vec<Kraken2Sequence> = Vec::new();
    for Seen { begins, header, bases, .. } in seen {
        if let Some(file) = begins {
            let skipped = names[next..].iter().position(|name| *name == file).unwrap_or(0);
            input = next + skipped;
            next = input + 1;
        }
        match (header, placed.last_mut()) {
            (Some(header), _) => placed.push(Kraken2Sequence { input, header, bases }),
            (None, Some(begun)) => begun.bases += bases,
            (None, None) => {}
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_given_their_inputs() {
        let input = |name: &str| Input::File(name.into());
        let seen = |number, record, file: &str| Seen {
            number,
            begins: (record == 1).then(|| file.to_owned()),
            header: Some(format!("s{number}")),
            bases: 7,
        };
        let inputs = ["a", "empty", "b", "a"].map(input);
        let rest = |number, bases| Seen { header: None, begins: None, number, bases };
        let all = vec![
            rest(1, 5),
            seen(3, 1, "a"),
            seen(2, 1, "b"),
            seen(0, 1, "a"),
            rest(1, 1),
            seen(1, 2, "a"),
        ];
        let expected = [(0, "s0", 7), (0, "s1", 13), (2, "s2", 7), (3, "s3", 7)];
        let expected = expected.map(|(input, header, bases)| Kraken2Sequence {
            input,
            header: header.to_owned(),
            bases,
        });
        assert_eq!(in_order(all, &inputs), expected);
    }

    #[test]
    fn headers_tell_names_and_taxids() {
        let of = |header: &str| {
            let sequence = Kraken2Sequence { input: 0, header: header.to_owned(), bases: 0 };
            (sequence.name().to_owned(), sequence.taxid())
        };
        assert_eq!(of("s1|kraken:taxid|562 text"), ("s1|kraken:taxid|562".to_owned(), Some(562)));
        assert_eq!(of("kraken:taxid|9|NC_1"), ("kraken:taxid|9|NC_1".to_owned(), Some(9)));
        assert_eq!(of("s2 taxid|5"), ("s2".to_owned(), None));
        assert_eq!(of("kraken:taxid|99999999999"), ("kraken:taxid|99999999999".to_owned(), None));
        // Kraken 2 looks only at the ids, too.
        assert_eq!(of("s2 kraken:taxid|5").1, None);
        assert_eq!(of("xkraken:taxid|5").1, None);
        assert_eq!(of("s2|kraken:taxid|5x").1, Some(5));
    }
}
