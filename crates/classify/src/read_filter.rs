//! Excludes reads and bases from classification.

use merganser_io::RecordBatch;

use crate::reads;

/// Selects the mates and bases that are classified. Excluded ones still have a line and are written back unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadFilter {
    /// The minimum length of a mate, in bases.
    pub(crate) min_bases: usize,
    /// The maximum length of a mate, in bases.
    pub(crate) max_bases: usize,
    /// The minimum quality (Phred) of a base. Bases below it count as N.
    pub(crate) min_quality: u8,
}

impl ReadFilter {
    fn takes(&self, bases: usize) -> bool {
        (self.min_bases..=self.max_bases).contains(&bases)
    }

    /// Returns the number of bases that are classified of a read whose mates have these lengths.
    #[inline]
    pub(super) fn bases(&self, (first, second): (usize, Option<usize>)) -> u64 {
        let taken = |bases: usize| if self.takes(bases) { bases as u64 } else { 0 };
        taken(first) + second.map_or(0, taken)
    }

    /// Returns the letters of each read's mates, empty for excluded mates, and the number of reads without a
    /// remaining mate. `masked` is working space.
    pub(super) fn views<'a>(
        &self,
        batch: &'a RecordBatch,
        masked: &'a mut RecordBatch,
    ) -> (Vec<[&'a [u8]; 2]>, u64) {
        let shown = match self.min_quality {
            0 => batch,
            quality => mask(batch, quality.saturating_add(33), masked),
        };
        let mut views = reads::views(shown);
        let mut passed_over = 0;
        if (self.min_bases, self.max_bases) == (0, usize::MAX) {
            return (views, passed_over);
        }
        for mates in &mut views {
            let mut left = 0;
            for letters in mates.iter_mut().take(batch.mates()) {
                match self.takes(letters.len()) {
                    true => left += 1,
                    false => *letters = &[],
                }
            }
            passed_over += u64::from(left == 0);
        }
        (views, passed_over)
    }
}

/// Returns the batch with N for each base whose quality is below `least`.
fn mask<'a>(batch: &RecordBatch, least: u8, masked: &'a mut RecordBatch) -> &'a RecordBatch {
    masked.copy_from(batch);
    for at in 0..masked.len() {
        let (letters, Some(qualities)) = masked.letters_mut(at) else { continue };
        for (letter, &quality) in letters.iter_mut().zip(qualities) {
            if quality < least {
                *letter = b'N';
            }
        }
    }
    masked
}
