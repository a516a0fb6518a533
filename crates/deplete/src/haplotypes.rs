//! The host's haplotypes, against which the reads that the minimizers keep are mapped.

use merganser_filter::Threshold;
use merganser_map::{Index, NearestRule};
use merganser_run::ConfigError;

use crate::Error;

/// The largest threshold in percent: the search goes one percent further.
const MAX_PERCENT: u8 = 98;

/// An index of the host's haplotypes, with the number of edits within which a read is the host's.
///
/// Reads are searched one edit further, or one percent: the [bound](Haplotypes::bound).
#[derive(Debug)]
pub struct Haplotypes {
    index: Index,
    threshold: Threshold,
    bound: Threshold,
    pub(crate) rule: NearestRule,
}

impl Haplotypes {
    /// Returns the haplotypes of an index. Reads with a place of at most `threshold` edits are the host's.
    ///
    /// # Errors
    /// [`Error::Config`] if the threshold is out of range.
    pub fn new(index: Index, threshold: Threshold) -> Result<Haplotypes, Error> {
        let bound = match threshold {
            Threshold::Edits(edits) => Threshold::Edits(edits.saturating_add(1)),
            Threshold::Percent(percent) if percent <= MAX_PERCENT => {
                Threshold::Percent(percent + 1)
            }
            Threshold::Percent(_) => {
                let problem = format!("`threshold` is out of range: 0% to {MAX_PERCENT}%");
                return Err(Error::Config(ConfigError::new(problem)));
            }
        };
        let rule = NearestRule::new(bound)?;
        Ok(Haplotypes { index, threshold, bound, rule })
    }

    /// Returns the index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the number of edits within which a read is the host's.
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// Returns the number of edits up to which places are searched.
    pub fn bound(&self) -> Threshold {
        self.bound
    }

    /// Returns the memory that the haplotypes take with a number of threads, in bytes.
    pub(crate) fn bytes(&self, threads: usize) -> u64 {
        self.index.bytes() + threads as u64 * NearestRule::THREAD
    }
}

/// The findings of the search in the haplotypes. Mates count one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confirmed {
    /// The number of reads that were removed although the minimizers kept them: those within the threshold, and their
    /// mates.
    pub removed: u64,
    /// The number of reads of no more bases than the bound has edits. They align anywhere, and are removed.
    pub too_short: u64,
    /// The number of reads within the threshold by the contig of the nearest place, in the order of the index.
    pub by_contig: Vec<u64>,
    /// The number of kept reads by the edits of the nearest place, for those that have a place within the bound.
    pub kept_by_edits: Vec<u64>,
}

impl Confirmed {
    /// Returns the fewest edits of any kept read, if one has a place within the bound.
    pub fn nearest_kept(&self) -> Option<usize> {
        self.kept_by_edits.iter().position(|&reads| reads > 0)
    }

    pub(crate) fn plus(mut self, other: &Confirmed) -> Confirmed {
        self.removed += other.removed;
        self.too_short += other.too_short;
        add(&mut self.by_contig, &other.by_contig);
        add(&mut self.kept_by_edits, &other.kept_by_edits);
        self
    }
}

fn add(counts: &mut Vec<u64>, others: &[u64]) {
    counts.resize(counts.len().max(others.len()), 0);
    for (count, other) in counts.iter_mut().zip(others) {
        *count += other;
    }
}

/// Adds 1 to a count, which is appended if it is not there yet.
pub(crate) fn count_at(counts: &mut Vec<u64>, at: usize) {
    counts.resize(counts.len().max(at + 1), 0);
    counts[at] += 1;
}
