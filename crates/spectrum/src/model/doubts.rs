//! What speaks against a model, whatever it explains.

use std::fmt;

use super::Model;

/// A reason not to take the values of a model for granted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Doubt {
    /// Taking the highest peak for that of both haplotypes and of one explains as much.
    OtherReading {
        /// Bases of one haplotype by the other reading.
        genome_size: f64,
        /// Its differences between the haplotypes, a base.
        heterozygosity: f64,
        /// Its mean count of a k-mer that one haplotype has once.
        coverage: f64,
    },
    /// So much of the genome stands twice.
    Duplication(f64),
    /// So much of the k-mers up to the main peak has no peak in the model.
    Unexplained(f64),
    /// There are more k-mers at three and four times the main peak than at twice.
    HigherPeaks,
    /// A haplotype is covered so few times.
    Coverage(f64),
    /// The haplotypes differ more than those of known species.
    Heterozygosity(f64),
    /// No k-mer occurs once.
    Cut,
    /// The last row is where Jellyfish gathers all larger counts.
    LastRow,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Doubt::OtherReading { genome_size, heterozygosity, coverage } => write!(
                f,
                "a genome of {genome_size:.0} bases with a heterozygosity of {:.2} % (coverage \
                 {coverage:.1} a haplotype) explains this histogram as well: repeats and differences \
                 between haplotypes look alike in it",
                100.0 * heterozygosity
            ),
            Doubt::Duplication(part) => write!(
                f,
                "by the model {:.0} % of the genome stands twice: a genome of higher ploidy, or \
                 haplotypes that differ much, may look like that, and its size is then another",
                100.0 * part
            ),
            Doubt::Unexplained(part) => write!(
                f,
                "{:.0} % of the k-mers up to the main peak lie where the model has none: a genome of \
                 higher ploidy, or a mixture, may look like that",
                100.0 * part
            ),
            Doubt::HigherPeaks => write!(
                f,
                "more k-mers lie at three and four times the main peak than at twice: a genome of \
                 higher ploidy may look like that, and its size is then another"
            ),
            Doubt::Coverage(coverage) => write!(
                f,
                "the coverage, {coverage:.1} a haplotype, is low: peaks run into the errors and into \
                 each other, and heterozygosity and ploidy are uncertain"
            ),
            Doubt::Heterozygosity(rate) => write!(
                f,
                "a heterozygosity of {:.1} % is that of no known species: repeats may look like that",
                100.0 * rate
            ),
            Doubt::Cut => write!(
                f,
                "no k-mer of this histogram occurs once: it was cut, and the error rate cannot be \
                 told; count with --min-count 1, or --histogram"
            ),
            Doubt::LastRow => write!(
                f,
                "the last count, 10,001, is that at which `jellyfish histo` gathers all larger ones: if \
                 it did, the genome is larger; give it -h 1000000"
            ),
        }
    }
}

/// Parts of k-mers that have no peak in a model that is right: what a peak's shape is off by.
const UNEXPLAINED: f64 = 0.035;
/// With less coverage a haplotype, the first of two peaks, or the only one, runs into the errors.
const LOW_COVERAGE: [f64; 2] = [8.0, 10.0];
/// See [`Doubt::Duplication`] and [`Doubt::Heterozygosity`].
const MUCH_DUPLICATION: f64 = 0.4;
const MUCH_HETEROZYGOSITY: f64 = 0.05;
/// The catch-all of `jellyfish histo`, unless it was given another one.
const JELLYFISH_LAST: u32 = 10_001;

impl Model {
    /// All doubts but about another reading; `observed` are all counts that a fit looks at, `last`
    /// the largest there is.
    pub(super) fn doubt(&mut self, observed: &[f64], expected: &[f64], last: u32) {
        let main = f64::from(self.ploidy) * self.coverage;
        if self.error_rate.is_none() {
            self.doubts.push(Doubt::Cut);
        }
        if self.coverage < LOW_COVERAGE[usize::from(self.ploidy > 1)] {
            self.doubts.push(Doubt::Coverage(self.coverage));
        }
        if self.heterozygosity > MUCH_HETEROZYGOSITY {
            self.doubts.push(Doubt::Heterozygosity(self.heterozygosity));
        }
        if self.duplication > MUCH_DUPLICATION {
            self.doubts.push(Doubt::Duplication(self.duplication));
        }
        let (part, main_sum) = unexplained(observed, expected, self.from, main);
        if part > UNEXPLAINED {
            self.doubts.push(Doubt::Unexplained(part));
        }
        let around = |times: f64| {
            let at = |times: f64| ((times * main) as usize).min(observed.len());
            observed[at(times - 0.5)..at(times + 0.5)].iter().sum::<f64>()
        };
        let higher = around(3.0) + around(4.0);
        if higher > around(2.0) && higher > 0.02 * main_sum {
            self.doubts.push(Doubt::HigherPeaks);
        }
        if last == JELLYFISH_LAST {
            self.doubts.push(Doubt::LastRow);
        }
    }
}

/// The part of the k-mers up to the main peak, and its width, of which the model has too many or too
/// few; and how many k-mers there are.
fn unexplained(observed: &[f64], expected: &[f64], dip: usize, main: f64) -> (f64, f64) {
    let end = ((1.5 * main) as usize).clamp(dip + 4, observed.len() - 1);
    let counts = dip..=end;
    let all: f64 = observed[counts.clone()].iter().sum();
    let behind: f64 = counts.map(|at| (observed[at] - expected[at]).abs()).sum();
    // Before the dip errors make fewer k-mers with each count, as from the first to the second; a
    // peak may hide among them.
    let (one, two) = (observed[1], observed[2]);
    let before = |at: usize| {
        let errors = 3.0 * two * (two / one.max(1.0)).powi(at as i32 - 2);
        (observed[at] - expected[at] - errors).max(0.0)
    };
    let before: f64 = if one > 0.0 { (3..dip).map(before).sum() } else { 0.0 };
    ((behind + before) / all.max(1.0), all)
}
