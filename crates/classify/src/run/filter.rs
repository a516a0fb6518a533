//! Reads and bases that are not classified.

use super::reads::Batch;

/// Which mates and bases take part. What does not still has its line, and is written back whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadFilter {
    /// Mates of fewer bases are passed over,
    pub min_bases: usize,
    /// and so are those of more.
    pub max_bases: usize,
    /// Bases with a lower quality (Phred + 33) count as unknown, as N.
    pub min_quality: u8,
}

impl Default for ReadFilter {
    /// All take part.
    fn default() -> ReadFilter {
        ReadFilter { min_bases: 0, max_bases: usize::MAX, min_quality: 0 }
    }
}

impl ReadFilter {
    fn takes(&self, letters: &[u8]) -> bool {
        (self.min_bases..=self.max_bases).contains(&letters.len())
    }

    /// The letters of each read's mates, nothing for those that take no part; and how many reads
    /// have no mate left. `masked` is working space.
    pub(super) fn views<'a>(
        &self,
        batch: &'a Batch,
        masked: &'a mut Option<Batch>,
    ) -> (Vec<[&'a [u8]; 2]>, u64) {
        let batch = match self.min_quality {
            0 => batch,
            quality => mask(batch, quality.saturating_add(33), masked),
        };
        let mut views = batch.views();
        let mut passed_over = 0;
        for (read, mates) in views.iter_mut().enumerate() {
            let mut left = 0;
            for (mate, letters) in mates.iter_mut().enumerate().take(batch.mates()) {
                // The length of the mate itself, not of what is left of it.
                let own = batch.record(read * batch.mates() + mate).letters;
                match self.takes(own) {
                    true => left += 1,
                    false => *letters = &[],
                }
            }
            passed_over += u64::from(left == 0);
        }
        (views, passed_over)
    }
}

/// The batch with N for each base whose quality is below `least`.
fn mask<'a>(batch: &Batch, least: u8, masked: &'a mut Option<Batch>) -> &'a Batch {
    let copy = masked.insert(batch.clone());
    for ends in &batch.ends {
        if !ends.fastq {
            continue;
        }
        let qualities = &batch.text[ends.letters..ends.quality];
        let letters = &mut copy.text[ends.header..ends.letters];
        for (letter, &quality) in letters.iter_mut().zip(qualities) {
            if quality < least {
                *letter = b'N';
            }
        }
    }
    copy
}
