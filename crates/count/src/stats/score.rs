//! The S-score of minimizers (RapidGKC equation 1): high for minimizers that make long super-k-mers.
//!
//! S_m sums d - d̄ over all positions where a super-k-mer of minimizer m is followed by a super-k-mer
//! of another minimizer n in the same read: d is the distance of the two minimizers in bases, d̄ the mean
//! of all such distances. If the minimizer occurs more than once, its first occurrence in the k-mer
//! next to the border is used. Super-k-mers of the special signature have no minimizer and are left out.

use std::collections::HashMap;

use merganser_seq::base::LETTERS;
use merganser_seq::signature::Scanner;
use merganser_seq::simd::Level;

use super::Cut;
use crate::Config;

/// The number of minimizers reported at either end.
const SHOWN: usize = 10;

/// A minimizer with its S-score.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The p-mer; under a canonical rule, the smaller of both strands.
    pub minimizer: String,
    /// S_m, in bases.
    pub score: f64,
    /// The number of borders between super-k-mers that the sum includes.
    pub borders: u64,
}

/// Sums of distances by minimizer.
pub(super) struct Scores {
    k: usize,
    p: usize,
    canonical: bool,
    scanner: Scanner,
    sums: HashMap<u32, Sum>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    distance: u64,
    borders: u64,
}

impl Scores {
    pub(super) fn new(config: &Config) -> Scores {
        let (k, p) = (config.k, config.signature_bases());
        Scores {
            k,
            p,
            canonical: config.is_canonical(),
            scanner: Scanner::new(Level::best(), config.rule, k, p, config.is_canonical()),
            sums: HashMap::new(),
        }
    }

    /// Adds the borders between super-k-mers of one batch.
    pub(super) fn add(&mut self, codes: &[u8], cuts: &[Cut]) {
        if cuts.is_empty() {
            return;
        }
        let special = 1u32 << (2 * self.p);
        let width = self.k - self.p + 1;
        let norms = self.scanner.norms(codes);
        let first = |kmer: usize, norm: u32| {
            norms[kmer..kmer + width].iter().position(|&n| n == norm).map(|i| kmer + i)
        };
        for pair in cuts.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let same_read = a.at + a.kmers == b.at;
            if !same_read || a.signature == special || b.signature == special {
                continue;
            }
            if let (Some(from), Some(to)) = (first(b.at - 1, a.signature), first(b.at, b.signature))
            {
                let minimizer = pmer(&codes[from..from + self.p], self.canonical);
                let sum = self.sums.entry(minimizer).or_default();
                sum.distance += (to - from) as u64;
                sum.borders += 1;
            }
        }
    }

    pub(super) fn merge(&mut self, other: Scores) {
        for (minimizer, more) in other.sums {
            let sum = self.sums.entry(minimizer).or_default();
            sum.distance += more.distance;
            sum.borders += more.borders;
        }
    }

    /// Returns the mean distance, the minimizers with the largest scores and those with the smallest.
    pub(super) fn finish(self) -> (f64, Vec<Score>, Vec<Score>) {
        let distance: u64 = self.sums.values().map(|sum| sum.distance).sum();
        let borders: u64 = self.sums.values().map(|sum| sum.borders).sum();
        let mean = if borders == 0 { 0.0 } else { distance as f64 / borders as f64 };
        let mut scores: Vec<(f64, u32, u64)> = self
            .sums
            .iter()
            .map(|(&minimizer, sum)| {
                (sum.distance as f64 - mean * sum.borders as f64, minimizer, sum.borders)
            })
            .collect();
        scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let show = |&(score, minimizer, borders): &(f64, u32, u64)| Score {
            minimizer: self.letters(minimizer),
            score,
            borders,
        };
        let best = scores.iter().take(SHOWN).map(show).collect();
        let worst = scores.iter().rev().take(SHOWN).map(show).collect();
        (mean, best, worst)
    }

    fn letters(&self, pmer: u32) -> String {
        let code = |i: usize| usize::try_from(pmer >> (2 * (self.p - 1 - i)) & 3).unwrap_or(0);
        (0..self.p).map(|i| char::from(LETTERS[code(i)])).collect()
    }
}

/// Returns the p-mer of `codes`: the smaller of both strands if `canonical`.
fn pmer(codes: &[u8], canonical: bool) -> u32 {
    let forward = codes.iter().fold(0, |m, &c| m << 2 | u32::from(c));
    let reverse = codes.iter().rev().fold(0, |m, &c| m << 2 | u32::from(3 - c));
    if canonical { forward.min(reverse) } else { forward }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::partition::SuperKmers;
    use crate::fragments::Fragment;
    use merganser_run::options::Auto;
    use merganser_seq::signature::Rule;

    /// The reads of the paper's Figure 5: with plain minimizers, AAAA, AAAC, AACT and AAGC follow each
    /// other at distances 1, 1 and 4.
    #[test]
    fn distances_are_those_of_figure_5() {
        let codes: Vec<u8> =
            b"AAAACTAAGCG".iter().filter_map(|&l| merganser_seq::base::code(l)).collect();
        let config = Config {
            rule: Rule::Minimizer,
            minimizer_len: Auto(Some(4)),
            forward_only: true,
            ..Config::new(8)
        };
        let mut cuts = Vec::new();
        let fragments = [Fragment { start: 0, end: codes.len() }];
        SuperKmers::new(&config)
            .each(&codes, &fragments, |signature, at, kmers| {
                cuts.push(Cut { signature, at, kmers });
                Ok(())
            })
            .expect("no error");
        assert_eq!(cuts.len(), 4);
        let mut scores = Scores::new(&config);
        scores.add(&codes, &cuts);
        let (mean, best, worst) = scores.finish();
        assert_eq!(mean, 2.0);
        let found: Vec<(&str, f64)> =
            best.iter().map(|s| (s.minimizer.as_str(), s.score)).collect();
        assert_eq!(found, [("AACT", 2.0), ("AAAA", -1.0), ("AAAC", -1.0)]);
        assert_eq!(worst[0].minimizer, "AAAC");
    }
}
