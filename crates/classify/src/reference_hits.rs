//! Counts hits by reference sequence, and the coverage of each sequence.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Candidate, Database};

/// The reads and hits of each target's candidates, and the windows that these cover. Shared by all workers.
#[derive(Debug)]
pub struct ReferenceHits<'a> {
    database: &'a Database,
    reads: Vec<AtomicU64>,
    hits: Vec<AtomicU64>,
    /// One bit for each window.
    windows: Vec<AtomicU64>,
}

impl<'a> ReferenceHits<'a> {
    /// Creates empty counts.
    pub fn new(database: &'a Database) -> ReferenceHits<'a> {
        let zeros = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        let targets = database.targets().len();
        let words = database.windows() as usize / 64 + 1;
        ReferenceHits {
            database,
            reads: zeros(targets),
            hits: zeros(targets),
            windows: zeros(words),
        }
    }

    /// Counts a candidate of a read.
    pub(crate) fn count(&self, candidate: &Candidate) {
        let target = candidate.target as usize;
        self.reads[target].fetch_add(1, Ordering::Relaxed);
        self.hits[target].fetch_add(candidate.hits.into(), Ordering::Relaxed);
        let first = self.database.first_window(candidate.target);
        for window in first + candidate.window..=first + candidate.last {
            let Some(word) = self.windows.get(window as usize / 64) else { break };
            let bit = 1 << (window % 64);
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// Returns the number of windows of a target that are covered by candidates.
    fn covered(&self, target: usize) -> u64 {
        let first = self.database.first_window(target as u32);
        let windows = self.database.targets()[target].windows;
        let hit = |window: &u32| {
            let word = self.windows[*window as usize / 64].load(Ordering::Relaxed);
            word >> (window % 64) & 1 == 1
        };
        (first..first + windows).filter(hit).count() as u64
    }

    /// Returns for each target whether it remains after removing those with the lowest coverage: MetaCache's
    /// `-cov-percentile`.
    ///
    /// Coverage is the fraction of a target's windows that candidates cover. Targets are removed in ascending order as
    /// long as the sum of their coverage stays within `per_mille` of the sum over all targets. Of targets with the
    /// same coverage, the later one is removed first.
    pub fn above_percentile(&self, per_mille: u32) -> Vec<bool> {
        // In units of 2⁻³², so that the sums do not depend on their order.
        let coverage = |target: usize| {
            let windows = u64::from(self.database.targets()[target].windows.max(1));
            u128::from((self.covered(target) << 32) / windows)
        };
        let mut hit: Vec<(u128, usize)> = (0..self.reads.len())
            .filter(|&target| self.reads[target].load(Ordering::Relaxed) > 0)
            .map(|target| (coverage(target), target))
            .collect();
        let limit: u128 = hit.iter().map(|(own, _)| own).sum::<u128>() * u128::from(per_mille);
        hit.sort_by_key(|&(own, target)| (own, std::cmp::Reverse(target)));
        let mut keep = vec![true; self.reads.len()];
        let mut sum = 0;
        for (own, target) in hit {
            sum += own;
            if sum * 1000 > limit {
                break;
            }
            keep[target] = false;
        }
        keep
    }

    /// Writes a table of the targets that were hit, in the order of the build: sequence, taxid, taxon, bases,
    /// windows, covered windows, reads, hits.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let tree = self.database.taxonomy();
        writeln!(output, "sequence\ttaxid\tname\tbases\twindows\tcovered\treads\thits")?;
        for (number, target) in self.database.targets().iter().enumerate() {
            let reads = self.reads[number].load(Ordering::Relaxed);
            if reads == 0 {
                continue;
            }
            writeln!(
                output,
                "{}\t{}\t{}\t{}\t{}\t{}\t{reads}\t{}",
                target.name,
                tree.taxid(target.node),
                tree.name(target.node),
                target.bases,
                target.windows,
                self.covered(number),
                self.hits[number].load(Ordering::Relaxed)
            )?;
        }
        Ok(())
    }
}
