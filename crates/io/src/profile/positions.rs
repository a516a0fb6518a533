//! Bases and qualities by position.

/// The number of qualities: Phred 0 to 93.
const QUALITIES: usize = 94;
/// The number of significant digits of a position that are kept.
const DIGITS: u32 = 3;
/// The positions before this one have bins of their own.
const SINGLE: u64 = 10u64.pow(DIGITS);

/// The bases and qualities of a group of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PositionGroup {
    /// The first position, from 1.
    pub from: u64,
    /// The last position.
    pub to: u64,
    /// The numbers of A, C, G, T (with U) and other letters.
    pub bases: [u64; 5],
    /// The qualities; `None` in FASTA.
    pub quality: Option<QualitySummary>,
}

/// The qualities of a group of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QualitySummary {
    /// The sum of the Phred qualities.
    pub sum: u64,
    /// The first quartile, the median and the third quartile: the smallest quality that at least this share of the bases
    /// does not exceed.
    pub quartiles: [u8; 3],
}

/// The counts of a position, or of neighbouring positions together.
#[derive(Clone)]
struct Bin {
    bases: [u64; 5],
    qualities: [u32; QUALITIES],
}

impl Default for Bin {
    fn default() -> Bin {
        Bin { bases: [0; 5], qualities: [0; QUALITIES] }
    }
}

/// The bases and qualities at all positions, of which [`DIGITS`] significant digits are kept: the number of bins grows with
/// the logarithm of the length.
#[derive(Default)]
pub(super) struct Positions {
    bins: Vec<Bin>,
    has_qualities: bool,
}

impl Positions {
    /// Adds letters, of which the first has the position `at`, from 0, with qualities as letters (Phred+33).
    pub(super) fn add(&mut self, at: u64, letters: &[u8], quality: Option<&[u8]>) {
        let last = bin_of((at + letters.len() as u64).saturating_sub(1));
        if self.bins.len() <= last {
            self.bins.resize_with(last + 1, Bin::default);
        }
        self.has_qualities |= quality.is_some();
        // The first positions have bins of their own, which matters for the time of short reads.
        let single = letters.len().min(SINGLE.saturating_sub(at) as usize);
        let first = (at as usize).min(self.bins.len());
        for (bin, &letter) in self.bins[first..].iter_mut().zip(&letters[..single]) {
            bin.bases[code(letter)] += 1;
        }
        let qualities = quality.unwrap_or_default();
        for (bin, &letter) in self.bins[first..].iter_mut().zip(qualities.iter().take(single)) {
            bin.qualities[phred(letter)] += 1;
        }
        let mut from = single;
        while from < letters.len() {
            let position = at + from as u64;
            let width = width(position);
            let to = letters.len().min(from + (width - position % width) as usize);
            let bin = &mut self.bins[bin_of(position)];
            letters[from..to].iter().for_each(|&letter| bin.bases[code(letter)] += 1);
            for &letter in qualities.get(from..to).unwrap_or_default() {
                bin.qualities[phred(letter)] += 1;
            }
            from = to;
        }
    }

    /// Returns the groups of `step` positions up to `longest`; `step` is a multiple of the [`width`]s below it.
    pub(super) fn groups(&self, longest: u64, step: u64) -> Vec<PositionGroup> {
        let mut groups = Vec::new();
        for from in (0..longest).step_by(step as usize) {
            let to = longest.min(from + step);
            let mut sum = Bin::default();
            for bin in &self.bins[bin_of(from)..=bin_of(to - 1)] {
                sum.bases.iter_mut().zip(bin.bases).for_each(|(sum, of)| *sum += of);
                sum.qualities.iter_mut().zip(bin.qualities).for_each(|(sum, of)| *sum += of);
            }
            let quality = self.has_qualities.then(|| summary(&sum.qualities));
            groups.push(PositionGroup { from: from + 1, to, bases: sum.bases, quality });
        }
        groups
    }
}

/// Summarizes the numbers of bases with each quality.
fn summary(qualities: &[u32; QUALITIES]) -> QualitySummary {
    let all: u64 = qualities.iter().map(|&bases| u64::from(bases)).sum();
    let quartile = |quarter: u64| {
        let (wanted, mut seen) = ((quarter * all).div_ceil(4), 0);
        let reaches = |&bases: &u32| {
            seen += u64::from(bases);
            seen >= wanted
        };
        qualities.iter().position(reaches).unwrap_or(0) as u8
    };
    let quartiles = [1, 2, 3].map(quartile);
    let sum = (0..).zip(qualities).map(|(quality, &bases)| quality * u64::from(bases)).sum();
    QualitySummary { sum, quartiles }
}

/// Returns the quality of a letter (Phred+33), within the range.
#[inline]
fn phred(letter: u8) -> usize {
    usize::from(letter.saturating_sub(b'!')).min(QUALITIES - 1)
}

/// Returns the place of a letter among A, C, G, T and the others.
#[inline]
pub(super) fn code(letter: u8) -> usize {
    const CODES: [u8; 256] = {
        let mut codes = [4; 256];
        let mut at = 0;
        let letters = b"AaCcGgTtUu";
        while at < letters.len() {
            codes[letters[at] as usize] = if at < 8 { at as u8 / 2 } else { 3 };
            at += 1;
        }
        codes
    };
    usize::from(CODES[usize::from(letter)])
}

/// Returns the number of digits of a position, from 0, that are dropped.
fn dropped(position: u64) -> u32 {
    position.checked_ilog10().unwrap_or(0).saturating_sub(DIGITS - 1)
}

/// Returns the number of positions that are counted together with a position, from 0.
pub(super) fn width(position: u64) -> u64 {
    10u64.pow(dropped(position))
}

/// Returns the bin of a position, from 0.
fn bin_of(position: u64) -> usize {
    let dropped = dropped(position);
    // There are 900 numbers of three digits.
    900 * dropped as usize + (position / 10u64.pow(dropped)) as usize
}
