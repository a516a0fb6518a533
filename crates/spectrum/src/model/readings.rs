//! Readings of a histogram: the highest peak may be that of both haplotypes or that of one.
//!
//! A genome without heterozygosity of which parts stand twice, and one half as large whose haplotypes
//! differ, have peaks at the same places: at the coverage and twice of it. Where both explain a
//! histogram, the less heterozygous reading is meant, and the other one is told.

use super::fit::{Fit, Shape};

/// A fit, and how much of the histogram it leaves.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) fit: Fit,
    /// Of the sum of squares up to four and a half times the highest peak.
    left: f64,
}

/// The reading that is meant, and another one that is about as good.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) chosen: Fit,
    pub(super) other: Option<Fit>,
}

/// Readings of which one leaves no more than so much more of the squares than the other are equally
/// good.
const TIE: f64 = 0.01;
/// More of a genome than this does not stand exactly twice.
const MOST_DUPLICATION: f64 = 0.45;
/// Haplotypes that differ more than this have next to no k-mer in common: a second peak so small is
/// that of a few repeats.
const MOST_HETEROZYGOSITY: f64 = 0.12;

/// A peak of a smaller part of the genome says nothing.
const LEAST_PEAK: f64 = 0.002;

/// Reads the histogram with the highest peak as that of both haplotypes and as that of one.
pub(super) fn choose(
    observed: &[f64],
    dip: usize,
    peak: usize,
    k: usize,
    ploidy: u32,
) -> Option<Choice> {
    let read = |share: f64| reading(observed, dip, peak, Shape { k, ploidy }, share);
    if ploidy == 1 {
        return Some(Choice { chosen: read(1.0)?.fit, other: None });
    }
    let (both, one) = match (read(0.5), read(1.0)) {
        (Some(both), Some(one)) => (both, one),
        (Some(only), None) | (None, Some(only)) => {
            return Some(Choice { chosen: only.fit, other: None });
        }
        (None, None) => return None,
    };
    let tie = both.left < one.left + TIE && one.left < both.left + TIE;
    // What each takes for granted.
    let both_may_be = both.fit.duplication() <= MOST_DUPLICATION;
    let one_may_be = one.fit.rate() <= MOST_HETEROZYGOSITY;
    let both_is_meant = match (both_may_be, one_may_be) {
        (true, false) => both.left < one.left + 10.0 * TIE,
        (false, true) => both.left + 10.0 * TIE < one.left,
        _ if tie => !higher_peaks_agree(observed, peak, &one.fit),
        _ => both.left < one.left,
    };
    let (chosen, other) = if both_is_meant { (both, one) } else { (one, both) };
    let named = both_may_be && one_may_be && other.left < chosen.left + 2.0 * TIE;
    Some(Choice { chosen: chosen.fit, other: named.then_some(other.fit) })
}

fn reading(observed: &[f64], dip: usize, peak: usize, shape: Shape, share: f64) -> Option<Reading> {
    let coverage = peak as f64 * share;
    // The fourth peak and its width.
    let reach = (coverage * if shape.ploidy == 1 { 3.0 } else { 6.0 }) as usize + 4;
    let to = reach.clamp(dip + 8, observed.len() - 1);
    let length = observed[dip..=to].iter().sum::<f64>().max(1.0);
    let fits = [0.002, 0.02, 0.2]
        .into_iter()
        .filter_map(|rate| shape.fit(observed, dip, to, [coverage, 0.5, length, rate, 0.02]))
        // One that has run away to another peak is another reading.
        .filter(|fit| (fit.coverage() / coverage - 1.0).abs() < 0.3);
    let fit = fits.min_by(|one, other| one.residual.total_cmp(&other.residual))?;
    let end = (4.5 * peak as f64) as usize;
    let counts = dip..=end.clamp(dip + 8, observed.len() - 1);
    let all: f64 = counts.clone().map(|at| observed[at].powi(2)).sum();
    let left: f64 = counts.map(|at| (observed[at] - fit.at(at as f64)).powi(2)).sum();
    Some(Reading { fit, left: left / all.max(1.0) })
}

/// Whether there are k-mers at three and four times the peak, and as many as heterozygosity says:
/// what repeats have there nothing ties to their number at twice.
fn higher_peaks_agree(observed: &[f64], peak: usize, fit: &Fit) -> bool {
    if fit.peaks()[3] < LEAST_PEAK {
        return false;
    }
    for times in [3.0, 4.0] {
        let from = ((times - 0.5) * peak as f64) as usize;
        let to = (((times + 0.5) * peak as f64) as usize).min(observed.len() - 1);
        let found: f64 = observed[from.min(to)..to].iter().sum();
        let wanted: f64 = (from..to).map(|at| fit.at(at as f64)).sum();
        if (found - wanted).abs() > 0.03 * found + 3.0 * found.sqrt() {
            return false;
        }
    }
    true
}
