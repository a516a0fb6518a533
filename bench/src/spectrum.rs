//! `merganser-bench spectrum`: fits the histogram model to simulated genomes and compares the results with the truth.

mod genome;
mod sample;

use std::io::Write;

use anyhow::Result;
use genome::{KINDS, Kind};
use merganser_spectrum::Model;

use crate::rng::{Purpose, Rng};

/// `merganser-bench spectrum …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Bases per haplotype
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
        value_parser = clap::value_parser!(u32).range(10_000..))]
    bases: u32,
    /// Genomes of each kind
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// Total coverage of all haplotypes
    #[arg(long, value_name = "C", value_delimiter = ',', default_value = "10,15,25,40,100")]
    coverage: Vec<f64>,
    /// Also print the result of each run
    #[arg(long)]
    all: bool,
}

/// Results for one kind of genome and one coverage.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    right: u32,
    /// The result is right, with a warning.
    doubted: u32,
    /// The result is wrong or missing, with a warning.
    warned: u32,
    /// The result is wrong, without a warning.
    silent: u32,
}

/// Runs `merganser-bench spectrum`.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "| genome | coverage | right | of these, warned | wrong, warned | wrong, silent |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    for kind in &KINDS {
        for &coverage in &args.coverage {
            let mut tally = Tally::default();
            for seed in 1..=args.seeds {
                let told = tally.add(kind, args.bases as usize, coverage, seed);
                if args.all {
                    writeln!(out, "{}, {coverage}×: {told}", kind.name)?;
                }
            }
            let Tally { right, doubted, warned, silent } = tally;
            let name = kind.name;
            writeln!(out, "| {name} | {coverage}× | {right} | {doubted} | {warned} | {silent} |")?;
        }
    }
    Ok(())
}

impl Tally {
    /// Simulates a genome and its reads, fits the model, and returns its result.
    fn add(&mut self, kind: &Kind, bases: usize, coverage: f64, seed: u64) -> String {
        let mut rng = Rng::new(seed, Purpose::Spectrum, coverage.to_bits());
        let (haplotypes, rate) = genome::haplotypes(kind, bases, &mut rng);
        let depth = coverage / haplotypes.len() as f64;
        let histogram = sample::histogram(&haplotypes, depth, &mut rng);
        let model = match Model::fit(&histogram, sample::K, kind.ploidy) {
            Ok(model) => model,
            Err(why) => {
                self.warned += 1;
                return why.to_string();
            }
        };
        let right = is_right(&model, bases as f64, rate);
        let doubted = !model.doubts.is_empty();
        match (right, doubted) {
            (true, _) => self.right += 1,
            (false, true) => self.warned += 1,
            (false, false) => self.silent += 1,
        }
        self.doubted += u32::from(right && doubted);
        format!(
            "{:.0} bases, heterozygosity {:.5} of {rate:.5}, coverage {:.2}, {:?}",
            model.genome_size, model.heterozygosity, model.coverage, model.doubts
        )
    }
}

/// Whether the size is right within 3 % and heterozygosity within 10 % or 0.03 percentage points.
fn is_right(model: &Model, bases: f64, rate: f64) -> bool {
    let off = (model.heterozygosity - rate).abs();
    (model.genome_size / bases - 1.0).abs() <= 0.03 && (off <= 0.1 * rate || off <= 0.0003)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For some genomes at a coverage of 40, no wrong result is without a warning, and simple genomes are right.
    #[test]
    fn nothing_is_wrong_without_a_word() {
        for kind in &KINDS {
            let mut tally = Tally::default();
            let told = tally.add(kind, 200_000, 40.0, 7);
            assert_eq!(tally.silent, 0, "{}: {told}", kind.name);
            // For very heterozygous diploids, the less heterozygous explanation is printed.
            let plain = kind.pattern.len() < 3 && kind.rate < 0.03;
            assert!(!plain || tally.right == 1, "{}: {told}", kind.name);
        }
    }
}
