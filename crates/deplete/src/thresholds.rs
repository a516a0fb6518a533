//! The thresholds of a match.

use merganser_run::ConfigError;
use serde::Serialize;

use crate::Error;
use crate::word::Word;

/// The thresholds of a match: a minimum number of a read's or pair's distinct minimizers that the host's set
/// contains, and a minimum fraction of them (Deacon 0.19, `FilterParams`).
// These comments are the help texts of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Thresholds {
    /// Minimum number of a read's distinct minimizers that are in the set
    // At least 1.
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "N", default_value_t = NUMBER))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub abs_threshold: usize,
    /// Minimum fraction of a read's distinct minimizers that are in the set, 0 to 1
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "R", default_value_t = PART))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Decision"))]
    pub rel_threshold: f64,
}

const NUMBER: usize = 2;
const PART: f64 = 0.01;

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds { abs_threshold: NUMBER, rel_threshold: PART }
    }
}

impl Thresholds {
    /// Checks both thresholds.
    ///
    /// # Errors
    /// [`Error::Config`], naming the field.
    pub fn validate(&self) -> Result<(), Error> {
        let problem = match self {
            Thresholds { abs_threshold: 0, .. } => "`abs_threshold` is out of range: 1 or more",
            Thresholds { rel_threshold: part, .. } if !(0.0..=1.0).contains(part) => {
                "`rel_threshold` is out of range: 0 to 1"
            }
            _ => return Ok(()),
        };
        Err(Error::Config(ConfigError::new(problem)))
    }

    /// Whether a read with the minimizers `all` matches, given the `hits` among them; both lists may have duplicates.
    /// `hits` is sorted if necessary, and `all` is sorted in `scratch`.
    pub(crate) fn is_match<W: Word>(
        &self,
        all: &[W],
        hits: &mut Vec<W>,
        scratch: &mut Vec<W>,
    ) -> bool {
        if self.is_match_already(all.len(), hits) {
            return true;
        }
        if hits.len() < self.abs_threshold {
            return false;
        }
        scratch.clear();
        scratch.extend_from_slice(all);
        scratch.sort_unstable();
        scratch.dedup();
        hits.len() >= self.needed(scratch.len())
    }

    /// Whether a read with this many minimizers, which may have duplicates, certainly matches, given some of its
    /// hits. More hits or fewer distinct minimizers could only make it match, too. Removes duplicates from `hits` if
    /// there are enough.
    pub(crate) fn is_match_already<W: Word>(&self, minimizers: usize, hits: &mut Vec<W>) -> bool {
        if hits.len() < self.abs_threshold {
            return false;
        }
        hits.sort_unstable();
        hits.dedup();
        hits.len() >= self.needed(minimizers)
    }

    /// Returns the hits that a read with this many distinct minimizers needs: the larger of `abs_threshold` and
    /// ceil(`rel_threshold` × `minimizers`), with the comparison in floating point, and at least 1.
    fn needed(&self, minimizers: usize) -> usize {
        let lower = (self.rel_threshold * minimizers as f64) as usize;
        let is_below = (lower as f64) / (minimizers as f64) < self.rel_threshold;
        (lower + usize::from(is_below)).max(1).max(self.abs_threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(number: usize, part: f64, all: &[u64], hits: &[u64]) -> bool {
        let thresholds = Thresholds { abs_threshold: number, rel_threshold: part };
        thresholds.validate().unwrap();
        thresholds.is_match(all, &mut hits.to_vec(), &mut Vec::new())
    }

    #[test]
    fn distinct_minimizers_count() {
        assert!(is_match(2, 0.01, &[1, 2, 3], &[1, 2]));
        assert!(!is_match(2, 0.01, &[1, 1, 3], &[1, 1]));
        assert!(!is_match(1, 0.0, &[], &[]));
        assert!(is_match(1, 0.0, &[5], &[5]));
        // Half of 3 is 2; half of the two distinct ones among 4 is 1.
        assert!(!is_match(1, 0.5, &[1, 2, 3], &[1]));
        assert!(is_match(1, 0.5, &[1, 2, 1, 2], &[1, 1]));
        assert!(is_match(1, 1.0, &[1, 2], &[2, 1]) && !is_match(1, 1.0, &[1, 2], &[2]));
    }

    #[test]
    fn decimals_need_no_more_than_they_say() {
        let needed = |part, minimizers| {
            Thresholds { abs_threshold: 1, rel_threshold: part }.needed(minimizers)
        };
        // In floating point, 0.07 × 100 is 7.000000000000001.
        assert_eq!([needed(0.07, 100), needed(0.29, 100), needed(0.57, 100)], [7, 29, 57]);
        assert_eq!([needed(0.01, 101), needed(0.01, 99), needed(0.0, 50)], [2, 1, 1]);
        for minimizers in 1..3000 {
            assert!(needed(0.013, minimizers) <= needed(0.013, minimizers + 1));
        }
    }

    #[test]
    fn ranges() {
        for (number, part) in [(0, 0.5), (1, -0.1), (1, 1.5), (1, f64::NAN)] {
            assert!(
                Thresholds { abs_threshold: number, rel_threshold: part }.validate().is_err(),
                "{number} {part}"
            );
        }
    }
}
