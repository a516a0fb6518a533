//! Simulates one sequenced fragment: its position, its reads and their errors.

use super::sequences::{Sequences, complement};
use crate::rng::Rng;
use anyhow::{Result, ensure};
use std::ops::Range;

/// Number of attempts to find a position where the whole fragment fits and has no N. After these, a fragment may be
/// cut at the end of a sequence or contain N.
const ATTEMPTS: u32 = 50;

/// Error rates per base.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Rates {
    /// Substitutions per base
    #[arg(long, value_name = "RATE", default_value_t = 0.005)]
    pub(crate) substitutions: f64,
    /// Insertions per base
    #[arg(long, value_name = "RATE", default_value_t = 0.0)]
    pub(crate) insertions: f64,
    /// Deletions per base
    #[arg(long, value_name = "RATE", default_value_t = 0.0)]
    pub(crate) deletions: f64,
    /// Bases read as N, per base
    #[arg(long, value_name = "RATE", default_value_t = 0.0)]
    pub(crate) n_rate: f64,
}

/// The distribution of the lengths of reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// All reads have the same length.
    Fixed(usize),
    /// Log-normal with this mean; `sigma` is the standard deviation of the logarithm.
    LogNormal { mean: f64, sigma: f64 },
}

/// The normal distribution of the lengths of fragments of pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

/// A wrong base of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error {
    /// The position in the read.
    pub(crate) position: usize,
    /// The base that was read.
    pub(crate) base: u8,
}

/// A genome and the parameters of sequencing.
#[derive(Debug)]
pub(crate) struct Simulator {
    pub(crate) genome: Sequences,
    pub(crate) length: Length,
    pub(crate) pairing: Option<Fragment>,
    rates: Rates,
    /// The logarithm of the probability that a base is read correctly.
    ln_right: f64,
}

/// The position of a fragment, and whether it is read from the reverse strand.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) name: &'a str,
    /// The range in its sequence.
    pub(crate) range: Range<usize>,
    pub(crate) reverse: bool,
}

/// One read and its buffers, which are reused.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) bases: Vec<u8>,
    pub(crate) errors: Vec<Error>,
    template: Vec<u8>,
}

impl Simulator {
    /// Creates a simulator.
    ///
    /// # Errors
    ///
    /// If a rate is out of range or the genome has no bases.
    pub(crate) fn new(
        genome: Sequences,
        length: Length,
        pairing: Option<Fragment>,
        rates: Rates,
    ) -> Result<Self> {
        let all = [rates.substitutions, rates.insertions, rates.deletions, rates.n_rate];
        ensure!(all.iter().all(|rate| *rate >= 0.0), "error rates must not be negative");
        let wrong: f64 = all.iter().sum();
        ensure!(wrong <= 0.9, "error rates must not add up to more than 0.9");
        ensure!(!genome.bases().is_empty(), "the genome has no base");
        Ok(Self { genome, length, pairing, rates, ln_right: (-wrong).ln_1p() })
    }

    /// Returns the mean length of a read.
    pub(crate) fn mean_length(&self) -> f64 {
        match self.length {
            Length::Fixed(length) => length as f64,
            Length::LogNormal { mean, .. } => mean,
        }
    }

