//! What the letters of genomes are, for those that have no minimizers.

use std::collections::BTreeMap;

use merganser_io::{Input, RecordBatch, Stretch};
use merganser_run::{Warnings, thousands};

use crate::Params;

/// Letters of proteins that stand for no base or some of the bases.
const OF_PROTEINS: &[u8] = b"EFILPQ";

/// How many letters are U. All genomes go through it: the compiler makes vectors of bytes of this, as no
/// sum of a piece exceeds a byte.
fn count_uracil(letters: &[u8]) -> u64 {
    const PIECE: usize = 240;
    let count =
        |piece: &[u8]| piece.iter().map(|&letter| u8::from(letter | 0x20 == b'u')).sum::<u8>();
    letters.chunks(PIECE).map(|piece| u64::from(count(piece))).sum()
}

/// Letters of genomes: the U of all, and what else there is where no minimizer was found.
#[derive(Debug, Default)]
pub(crate) struct Letters {
    /// U by file, which is no base in Deacon's sets.
    uracil: BTreeMap<String, u64>,
    sequences: u64,
    all: u64,
    bases: u64,
    of_proteins: u64,
    /// Of the longest sequence.
    longest: usize,
}

impl Letters {
    /// Looks at a batch, more closely if it has no minimizers.
    pub(crate) fn look_at(&mut self, batch: &RecordBatch, closely: bool) {
        let begins = batch.stretch().is_none_or(|Stretch { begins, .. }| begins);
        for at in 0..batch.len() {
            let letters = batch.record(at).letters;
            let uracil = count_uracil(letters);
            if uracil > 0 {
                let (file, _) = batch.place(at);
                match self.uracil.get_mut(file) {
                    Some(count) => *count += uracil,
                    None => drop(self.uracil.insert(file.to_owned(), uracil)),
                }
            }
            if closely {
                let count = |wanted: &[u8]| {
                    let is_wanted = |letter: &&u8| wanted.contains(&letter.to_ascii_uppercase());
                    letters.iter().filter(is_wanted).count() as u64
                };
                self.sequences += u64::from(begins);
                self.all += letters.len() as u64;
                self.bases += count(b"ACGT");
                self.of_proteins += count(OF_PROTEINS);
                self.longest = self.longest.max(letters.len());
            }
        }
    }

    /// Adds those of other batches.
    pub(crate) fn add(&mut self, other: Letters) {
        for (file, count) in other.uracil {
            *self.uracil.entry(file).or_default() += count;
        }
        self.sequences += other.sequences;
        self.all += other.all;
        self.bases += other.bases;
        self.of_proteins += other.of_proteins;
        self.longest = self.longest.max(other.longest);
    }

    /// Why there are no minimizers at all, as far as that can be seen.
    pub(crate) fn why_none(&self, params: Params, inputs: &[Input]) -> String {
        let window = params.bases();
        let uracil: u64 = self.uracil.values().sum();
        let why = if self.sequences == 0 {
            "there are no sequences in it".to_owned()
        } else if self.of_proteins > 0 && self.of_proteins >= uracil {
            "its letters are those of proteins: give the genome (.fna)".to_owned()
        } else if uracil > 0 {
            format!(
                "{} of its letters are U, which is no base here: write them as T",
                thousands(uracil)
            )
        } else if self.longest < window {
            format!(
                "its longest sequence has {} letters, and a window of `k` and `w` has {window}",
                self.longest
            )
        } else {
            format!(
                "nowhere are {window} bases in a row, and of {} letters {} are bases",
                thousands(self.all),
                thousands(self.bases)
            )
        };
        let what = match inputs {
            [input] => input.to_string(),
            inputs => format!("{} inputs", inputs.len()),
        };
        format!("{what}: no minimizers: {why}")
    }

    /// Warns of U, beside sequences that have minimizers.
    pub(crate) fn warn(&self, warnings: &Warnings) {
        for (file, count) in &self.uracil {
            warnings.push(format!(
                "{file}: {} letters are U, which is no base here: minimizers with them are missing; write \
                 them as T",
                thousands(*count)
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uracil_is_counted_in_either_case() {
        assert_eq!(count_uracil(b""), 0);
        assert_eq!(count_uracil(b"ACGTUuN\x55\x75U"), 5);
        assert_eq!(count_uracil(&b"U".repeat(1001)), 1001);
        assert_eq!(count_uracil(&b"ACGTN-*5".repeat(1001)), 0);
    }
}
