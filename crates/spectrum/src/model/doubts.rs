//! Doubts: reasons why the values of a model may be wrong, even if it explains the histogram.

use std::fmt;

use super::Model;
use super::high_copies::{HighCopies, high_copies};
use super::rows::Rows;

/// A reason why the values of a model may be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Doubt {
    /// Two interpretations ("readings") explain the histogram equally well: the k-mers of the highest peak are in both
    /// haplotypes, or in only one.
    OtherReading {
        /// The number of bases of one haplotype according to the other reading.
        genome_size: f64,
        /// The number of differences between the haplotypes per base according to the other reading.
        heterozygosity: f64,
        /// The mean count of a k-mer that one haplotype has once, according to the other reading.
        coverage: f64,
    },
    /// A large fraction of the genome is duplicated.
    Duplication(f64),
    /// A large fraction of the k-mers up to the main peak has no peak in the model.
    Unexplained(f64),
    /// There are more k-mers at three and four times the main peak than at twice the main peak.
    HigherPeaks,
    /// The coverage of a haplotype is low.
    Coverage(f64),
    /// The haplotypes differ more than those of any known species.
    Heterozygosity(f64),
    /// No k-mer occurs once.
    Cut,
    /// The last row includes all higher counts.
    LastRow {
        /// The count of the row.
        count: u32,
        /// The number of distinct k-mers in the row.
        kmers: u64,
    },
    /// The rows end at this count, although there are still many k-mers.
    End(u32),
    /// All counts are multiples of this number, by which they were divided.
    Multiples(u32),
    /// Many k-mers are in a separate peak far above that of the genome.
    HighCopies {
        /// The mean count of the lowest such peak.
        count: f64,
        /// The number of distinct k-mers in such peaks.
        kmers: f64,
        /// The fraction of the genome that they make up.
        part: f64,
        /// The count above which k-mers belong to such peaks: see [`Settings::exclude_above`](crate::Settings).
        above: u32,
        /// The number of bases of one haplotype without them.
        genome_size: f64,
        /// The coverage of a haplotype if these k-mers' peak is the peak of the genome.
        coverage: f64,
    },
    /// The lower of two peaks was taken for that of errors.
    ErrorPeak {
        /// The count of the lower peak.
        count: f64,
        /// The coverage of a haplotype if the lower peak is the peak of the genome.
        coverage: f64,
    },
    /// The number of errors per base is so high that most k-mers of the reads would have errors.
    Errors(f64),
    /// The model explains only this fraction of the histogram: see [`Model::is_useful`].
    PoorFit(f64),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Doubt::OtherReading { genome_size, heterozygosity, coverage } => write!(
                f,
                "a genome of {genome_size:.0} bases with a heterozygosity of {:.2} % (coverage \
                 {coverage:.1} per haplotype) explains this histogram as well: repeats and differences \
                 between haplotypes look alike in it",
                100.0 * heterozygosity
            ),
            Doubt::Duplication(part) => write!(
                f,
                "according to the model, {:.0} % of the genome is duplicated: a genome of higher ploidy, or \
                 haplotypes that differ much, can look like this, and then the size is wrong",
                100.0 * part
            ),
            Doubt::Unexplained(part) => write!(
                f,
                "{:.0} % of the k-mers up to the main peak lie where the model has none: a genome of \
                 higher ploidy, or a mixture, can look like this",
                100.0 * part
            ),
            Doubt::HigherPeaks => write!(
                f,
                "more k-mers lie at three and four times the main peak than at twice: a genome of \
                 higher ploidy can look like this, and then the size is wrong; so can a plasmid with a \
                 few copies per cell, which `exclude_above` leaves out"
            ),
            Doubt::Coverage(coverage) => write!(
                f,
                "the coverage, {coverage:.1} per haplotype, is low: peaks overlap with the errors and with \
                 each other, and heterozygosity and ploidy are uncertain"
            ),
            Doubt::Heterozygosity(rate) => write!(
                f,
                "no known species has a heterozygosity of {:.1} %: repeats can look like this",
                100.0 * rate
            ),
            Doubt::Cut => write!(
                f,
                "no k-mer of this histogram occurs once: it was cut, and the error rate is \
                 unknown; count with `min_count` 1, or `histogram`"
            ),
            Doubt::LastRow { count, kmers } => write!(
                f,
                "the last row, of count {count}, holds {kmers} distinct k-mers: it seems to include all that \
                 occur more often, and the genome is larger; make the histogram again without an \
                 upper limit for counts (e.g. `jellyfish histo -h 1000000`; `kmc -cs1000000` and `kmc_tools \
                 transform … histogram -cx1000000`)"
            ),
            Doubt::End(count) => write!(
                f,
                "the histogram ends at count {count}, where there are still many k-mers: those that occur \
                 more often are missing, and the genome is larger; make it again without an upper limit \
                 for counts"
            ),
            Doubt::Multiples(times) => write!(
                f,
                "all counts are multiples of {times}: the same reads seem to have been counted {times} \
                 times, and the counts were divided by {times}; give each file of reads once"
            ),
            Doubt::HighCopies { count, kmers, part, above, genome_size, coverage } => {
                write!(
                    f,
                    "{kmers:.0} distinct k-mers occur about {count:.0} times or more often and make up \
                     {:.0} % of this genome: an organelle, a plasmid or a spike-in can look like this, and so \
                     can many copies of a repeat such as rDNA; without them the genome has \
                     {genome_size:.0} bases: give `exclude_above` {above}",
                    100.0 * part
                )?;
                if part > 0.75 {
                    write!(
                        f,
                        "; if they are the genome, and the k-mers at lower counts are errors or \
                         contaminants, give a coverage of {coverage:.0} (`lambda`)"
                    )?;
                }
                Ok(())
            }
            Doubt::ErrorPeak { count, coverage } => write!(
                f,
                "a peak of k-mers that occur about {count:.0} times was taken for errors of the reads, since \
                 their number fits; if it is the genome, and the higher peak an organelle or a plasmid, \
                 give a coverage of {coverage:.1} (`lambda`)"
            ),
            Doubt::Errors(rate) => write!(
                f,
                "according to the model, most k-mers of the reads are errors ({:.1} % of the bases): genomes of \
                 low coverage may be among them, and the peaks may be those of an organelle or a \
                 contaminant",
                100.0 * rate
            ),
            Doubt::PoorFit(part) => write!(
                f,
                "the model explains only {:.0} % of the histogram: look at a plot of both before using its values",
                100.0 * part
            ),
        }
    }
}