    /// Draws a fragment: fills `reads[0]` and, for pairs, `reads[1]`.
    pub(crate) fn fragment(&self, rng: &mut Rng, reads: &mut [Read; 2]) -> Place<'_> {
        let length = self.read_length(rng);
        // Deletions consume additional bases of the fragment: twice their mean number is enough.
        let slack = (length as f64 * self.rates.deletions * 2.0).ceil() as usize
            + if self.rates.deletions > 0.0 { 10 } else { 0 };
        let least = length + slack;
        let span = match self.pairing {
            None => least,
            Some(f) => ((f.mean + f.deviation * rng.normal()).max(0.0) as usize).max(least),
        };
        let (name, within, sequence_start) = self.place(rng, span);
        let reverse = rng.next() & 1 == 1;
        let fragment = &self.genome.bases()[within.clone()];
        self.read(fragment, reverse, length, least, rng, &mut reads[0]);
        if self.pairing.is_some() {
            self.read(fragment, !reverse, length, least, rng, &mut reads[1]);
        }
        let range = within.start - sequence_start..within.end - sequence_start;
        Place { name, range, reverse }
    }

    fn read_length(&self, rng: &mut Rng) -> usize {
        match self.length {
            Length::Fixed(length) => length,
            Length::LogNormal { mean, sigma } => {
                // The mean of a log-normal distribution is exp(mu + sigma² / 2).
                let mu = mean.ln() - sigma * sigma / 2.0;
                let length = (mu + sigma * rng.normal()).exp().round() as usize;
                length.clamp(1, self.genome.bases().len())
            }
        }
    }

    /// Draws a position for `span` bases; returns the name and range of its sequence and the position.
    fn place(&self, rng: &mut Rng, span: usize) -> (&str, Range<usize>, usize) {
        let bases = self.genome.bases();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let start = rng.below(bases.len() as u64) as usize;
            let (name, sequence) = self.genome.at(start);
            let end = start + span;
            let known = || {
                let unknown = bases[start..end].iter().filter(|&&base| base == b'N').count();
                unknown * 10 <= span
            };
            if end <= sequence.end && known() {
                return (name, start..end, sequence.start);
            }
            if attempt == ATTEMPTS {
                let end = end.min(sequence.end);
                let start = end.saturating_sub(span).max(sequence.start);
                return (name, start..end, sequence.start);
            }
        }
    }

    /// Reads `length` bases from one end of the fragment, using only its first `least` bases.
    fn read(
        &self,
        fragment: &[u8],
        reverse: bool,
        length: usize,
        least: usize,
        rng: &mut Rng,
        read: &mut Read,
    ) {
        read.template.clear();
        if reverse {
            read.template.extend(fragment.iter().rev().take(least).map(|&b| complement(b)));
        } else {
            read.template.extend(fragment.iter().take(least));
        }
        self.copy(length, rng, read);
    }

    /// Copies the template with errors, up to `length` bases.
    fn copy(&self, length: usize, rng: &mut Rng, read: &mut Read) {
        let Read { bases, errors, template } = read;
        bases.clear();
        errors.clear();
        let mut rest = &template[..];
        loop {
            let room = rest.len().min(length - bases.len());
            // Skip from error to error, because errors are rare.
            let right = rng.failures(self.ln_right);
            if right >= room as u64 {
                bases.extend_from_slice(&rest[..room]);
                return;
            }
            let (copied, tail) = rest.split_at(right as usize);
            bases.extend_from_slice(copied);
            rest = self.error(tail, rng, bases, errors);
        }
    }

    /// Makes one error at the first base of `rest` and returns the remaining bases.
    fn error<'a>(
        &self,
        rest: &'a [u8],
        rng: &mut Rng,
        bases: &mut Vec<u8>,
        errors: &mut Vec<Error>,
    ) -> &'a [u8] {
        let Rates { substitutions, insertions, deletions, n_rate } = self.rates;
        let kind = rng.uniform() * (substitutions + insertions + deletions + n_rate);
        let (base, used) = if kind <= substitutions {
            (Some(rng.other_base(rest[0])), 1)
        } else if kind <= substitutions + insertions {
            (Some(rng.base()), 0)
        } else if kind <= substitutions + insertions + n_rate {
            (Some(b'N'), 1)
        } else {
            (None, 1)
        };
        if let Some(base) = base {
            errors.push(Error { position: bases.len(), base });
            bases.push(base);
        }
        &rest[used..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    const NONE: Rates = Rates { substitutions: 0.0, insertions: 0.0, deletions: 0.0, n_rate: 0.0 };

    fn simulator(length: Length, pairing: Option<Fragment>, rates: Rates) -> Simulator {
        let mut bases = Vec::new();
        Rng::new(1, Purpose::GenomeBlock, 0).bases(100_000, &mut bases);
        Simulator::new(Sequences::single("g", bases), length, pairing, rates).unwrap()
    }

    fn reverse_complement(bases: &[u8]) -> Vec<u8> {
        bases.iter().rev().map(|&base| complement(base)).collect()
    }

    #[test]
    fn reads_without_errors_are_where_they_say() {
        let s =
            simulator(Length::Fixed(100), Some(Fragment { mean: 300.0, deviation: 30.0 }), NONE);
        let mut reads = [Read::default(), Read::default()];
        let mut reversed = 0;
        for index in 0..500 {
            let place = s.fragment(&mut Rng::new(3, Purpose::Fragment, index), &mut reads);
            let fragment = &s.genome.bases()[place.range.clone()];
            let other = reverse_complement(fragment);
            let (first, second) =
                if place.reverse { (&other[..], fragment) } else { (fragment, &other[..]) };
            assert_eq!(reads[0].bases, first[..100]);
            assert_eq!(reads[1].bases, second[..100]);
            reversed += u32::from(place.reverse);
        }
        assert!((200..300).contains(&reversed));
    }

    #[test]
    fn substitutions_and_unknown_bases_have_their_rates() {
        let rates = Rates { substitutions: 0.02, n_rate: 0.01, ..NONE };
        let s = simulator(Length::Fixed(150), None, rates);
        let mut reads = [Read::default(), Read::default()];
        let (mut wrong, mut unknown, mut reported) = (0, 0, 0);
        for index in 0..4000 {
            let place = s.fragment(&mut Rng::new(3, Purpose::Fragment, index), &mut reads);
            let mut truth = s.genome.bases()[place.range].to_vec();
            if place.reverse {
                truth = reverse_complement(&truth);
            }
            let bases = &reads[0].bases;
            assert_eq!(bases.len(), 150);
            unknown += bases.iter().filter(|&&base| base == b'N').count();
            wrong += bases.iter().zip(&truth).filter(|(a, b)| a != b).count();
            reported += reads[0].errors.len();
        }
        assert_eq!(wrong, reported);
        let substituted = (wrong - unknown) as f64 / 600_000.0;
        assert!((0.018..0.022).contains(&substituted), "{substituted}");
        assert!((0.009..0.011).contains(&(unknown as f64 / 600_000.0)));
    }

    #[test]
    fn indels_keep_the_length_and_have_their_rates() {
        let rates = Rates { insertions: 0.01, ..NONE };
        let s = simulator(Length::Fixed(150), None, rates);
        let mut reads = [Read::default(), Read::default()];
        let mut inserted = 0;
        for index in 0..4000 {
            s.fragment(&mut Rng::new(3, Purpose::Fragment, index), &mut reads);
            assert_eq!(reads[0].bases.len(), 150);
            inserted += reads[0].errors.len();
        }
        assert!((0.009..0.011).contains(&(inserted as f64 / 600_000.0)));

        let s = simulator(Length::Fixed(150), None, Rates { deletions: 0.1, ..NONE });
        for index in 0..4000 {
            s.fragment(&mut Rng::new(3, Purpose::Fragment, index), &mut reads);
            assert_eq!(reads[0].bases.len(), 150);
        }
    }

    #[test]
    fn long_reads_have_their_mean_length() {
        let s = simulator(Length::LogNormal { mean: 3000.0, sigma: 0.5 }, None, NONE);
        let mut reads = [Read::default(), Read::default()];
        let mut total = 0;
        for index in 0..3000 {
            s.fragment(&mut Rng::new(3, Purpose::Fragment, index), &mut reads);
            total += reads[0].bases.len();
        }
        let mean = f64::from(total as u32) / 3000.0;
        assert!((2900.0..3100.0).contains(&mean), "{mean}");
    }

    #[test]
    fn a_short_sequence_cuts_the_read() {
        let genome = Sequences::single("g", b"ACGTACGT".to_vec());
        let s = Simulator::new(genome, Length::Fixed(100), None, NONE).unwrap();
        let mut reads = [Read::default(), Read::default()];
        s.fragment(&mut Rng::new(3, Purpose::Fragment, 0), &mut reads);
        assert_eq!(reads[0].bases.len(), 8);
    }

    #[test]
    fn bad_rates_are_refused() {
        let genome = || Sequences::single("g", b"ACGT".to_vec());
        for rates in [Rates { substitutions: -0.1, ..NONE }, Rates { deletions: 0.95, ..NONE }] {
            assert!(Simulator::new(genome(), Length::Fixed(1), None, rates).is_err());
        }
        let empty = Sequences::single("g", Vec::new());
        assert!(Simulator::new(empty, Length::Fixed(1), None, NONE).is_err());
    }
}
