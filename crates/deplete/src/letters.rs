//! Statistics of letters, which explain why genomes have no minimizers.

use std::collections::{BTreeMap, BTreeSet};

use merganser_io::{Input, InputSet, RecordBatch, Stretch};
use merganser_run::{Warnings, thousands};

use crate::Params;

/// The letters of proteins that are neither bases nor IUPAC codes of bases.
const OF_PROTEINS: &[u8] = b"EFILPQ";

/// Counts the letters U. This runs on all genomes: the compiler vectorizes sums of bytes, and the sum of a piece fits
/// into a byte.
fn count_uracil(letters: &[u8]) -> u64 {
    const PIECE: usize = 240;
    let count =
        |piece: &[u8]| piece.iter().map(|&letter| u8::from(letter | 0x20 == b'u')).sum::<u8>();
    letters.chunks(PIECE).map(|piece| u64::from(count(piece))).sum()
}

/// The number of U in all genomes, and statistics of batches without minimizers.
#[derive(Debug, Default)]
pub(crate) struct Letters {
    /// The number of U by file. In Deacon's sets, U is not a base.
    uracil: BTreeMap<String, u64>,
    /// The inputs that have minimizers.
    with: InputSet,
    /// Statistics of batches without minimizers, by input.
    without: BTreeMap<usize, Closely>,
}

/// Statistics of sequences without minimizers.
#[derive(Clone, Copy, Debug, Default)]
struct Closely {
    sequences: u64,
    all: u64,
    bases: u64,
    of_proteins: u64,
    uracil: u64,
    /// The length of the longest sequence.
    longest: usize,
}

impl Letters {
    /// Adds a batch; `closely` if it has no minimizers.
    pub(crate) fn look_at(&mut self, batch: &RecordBatch, closely: bool) {
        let begins = batch.stretch().is_none_or(|Stretch { begins, .. }| begins);
        let input = batch.segment();
        if !closely {
            self.with.insert(input);
        }
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
                self.without.entry(input).or_default().add(Closely {
                    sequences: u64::from(begins),
                    all: letters.len() as u64,
                    bases: count(b"ACGT"),
                    of_proteins: count(OF_PROTEINS),
                    uracil,
                    longest: letters.len(),
                });
            }
        }
    }

    /// Adds the statistics of another worker.
    pub(crate) fn add(&mut self, other: Letters) {
        for (file, count) in other.uracil {
            *self.uracil.entry(file).or_default() += count;
        }
        self.with.merge(&other.with);
        for (input, letters) in other.without {
            self.without.entry(input).or_default().add(letters);
        }
    }

    /// Explains why there are no minimizers at all.
    pub(crate) fn why_none(&self, params: Params, inputs: &[Input]) -> String {
        let mut all = Closely::default();
        self.without.values().for_each(|letters| all.add(*letters));
        let what = match inputs {
            [input] => input.to_string(),
            inputs => format!("{} inputs", inputs.len()),
        };
        format!("{what}: no minimizers: {}", all.why_none(params))
    }

    /// Warns of inputs without minimizers if others have some, and of U in those.
    pub(crate) fn warn(&self, params: Params, inputs: &[Input], warnings: &Warnings) {
        let without = self.with.missing(inputs.len());
        if let Some(first) = without.first() {
            let letters = self.without.get(first).copied().unwrap_or_default();
            warnings.push(format!(
                "{} of {} inputs have no minimizers, first {}: {}",
                without.len(),
                inputs.len(),
                inputs[*first],
                letters.why_none(params)
            ));
        }
        let names: BTreeSet<String> = without.iter().map(|&at| inputs[at].to_string()).collect();
        for (file, count) in self.uracil.iter().filter(|(file, _)| !names.contains(*file)) {
            warnings.push(format!(
                "{file}: {} letters are U, which is no base here: minimizers with them are missing; write \
                 them as T",
                thousands(*count)
            ));
        }
    }
}

impl Closely {
    fn add(&mut self, other: Closely) {
        self.sequences += other.sequences;
        self.all += other.all;
        self.bases += other.bases;
        self.of_proteins += other.of_proteins;
        self.uracil += other.uracil;
        self.longest = self.longest.max(other.longest);
    }

    /// Explains why these sequences have no minimizers.
    fn why_none(&self, params: Params) -> String {
        let window = params.bases();
        if self.sequences == 0 {
            "there are no sequences in it".to_owned()
        } else if self.of_proteins > 0 && self.of_proteins >= self.uracil {
            "it has protein sequences: give the genome (.fna)".to_owned()
        } else if self.uracil > 0 {
            format!(
                "{} of its letters are U, which is no base here: write them as T",
                thousands(self.uracil)
            )
        } else if self.longest < window {
            format!(
                "its longest sequence has {} letters, but a window of `k` and `w` has {window}",
                self.longest
            )
        } else {
            format!(
                "it has no {window} bases in a row; of {} letters {} are bases",
                thousands(self.all),
                thousands(self.bases)
            )
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