/// The fraction of the histogram that a model must explain to be useful.
const EXPLAINED: f64 = 0.9;
/// The fraction of k-mers without a peak that a correct model can have, because the shapes of peaks differ.
const UNEXPLAINED: f64 = 0.035;
/// The minimum coverage of a haplotype at which the first of two peaks, or the only peak, is separate from the
/// errors; for ploidy 1, and for higher ploidies.
const LOW_COVERAGE: [f64; 2] = [8.0, 10.0];
/// The duplication above which [`Doubt::Duplication`] is raised.
const MUCH_DUPLICATION: f64 = 0.4;
/// The heterozygosity above which [`Doubt::Heterozygosity`] is raised.
const MUCH_HETEROZYGOSITY: f64 = 0.05;
/// The fraction of the genome in one peak above which [`Doubt::HighCopies`] is raised. rRNA operons make up to
/// 2.4 % of a bacterium (Streptococcus pyogenes).
const MUCH_IN_HIGH_COPIES: f64 = 0.03;
/// The fraction of all occurrences of k-mers above which [`Doubt::Errors`] is raised.
const MUCH_IN_ERRORS: f64 = 0.5;

impl Model {
    /// Whether the model explains enough of the histogram to be used without a look at a plot.
    pub fn is_useful(&self) -> bool {
        self.explained >= EXPLAINED
    }

    /// Adds all doubts except those about other readings and rows. `observed` and `expected` are all counts
    /// that the fit used, scaled by `part` relative to those of the histogram; `dip` is the first.
    pub(super) fn doubt(&mut self, observed: &[f64], expected: &[f64], dip: usize, part: f64) {
        let main = f64::from(self.ploidy) * self.coverage * part;
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
        let (unexplained, main_sum) = unexplained(observed, expected, dip, main);
        if unexplained > UNEXPLAINED {
            self.doubts.push(Doubt::Unexplained(unexplained));
        }
        let around = |times: f64| {
            let at = |times: f64| ((times * main) as usize).min(observed.len());
            observed[at(times - 0.5)..at(times + 0.5)].iter().sum::<f64>()
        };
        let higher = around(3.0) + around(4.0);
        if higher > around(2.0) && higher > 0.02 * main_sum {
            self.doubts.push(Doubt::HigherPeaks);
        }
        let errors = self.error_kmers.unwrap_or(0.0);
        if let Some(rate) = self.error_rate
            && errors > MUCH_IN_ERRORS * self.total_kmers as f64
        {
            self.doubts.push(Doubt::Errors(rate));
        }
        if !self.is_useful() {
            self.doubts.push(Doubt::PoorFit(self.explained));
        }
    }

    /// Adds the doubt about k-mers of high counts.
    pub(super) fn doubt_high_copies(&mut self, rows: &Rows) {
        let main = f64::from(self.ploidy) * self.coverage;
        let Some(found) = high_copies(&rows.rows, main) else { return };
        let HighCopies { count, above, kmers, occurrences, highest } = found;
        if highest / main > MUCH_IN_HIGH_COPIES * self.genome_size {
            let size = occurrences / main;
            self.doubts.push(Doubt::HighCopies {
                count: count * f64::from(rows.multiple),
                kmers,
                part: size / self.genome_size,
                above: above.saturating_mul(rows.multiple),
                genome_size: self.genome_size - size,
                coverage: count / f64::from(self.ploidy),
            });
        }
    }
}

/// Returns the fraction of the k-mers up to the end of the main peak of which the model has too many or too
/// few, and the number of these k-mers.
fn unexplained(observed: &[f64], expected: &[f64], dip: usize, main: f64) -> (f64, f64) {
    let end = ((1.5 * main) as usize).max(dip + 4).min(observed.len() - 1);
    let counts = dip..=end;
    let all: f64 = observed[counts.clone()].iter().sum();
    let behind: f64 = counts.map(|at| (observed[at] - expected[at]).abs()).sum();
    // Before the dip, errors decrease from count to count like from the first to the second; a peak may be
    // hidden among them.
    let (one, two) = (observed[1], observed[2]);
    let before = |at: usize| {
        let errors = 3.0 * two * (two / one.max(1.0)).powi(at as i32 - 2);
        (observed[at] - expected[at] - errors).max(0.0)
    };
    let before: f64 = if one > 0.0 { (3..dip).map(before).sum() } else { 0.0 };
    ((behind + before) / all.max(1.0), all)
}
